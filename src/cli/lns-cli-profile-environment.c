/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The program's environment: the caller's, the switches', and what leads NVTX to us. */

#include "src/cli/lns-cli-profile.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lns-config.h"

#define INJECTION   "liblanescope-inject.so"
#define LIBRARIES   "liblanescope-libraries.so"
#define MPI_LIBRARY "liblanescope-mpi.so"

/* Variables that explain a run and hold no secrets: what --env-record=list keeps. */
static const char *const recorded[] = { "CUDA_*",
                                        "NVIDIA_*",
                                        "NCCL_*",
                                        "NVSHMEM_*",
                                        "UCX_*",
                                        "OMP_*",
                                        "KMP_*",
                                        "MKL_*",
                                        "OMPI_*",
                                        "PMI_*",
                                        "SLURM_JOB_ID",
                                        "SLURM_PROCID",
                                        "SLURM_LOCALID",
                                        "SLURM_NODEID",
                                        "SLURM_NTASKS",
                                        "RANK",
                                        "LOCAL_RANK",
                                        "WORLD_SIZE",
                                        "MASTER_ADDR",
                                        "MASTER_PORT",
                                        "TORCH_*",
                                        "PYTORCH_*",
                                        "TF_*",
                                        "XLA_*",
                                        "JAX_*",
                                        "PYTHON*",
                                        "CONDA_PREFIX",
                                        "VIRTUAL_ENV",
                                        "LD_LIBRARY_PATH",
                                        "LD_PRELOAD",
                                        "MALLOC_*",
                                        "LANG",
                                        "LC_ALL",
                                        "TZ" };

/* The folder of this very program, without the slash; false where /proc is not there. */
static bool
own_folder (char *path, size_t room)
{
  ssize_t n = readlink ("/proc/self/exe", path, room - 1);
  if (n <= 0)
    return false;
  path[n] = '\0';
  char *slash = strrchr (path, '/');
  if (slash == NULL)
    return false;
  *slash = '\0';
  return true;
}

/* The path of the library that programs are to load: beside the tree that this program was built in,
 * else where both were installed, wherever that was moved to. Owned; NULL with ERROR if it is
 * nowhere. */
static char *
find_injection (LnsError *error)
{
  static const char *const places[] = { "/../../capture/inject/" INJECTION,
                                        "/../" LNS_LIBDIR_NAME "/lanescope/" INJECTION,
                                        "/../lib/lanescope/" INJECTION };
  char folder[4096] = "?", path[4096 + 64];
  bool is_known = own_folder (folder, sizeof folder);
  for (size_t i = 0; is_known && i < sizeof places / sizeof *places; i++)
    {
      snprintf (path, sizeof path, "%s%s", folder, places[i]);
      char *whole = realpath (path, NULL);
      if (whole != NULL)
        return whole;
    }
  if (access (LNS_LIBDIR "/lanescope/" INJECTION, R_OK) == 0)
    return strdup (LNS_LIBDIR "/lanescope/" INJECTION);
  lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                 INJECTION " is not beside this program (%s): install Lanescope as a whole",
                 folder);
  return NULL;
}

/* Adds the NAME=VALUE of --env-var. */
static bool
add_given (LnsProfile *profile, LnsError *error)
{
  LnsOptionList *given = &profile->options.env_var;
  for (size_t i = 0; i < given->n_items; i++)
    {
      char *equals = strchr (given->items[i], '=');
      if (equals == NULL || equals == given->items[i])
        return lns_error_set (error, LNS_ERROR_USAGE, 0,
                              "--env-var: “%s” is not NAME=VALUE; a value that holds a comma goes "
                              "in quotes: A='1,2'",
                              given->items[i]);
      *equals = '\0';
      bool done = lns_environment_set (&profile->environment, given->items[i], equals + 1);
      *equals = '=';
      if (!done)
        return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "memory is short");
    }
  return true;
}

/* Has the program load FILE, which lies beside the library INJECTION and stands before functions of WHAT, if
 * IS_WANTED. */
static bool
add_library (
    LnsProfile *profile, const char *injection, bool is_wanted, const char *file, const char *what)
{
  char *path = NULL;
  if (!is_wanted)
    return true;
  bool done = asprintf (&path, "%.*s%s", (int)(strlen (injection) - strlen (INJECTION)), injection,
                        file) >= 0;
  if (done && access (path, R_OK) != 0)
    lns_cli_say ("warning",
                 "--trace: %s: %s is not beside " INJECTION
                 ": these calls are not recorded [LNS-TRACE-002]",
                 what, file);
  else
    done = done && lns_environment_prepend (&profile->environment, "LD_PRELOAD", path);
  free (path);
  return done;
}

static bool
add_libraries (LnsProfile *profile, const char *injection)
{
  const uint32_t traces = profile->target.traces;
  return add_library (profile, injection,
                      traces & (LNS_WIRE_TRACE_CUBLAS | LNS_WIRE_TRACE_CUBLAS_VERBOSE |
                                LNS_WIRE_TRACE_CUDNN),
                      LIBRARIES, "cublas, cudnn") &&
         add_library (profile, injection, traces & LNS_WIRE_TRACE_MPI, MPI_LIBRARY, "mpi");
}

static bool
add_injection (LnsProfile *profile, LnsError *error)
{
  char *injection = find_injection (error);
  if (injection == NULL)
    return false;
  const char *other = lns_environment_get (&profile->environment, "NVTX_INJECTION64_PATH");
  if (other != NULL && other[0] != '\0' && strcmp (other, injection) != 0)
    lns_cli_say ("warning",
                 "NVTX_INJECTION64_PATH is set to %s, whose place Lanescope takes in this run "
                 "[LNS-NVTX-003]",
                 other);
  bool done = lns_session_add_variables (profile->session, &profile->environment, injection) &&
              add_libraries (profile, injection);
  done = (done || lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "memory is short")) &&
         lns_profile_add_python (profile, injection, error);
  free (injection);
  return done;
}

bool
lns_profile_make_environment (LnsProfile *profile, LnsError *error)
{
  if (profile->options.inherit_environment &&
      !lns_environment_add_all (&profile->environment, environ))
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "memory is short");
  return add_given (profile, error) &&
         (profile->target.traces == 0 || add_injection (profile, error));
}

static bool
is_recorded (const char *name)
{
  for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
    if (fnmatch (recorded[i], name, 0) == 0)
      return true;
  return false;
}

void
lns_profile_record_environment (LnsProfile *profile, LnsWriter *report)
{
  const char *given = profile->options.env_record;
  const bool all = given != NULL && strcmp (given, "all") == 0;
  if (profile->options.discard_environment || (given != NULL && strcmp (given, "none") == 0))
    return;
  for (size_t i = 0; i < profile->environment.n_items; i++)
    {
      char *item = profile->environment.items[i], *equals = strchr (item, '='), *key;
      if (equals == NULL)
        continue;
      *equals = '\0';
      if ((all || is_recorded (item)) && asprintf (&key, "env.%s", item) >= 0)
        {
          lns_writer_set_meta (report, key, equals + 1);
          free (key);
        }
      *equals = '=';
    }
}
