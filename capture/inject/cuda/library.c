/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/library.h"
#include "capture/inject/core/oldest-glibc.h"
#include "capture/inject/core/system.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

LNS_OLDEST (dlopen);
LNS_OLDEST (dlsym);
LNS_OLDEST (dlerror);

LnsCupti lns_cupti;
LnsCudaDriver lns_cuda_driver;

/* The versions that libcupti.so is named by, the newest first. Each begins with the version of CUDA, of two digits,
 * that the driver must have at least; the names of CUDA 11 hold its minor version too. Those of CUDA 10 are too old, but are found so that the
 * user is told. */
static const char *const versions[] = { "15",   "14",   "13",   "12",   "11.8",
                                        "11.7", "11.6", "11.5", "11.4", "11.3",
                                        "11.2", "11.1", "11.0", "10.2", "10.1" };

/* The toolkit's folders, in case the loader does not search them. */
static const char *const folders[] = {
  "/usr/local/cuda/extras/CUPTI/lib64",
  "/usr/local/cuda/lib64",
  "/usr/local/cuda/targets/x86_64-linux/lib",
  "/usr/local/cuda/targets/sbsa-linux/lib",
  "/opt/cuda/extras/CUPTI/lib64",
};

static void
find_driver (void)
{
  void *handle = dlopen ("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL)
    return;
  lns_cuda_driver.driver_version =
      (__typeof__ (&cuDriverGetVersion))dlsym (handle, "cuDriverGetVersion");
  lns_cuda_driver.device_count = (__typeof__ (&cuDeviceGetCount))dlsym (handle, "cuDeviceGetCount");
  lns_cuda_driver.bus_id = (__typeof__ (&cuDeviceGetPCIBusId))dlsym (handle, "cuDeviceGetPCIBusId");
  lns_cuda_driver.stream_context = (__typeof__ (&cuStreamGetCtx))dlsym (handle, "cuStreamGetCtx");
}

/* Opens the newest version in FOLDER ("": the loader's own search) that DRIVER suits. */
static void *
open_newest (const char *folder, int driver, int flags)
{
  void *handle = NULL;
  for (size_t i = 0; i < sizeof versions / sizeof *versions && handle == NULL; i++)
    {
      char path[1200];
      int n = snprintf (path, sizeof path, "%s%slibcupti.so.%s", folder,
                        folder[0] == '\0' ? "" : "/", versions[i]);
      /* strtol() would need a newer glibc. */
      int needed = 10 * (versions[i][0] - '0') + versions[i][1] - '0';
      if (needed <= driver && n > 0 && (size_t)n < sizeof path)
        handle = dlopen (path, RTLD_NOW | RTLD_LOCAL | flags);
    }
  return handle;
}

static void *
open_cupti (const char *given)
{
  int version = 0;
  if (lns_cuda_driver.driver_version == NULL || lns_cuda_driver.driver_version (&version) != 0)
    version = 0;
  int driver = version > 0 ? version / 1000 : 99;
  void *handle = open_newest ("", 99, RTLD_NOLOAD);
  if (handle == NULL && given[0] != '\0')
    {
      handle = open_newest (given, driver, 0);
      if (handle == NULL)
        handle = dlopen (given, RTLD_NOW | RTLD_LOCAL);
      return handle;
    }
  if (handle == NULL)
    handle = open_newest ("", driver, 0);
  for (size_t i = 0; i < sizeof folders / sizeof *folders && handle == NULL; i++)
    handle = open_newest (folders[i], driver, 0);
  /* The message of the last attempt is the one that is reported. */
  return handle != NULL ? handle : dlopen ("libcupti.so", RTLD_NOW | RTLD_LOCAL);
}

int
lns_cupti_load (const char *given, char *ret_words, size_t n_max)
{
  ret_words[0] = '\0';
  find_driver ();
  void *handle = open_cupti (given);
  if (handle == NULL)
    {
      const char *words = dlerror ();
      if (words != NULL)
        strncat (ret_words, words, n_max - 1);
      return -ENOENT;
    }
#define X(name) lns_cupti.name = (__typeof__ (&cupti##name))dlsym (handle, "cupti" #name);
  LNS_CUPTI_FUNCTIONS (X)
#undef X
  lns_cupti.struct_size =
      (__typeof__ (lns_cupti.struct_size))dlsym (handle, "cuptiActivityGetStructSize");
  bool is_old = lns_cupti_ask_version () && lns_cupti.version < LNS_CUPTI_MIN_VERSION;
  bool enough =
      lns_cupti.Subscribe != NULL && lns_cupti.EnableCallback != NULL &&
      (lns_cupti.ActivityRegisterTimestampCallback != NULL || lns_cupti.GetTimestamp != NULL) &&
      lns_cupti.ActivityRegisterCallbacks != NULL && lns_cupti.ActivityEnable != NULL &&
      lns_cupti.ActivityDisable != NULL && lns_cupti.ActivityFlushAll != NULL &&
      lns_cupti.ActivityGetNextRecord != NULL;
  return enough && !is_old ? 0 : -ENOTSUP;
}

bool
lns_cupti_ask_version (void)
{
  if (lns_cupti.version == 0 &&
      (lns_cupti.GetVersion == NULL || lns_cupti.GetVersion (&lns_cupti.version) != CUPTI_SUCCESS))
    lns_cupti.version = 0;
  return lns_cupti.version != 0;
}

CUptiResult
lns_cupti_learn_sizes (LnsWireCuptiSizes *ret_sizes)
{
  /* A record of KIND, followed at every 8 bytes by something that could be a record of another kind: the walk goes on
   * where the first record ends. */
  uint64_t words[128];
  CUptiResult of_calls = CUPTI_ERROR_INVALID_KIND;
  for (uint32_t kind = 1; kind < LNS_WIRE_CUPTI_KINDS; kind++)
    {
      for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = CUPTI_ACTIVITY_KIND_RUNTIME;
      words[0] = kind;
      uint8_t *bytes = (uint8_t *)words;
      CUpti_Activity *record = (CUpti_Activity *)bytes;
      CUptiResult result = lns_cupti.ActivityGetNextRecord (bytes, sizeof words, &record);
      size_t size = (size_t)((uint8_t *)record - bytes);
      if (result != CUPTI_SUCCESS && lns_cupti.struct_size != NULL)
        result = lns_cupti.struct_size (kind, 0, &size);
      if (result == CUPTI_SUCCESS && size > 0 && size <= UINT16_MAX && size % 8 == 0)
        ret_sizes->record_bytes[kind] = (uint16_t)size;
      if (kind == CUPTI_ACTIVITY_KIND_RUNTIME)
        of_calls = result;
    }
  ret_sizes->version = lns_cupti.version != 0 ? lns_cupti.version : 1;
  return of_calls;
}
