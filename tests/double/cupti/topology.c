/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How the devices are connected: two at a time lie behind a PCIe bridge, and two links of NVLink go through a switch from each
 * device to each other one. */

#include "tests/double/cupti/cupti.h"

#include <stdlib.h>
#include <string.h>

#define N_LINKS   2
#define BANDWIDTH UINT64_C (53125000)

static void
write_pcie (void)
{
  const int n = lns_gpu_device_count ();
  for (int i = 0; i < n; i++)
    {
      CUpti_ActivityPcie record = { .kind = CUPTI_ACTIVITY_KIND_PCIE,
                                    .type = CUPTI_PCIE_DEVICE_TYPE_GPU,
                                    .id.devId = i,
                                    .pcieGeneration = 5,
                                    .linkRate = 32,
                                    .linkWidth = 16,
                                    .upstreamBus = (uint16_t)(0x10 + i / 2) };
      record.attr.gpuAttr.uuidDev = lns_gpu_device (i)->uuid;
      _lns_cupti_write (&record, false);
    }
  for (int i = 0; i < n; i += 2)
    {
      CUpti_ActivityPcie record = { .kind = CUPTI_ACTIVITY_KIND_PCIE,
                                    .type = CUPTI_PCIE_DEVICE_TYPE_BRIDGE,
                                    .id.bridgeId = (uint32_t)(100 + i / 2),
                                    .pcieGeneration = 4,
                                    .linkRate = 16,
                                    .linkWidth = 8 };
      record.attr.bridgeAttr.secondaryBus = (uint16_t)(0x10 + i / 2);
      record.attr.bridgeAttr.vendorId = 0x1000;
      record.attr.bridgeAttr.deviceId = 0xc030;
      _lns_cupti_write (&record, false);
    }
}

/* The port of link I of a device to OTHER. */
static int
port (int other, int i)
{
  return other * N_LINKS + i;
}

/* What all versions of the record have in common, up to the ports. */
#define COMMON(first, second)                                                                      \
 .kind = CUPTI_ACTIVITY_KIND_NVLINK, .nvlinkVersion = 4, .typeDev0 = CUPTI_DEV_TYPE_GPU,           \
 .typeDev1 = CUPTI_DEV_TYPE_GPU, .idDev0.uuidDev = lns_gpu_device (first)->uuid,                   \
 .idDev1.uuidDev = lns_gpu_device (second)->uuid,                                                  \
 .flag = CUPTI_LINK_FLAG_PEER_ACCESS | CUPTI_LINK_FLAG_PEER_ATOMICS,                               \
 .physicalNvLinkCount = N_LINKS, .bandwidth = BANDWIDTH, .nvswitchConnected = 1

/* The ports from a device to OTHER, as 13.2 and later versions give them: their client frees them. */
static uint32_t *
ports_to (int other)
{
  uint32_t *ports = malloc (N_LINKS * sizeof *ports);
  for (int i = 0; ports != NULL && i < N_LINKS; i++)
    ports[i] = (uint32_t)port (other, i);
  return ports;
}

static void
write_link (int first, int second)
{
  LnsCuptiNvLink3 third = { COMMON (first, second) };
  CUpti_ActivityNvLink4 fourth = { COMMON (first, second) };
  const size_t n_bytes = _lns_cupti_record_bytes (CUPTI_ACTIVITY_KIND_NVLINK);
  memset (third.portDev0, CUPTI_NVLINK_INVALID_PORT, sizeof third.portDev0);
  memset (third.portDev1, CUPTI_NVLINK_INVALID_PORT, sizeof third.portDev1);
  memset (fourth.portDev0, CUPTI_NVLINK_INVALID_PORT, sizeof fourth.portDev0);
  memset (fourth.portDev1, CUPTI_NVLINK_INVALID_PORT, sizeof fourth.portDev1);
  for (int i = 0; i < N_LINKS; i++)
    {
      third.portDev0[i] = fourth.portDev0[i] = (int8_t)port (second, i);
      third.portDev1[i] = fourth.portDev1[i] = (int8_t)port (first, i);
    }
  if (n_bytes == sizeof third)
    _lns_cupti_write (&third, false);
  else if (n_bytes == sizeof fourth)
    _lns_cupti_write (&fourth, false);
  else
    {
      LnsCuptiNvLink newest = { COMMON (first, second), .portDev0 = ports_to (second),
                                .portDev1 = ports_to (first) };
      _lns_cupti_write (&newest, false);
    }
}

static void
write_links (void)
{
  for (int first = 0; first < lns_gpu_device_count (); first++)
    for (int second = first + 1; second < lns_gpu_device_count (); second++)
      write_link (first, second);
}

void
_lns_cupti_write_topology (uint32_t kind)
{
  if (kind == CUPTI_ACTIVITY_KIND_PCIE)
    write_pcie ();
  else
    write_links ();
}
