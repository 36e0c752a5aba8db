/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/library.h"
#include "capture/inject/core/oldest-glibc.h"
#include "capture/inject/core/system.h"
#include "capture/wire/cupti-search.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

LNS_OLDEST (dlopen);
LNS_OLDEST (dlsym);
LNS_OLDEST (dlerror);
LNS_OLDEST (dladdr);

LnsCupti lns_cupti;
LnsCudaDriver lns_cuda_driver;
void (*lns_cupti_free) (void *memory);

/* The copies that were found on this machine, and those that the engine has tried so far. */
static LnsCuptiCopy copies[LNS_CUPTI_COPIES_MAX];
static void *tried[LNS_CUPTI_COPIES_MAX + LNS_CUPTI_N_VERSIONS];
static size_t n_copies, n_tried;

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

/* 0: the driver does not tell it. */
static int
driver_version (void)
{
  int version = 0;
  if (lns_cuda_driver.driver_version == NULL || lns_cuda_driver.driver_version (&version) != 0)
    version = 0;
  return version;
}

/* Opens VERSION in FOLDER ("": the loader's own search), unless it needs a newer DRIVER. */
static void *
open_version (const char *folder, const char *version, int driver, int flags)
{
  char path[1200];
  const int n = snprintf (path, sizeof path, "%s%slibcupti.so.%s", folder,
                          folder[0] == '\0' ? "" : "/", version);
  /* Each begins with the version of CUDA, of two digits. strtol() would need a newer glibc. */
  const int needed = 10 * (version[0] - '0') + version[1] - '0';
  if ((driver != 0 && needed > driver / 1000) || n < 0 || (size_t)n >= sizeof path)
    return NULL;
  return dlopen (path, RTLD_NOW | RTLD_LOCAL | flags);
}

static void *
open_newest (const char *folder, int driver, int flags)
{
  void *handle = NULL;
  for (size_t i = 0; i < LNS_CUPTI_N_VERSIONS && handle == NULL; i++)
    handle = open_version (folder, lns_cupti_versions[i], driver, flags);
  return handle;
}

/* Writes the path of the CUDA runtime that the process has loaded to DATA. */
static int
take_runtime (struct dl_phdr_info *library, size_t unused, void *data)
{
  const char *path = library->dlpi_name;
  if (path == NULL || strstr (path, "/libcudart.so") == NULL ||
      strlen (path) >= LNS_CUPTI_PATH_BYTES)
    return 0;
  memcpy (data, path, strlen (path) + 1);
  return 1;
}

/* The path by which the program was started: of a Python, it tells the environment. */
static bool
find_program (char *ret_path)
{
  char name[LNS_CUPTI_PATH_BYTES];
  const long fd = LNS_SYSCALL (SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const long n = fd < 0 ? 0 : LNS_SYSCALL (SYS_read, fd, name, sizeof name - 1);
  if (fd >= 0)
    (void)LNS_SYSCALL (SYS_close, fd);
  name[n > 0 ? n : 0] = '\0';
  return lns_cupti_find_program (name, ret_path, LNS_CUPTI_PATH_BYTES);
}

static void
search (void)
{
  char program[LNS_CUPTI_PATH_BYTES], runtime[LNS_CUPTI_PATH_BYTES] = "";
  (void)dl_iterate_phdr (take_runtime, runtime);
  const LnsCuptiAsked asked = {
    .root = "",
    .program = find_program (program) ? program : "/proc/self/exe",
    .runtime = runtime[0] != '\0' ? runtime : NULL,
    .driver = driver_version (),
  };
  n_copies = lns_cupti_search (&asked, copies, LNS_CUPTI_COPIES_MAX);
}

/* Whether HANDLE is new, and can be remembered. */
static bool
is_new (void *handle)
{
  for (size_t i = 0; i < n_tried; i++)
    if (tried[i] == handle)
      return false;
  if (n_tried == sizeof tried / sizeof *tried)
    return false;
  tried[n_tried++] = handle;
  return true;
}

/* Opens the next copy to try; null: there is none. RET_WORDS keeps what the loader said of the first that it could not
 * load, or, if there was nothing to load, of the last. */
static void *
open_next (const char *given, char *ret_words, size_t n_max)
{
  enum
  {
    MAPPED,
    GIVEN,
    FOUND,
    BY_NAME = FOUND + LNS_CUPTI_COPIES_MAX,
    LAST = BY_NAME + LNS_CUPTI_N_VERSIONS
  };
  static size_t step;
  const int driver = driver_version ();
  void *handle = NULL;
  for (; step <= LAST && handle == NULL; step++)
    {
      bool is_there = step == LAST; /* a failure to load it is worth telling */
      if (step == MAPPED)
        handle = open_newest ("", 0, RTLD_NOLOAD);
      else if (step == GIVEN && given[0] != '\0')
        {
          handle = open_newest (given, driver, 0);
          if (handle == NULL)
            handle = dlopen (given, RTLD_NOW | RTLD_LOCAL);
          is_there = true;
        }
      else if (step == GIVEN)
        search ();
      else if (given[0] != '\0')
        break;
      else if (step < BY_NAME)
        {
          is_there = step - FOUND < n_copies && copies[step - FOUND].fit != LNS_CUPTI_IS_TOO_NEW;
          if (is_there)
            handle = dlopen (copies[step - FOUND].path, RTLD_NOW | RTLD_LOCAL);
        }
      else if (step < LAST)
        handle = open_version ("", lns_cupti_versions[step - BY_NAME], driver, 0);
      else if (n_tried == 0) /* its name does not tell whether it suits the driver */
        handle = dlopen ("libcupti.so", RTLD_NOW | RTLD_LOCAL);
      const char *words = handle == NULL && is_there && ret_words[0] == '\0' ? dlerror () : NULL;
      if (words != NULL)
        strncat (ret_words, words, n_max - 1);
      if (handle != NULL && !is_new (handle))
        handle = NULL;
    }
  return handle;
}

int
lns_cupti_load_next (const char *given, char *ret_words, size_t n_max)
{
  if (lns_cuda_driver.driver_version == NULL)
    find_driver ();
  void *handle = open_next (given, ret_words, n_max);
  if (handle == NULL)
    return -ENOENT;
  lns_cupti = (LnsCupti){ 0 };
#define X(name) lns_cupti.name = (__typeof__ (&cupti##name))dlsym (handle, "cupti" #name);
  LNS_CUPTI_FUNCTIONS (X)
#undef X
#define X(name, ...)                                                                               \
 lns_cupti.shared.name = (__typeof__ (lns_cupti.shared.name))dlsym (handle, "cupti" #name "_v2");
  LNS_CUPTI_SHARED_FUNCTIONS (X)
#undef X
  lns_cupti_free = (void (*) (void *))dlsym (RTLD_DEFAULT, "free");
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

const char *
lns_cupti_path (void)
{
  Dl_info library;
  void *function = (void *)(uintptr_t)lns_cupti.Subscribe;
  return function != NULL && dladdr (function, &library) != 0 ? library.dli_fname : NULL;
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
lns_cupti_learn_sizes (CUpti_SubscriberHandle subscriber, LnsWireCuptiSizes *ret_sizes)
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
      CUptiResult result =
          subscriber != NULL
              ? lns_cupti.shared.ActivityGetNextRecord (subscriber, bytes, sizeof words, &record)
              : lns_cupti.ActivityGetNextRecord (bytes, sizeof words, &record);
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
