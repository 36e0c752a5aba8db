/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The devices, as the environment configures them. */

#include "tests/double/gpu/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 16

static LnsGpuDevice devices[MAX_DEVICES];
static int n_devices;
static pthread_once_t devices_once = PTHREAD_ONCE_INIT;

/* Leaves the devices whose numbers CUDA_VISIBLE_DEVICES lists, in that order. What is not a number ends the list. */
static void
hide_devices (const char *visible)
{
  const int n_all = n_devices;
  LnsGpuDevice all[MAX_DEVICES];
  char *end;
  memcpy (all, devices, sizeof all);
  n_devices = 0;
  for (const char *at = visible; n_devices < MAX_DEVICES; at = end + 1)
    {
      const long number = strtol (at, &end, 10);
      if (end == at || number < 0 || number >= n_all)
        return;
      devices[n_devices++] = all[number];
      if (*end != ',')
        return;
    }
}

/* LNS_DOUBLE_NAMES lists names separated by semicolons; all further devices have the last one. */
static void
read_devices (void)
{
  long wanted = lns_gpu_option ("LNS_DOUBLE_DEVICES", 1);
  n_devices = wanted < 0 ? 0 : wanted > MAX_DEVICES ? MAX_DEVICES : (int)wanted;
  const char *names = getenv ("LNS_DOUBLE_NAMES");
  if (names == NULL || *names == '\0')
    names = "Lanescope Double GPU";
  for (int i = 0; i < n_devices; i++)
    {
      LnsGpuDevice *device = &devices[i];
      size_t length = strcspn (names, ";");
      snprintf (device->name, sizeof device->name, "%.*s", (int)length, names);
      if (names[length] == ';')
        names += length + 1;
      memcpy (device->uuid.bytes, "lanescope-double", sizeof device->uuid.bytes);
      device->uuid.bytes[15] = (char)i;
      device->pci_bus = 0x1b + 0x20 * i;
      device->compute_major = 9;
      device->n_multiprocessors = 132;
      device->memory_bytes = (uint64_t)lns_gpu_option ("LNS_DOUBLE_MEMORY_MIB", 16384) << 20;
    }
  if (getenv ("CUDA_VISIBLE_DEVICES") != NULL)
    hide_devices (getenv ("CUDA_VISIBLE_DEVICES"));
}

int
lns_gpu_device_count (void)
{
  pthread_once (&devices_once, read_devices);
  return n_devices;
}

const LnsGpuDevice *
lns_gpu_device (int device)
{
  return device >= 0 && device < lns_gpu_device_count () ? &devices[device] : NULL;
}

static const struct
{
  CUdevice_attribute attribute;
  int value;
} attributes[] = {
  { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
  { CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024 },
  { CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024 },
  { CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64 },
  { CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647 },
  { CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535 },
  { CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535 },
  { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152 },
  { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448 },
  { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472 },
  { CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536 },
  { CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32 },
  { CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536 },
  { CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536 },
  { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048 },
  { CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32 },
  { CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1755000 },
  { CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000 },
  { CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120 },
  { CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 52428800 },
  { CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3 },
  { CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1 },
  { CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1 },
  { CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1 },
  { CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1 },
  { CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1 },
  { CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1 },
  { CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1 },
  { CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1 },
  { CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1 },
};

int
lns_gpu_device_attribute (int device, CUdevice_attribute attribute, int *ret_value)
{
  const LnsGpuDevice *found = lns_gpu_device (device);
  if (found == NULL)
    return CUDA_ERROR_INVALID_DEVICE;
  *ret_value = 0;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
    *ret_value = found->compute_major;
  else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
    *ret_value = found->compute_minor;
  else if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
    *ret_value = found->n_multiprocessors;
  else if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
    *ret_value = found->pci_bus;
  else if (attribute == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)
    *ret_value = found->pci_device;
  else if (attribute == CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)
    *ret_value = found->pci_domain;
  for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
    if (attributes[i].attribute == attribute)
      *ret_value = attributes[i].value;
  return 0;
}
