/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/records.h"
#include "capture/inject/core/stream.h"
#include "capture/inject/core/system.h"
#include "capture/inject/core/definitions.h"

#include <fcntl.h>

LnsCudaEngine lns_cuda_engine;

/* How many different problems are reported. */
#define PROBLEMS_MAX 64u

static uint64_t told[PROBLEMS_MAX]; /* problem << 32 | detail; 0: empty */

/* Adds KEY to what was reported. Returns whether it is new. */
static bool
is_new (uint64_t key)
{
  for (uint32_t i = 0; i < PROBLEMS_MAX; i++)
    {
      uint64_t empty = 0;
      if (__atomic_compare_exchange_n (&told[i], &empty, key, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED))
        return true;
      if (empty == key)
        return false;
    }
  return false;
}

void
lns_cuda_problem (LnsWireCudaProblem problem, uint32_t result, uint32_t detail, const char *words)
{
  uint32_t string = words == NULL ? 0 : lns_definitions_string (0, words, strlen (words));
  uint32_t which = problem == LNS_WIRE_PROBLEM_CALL || problem == LNS_WIRE_PROBLEM_STATE ? string
                   : problem == LNS_WIRE_PROBLEM_BUFFERS                                 ? 0
                                                                                         : detail;
  if (!is_new ((uint64_t)problem << 32 | which))
    return;
  LnsWireCudaProblemBytes record = {
    .head = { .ticks = lns_wire_clock_ticks (lns_process.clock),
              .type = LNS_WIRE_CUDA_PROBLEM,
              .string = string },
    .problem = problem,
    .result = result,
    .detail = detail,
  };
  lns_inject_stream_tell (&record, sizeof record);
}

bool
lns_cuda_check (CUptiResult result, const char *name)
{
  if (result == CUPTI_SUCCESS)
    return true;
  lns_cuda_problem (LNS_WIRE_PROBLEM_CALL, result, 0, name);
  return false;
}

/* Reads the version of the kernel's driver, such as "580.65.06"; "" if there is none. */
static void
read_driver_version (char *ret_version, size_t n_max)
{
  char text[256];
  ret_version[0] = '\0';
  long fd = LNS_SYSCALL (SYS_openat, AT_FDCWD, "/proc/driver/nvidia/version", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  long n = LNS_SYSCALL (SYS_read, fd, text, sizeof text - 1);
  (void)LNS_SYSCALL (SYS_close, fd);
  if (n <= 0)
    return;
  text[n] = '\0';
  /* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun …": the first word of digits that
   * holds a dot. */
  for (const char *word = text; *word != '\0' && *word != '\n';)
    {
      size_t n_word = strcspn (word, " \n"), n_digits = strspn (word, "0123456789.");
      if (n_word > 2 && n_digits == n_word && memchr (word, '.', n_word) != NULL && n_word < n_max)
        {
          memcpy (ret_version, word, n_word);
          ret_version[n_word] = '\0';
          return;
        }
      word += n_word;
      word += strspn (word, " ");
    }
}

void
lns_cuda_tell_info (void)
{
  char version[64];
  const char *path = lns_cupti_path ();
  int driver = 0;
  read_driver_version (version, sizeof version);
  if (lns_cuda_driver.driver_version == NULL || lns_cuda_driver.driver_version (&driver) != 0)
    driver = 0;
  LnsWireCudaInfoBytes record = {
    .head = { .type = LNS_WIRE_CUDA_INFO,
              .string =
                  version[0] == '\0' ? 0 : lns_definitions_string (0, version, strlen (version)) },
    .cupti_version = lns_cupti.version,
    .driver_version = (uint32_t)driver,
    .header_version = CUPTI_API_VERSION,
    .path = path == NULL ? 0 : lns_definitions_string (0, path, strlen (path)),
  };
  lns_inject_stream_tell (&record, sizeof record);
}
