/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/sampler/cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/wire/cupti-search.h"

LnsCuptiPm lns_cupti_pm;
LnsCuda lns_cuda;

static bool
fail (LnsWireGpuFailure *failure, LnsWireGpuCause cause, int result, const char *text)
{
  failure->cause = cause;
  failure->result = result;
  snprintf (failure->text, sizeof failure->text, "%s", text != NULL ? text : "");
  return false;
}

/* --- The driver ------------------------------------------------------------------------------- */

bool
lns_cuda_load (LnsWireGpuFailure *failure)
{
  const char *text = NULL;
  void *library = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL)
    return fail (failure, LNS_WIRE_GPU_NO_DRIVER, 0, dlerror ());
  bool is_whole = true;
#define FIND(name, ...)                                                                            \
 lns_cuda.name = (__typeof__ (lns_cuda.name))dlsym (library, #name);                               \
 is_whole &= lns_cuda.name != NULL;
  LNS_CUDA_FUNCTIONS (FIND)
#undef FIND
  if (!is_whole)
    return fail (failure, LNS_WIRE_GPU_NO_DRIVER, 0, "the driver is too old");
  const int result = lns_cuda.cuInit (0);
  if (result == 0)
    return true;
  if (lns_cuda.cuGetErrorName (result, &text) != 0)
    text = "unknown error";
  return fail (failure, LNS_WIRE_GPU_NO_DRIVER, result, text);
}

/* --- CUPTI ------------------------------------------------------------------------------------ */

typedef struct
{
  int (*start) (void);
  uint32_t newest;     /* version of those that have no PM sampling */
  void *library;       /* NULL: none was found yet */
  LnsCuptiPm refusing; /* the first that cannot be used with this driver, and its result; 0: none */
  int result;
} Search;

/* Whether RESULT is about the copy of CUPTI, so that another copy may do. */
static bool
is_about_copy (int result)
{
  return result == LNS_CUPTI_NOT_COMPATIBLE || result == LNS_CUPTI_NOT_INITIALIZED ||
         result == LNS_CUPTI_UNKNOWN;
}

/* Starts the loaded library. It stays mapped if that fails, as it may have threads. */
static void
start_library (Search *search, void *library)
{
  const int result = search->start ();
  if (!is_about_copy (result))
    {
      search->library = library;
      search->result = result;
    }
  else if (search->result == LNS_CUPTI_SUCCESS)
    {
      search->refusing = lns_cupti_pm;
      search->result = result;
    }
}

/* Takes the library at PATH if it has PM sampling. */
static void
try_library (Search *search, const char *path)
{
  uint32_t version = 0;
  void *library = search->library == NULL ? dlopen (path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL)
    return;
  bool is_whole = true;
#define FIND(name, ...)                                                                            \
 lns_cupti_pm.name = (__typeof__ (lns_cupti_pm.name))dlsym (library, #name);                       \
 is_whole &= lns_cupti_pm.name != NULL;
  LNS_CUPTI_PM_FUNCTIONS (FIND)
#undef FIND
  if (is_whole)
    {
      start_library (search, library);
      return;
    }
  if (lns_cupti_pm.cuptiGetVersion != NULL &&
      lns_cupti_pm.cuptiGetVersion (&version) == LNS_CUPTI_SUCCESS && version > search->newest)
    search->newest = version;
  dlclose (library);
}

/* Tries the versions of libcupti in FOLDER, or where the loader searches (""). */
static void
try_folder (Search *search, const char *folder)
{
  for (size_t i = 0; i < LNS_CUPTI_N_VERSIONS && search->library == NULL; i++)
    {
      char path[LNS_CUPTI_PATH_BYTES];
      const int n = snprintf (path, sizeof path, "%s%slibcupti.so.%s", folder,
                              folder[0] != '\0' ? "/" : "", lns_cupti_versions[i]);
      if (n > 0 && (size_t)n < sizeof path)
        try_library (search, path);
    }
}

/* Tries the copies on this machine, those first that suit DRIVER best, as the recorded program does. It is often a Python. */
static void
try_copies (Search *search, int driver)
{
  static LnsCuptiCopy copies[LNS_CUPTI_COPIES_MAX];
  char python[LNS_CUPTI_PATH_BYTES];
  const LnsCuptiAsked asked = {
    .root = "",
    .program = lns_cupti_find_program ("python3", python, sizeof python) ? python : NULL,
    .driver = driver,
  };
  const size_t n = lns_cupti_search (&asked, copies, LNS_CUPTI_COPIES_MAX);
  for (size_t i = 0; i < n; i++)
    try_library (search, copies[i].path);
  try_folder (search, "");
}

bool
lns_cupti_pm_load (const char *path,
                   int (*start) (void),
                   int *ret_result,
                   LnsWireGpuFailure *failure)
{
  int driver = 0;
  struct stat status;
  Search search = { .start = start };
  if (lns_cuda.cuDriverGetVersion (&driver) != 0)
    driver = 0;
  if (path[0] == '\0')
    try_copies (&search, driver);
  else if (stat (path, &status) == 0 && S_ISDIR (status.st_mode))
    try_folder (&search, path);
  else
    try_library (&search, path);
  *ret_result = search.result;
  if (search.library == NULL && search.result != LNS_CUPTI_SUCCESS)
    lns_cupti_pm = search.refusing;
  if (search.library != NULL || search.result != LNS_CUPTI_SUCCESS)
    return true;
  if (search.newest != 0)
    return fail (failure, LNS_WIRE_GPU_OLD_CUPTI, (int)search.newest, NULL);
  void *library = dlopen (path[0] != '\0' ? path : "libcupti.so", RTLD_NOW | RTLD_LOCAL);
  return fail (failure, LNS_WIRE_GPU_NO_CUPTI, 0,
               library == NULL ? dlerror () : "it has no function of CUPTI");
}

const char *
lns_cupti_text (int result)
{
  const char *text = NULL;
  return lns_cupti_pm.cuptiGetResultString (result, &text) == LNS_CUPTI_SUCCESS && text != NULL
             ? text
             : "unknown error";
}
