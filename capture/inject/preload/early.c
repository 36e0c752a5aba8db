/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* liblanescope-early.so is preloaded (LD_PRELOAD) into the program whose NVTX events are asked for, and loads the injection
 * library before the program has threads. NVTX would load it in the program's first call, which then takes 140 µs instead
 * of 3: so much longer for a fork of another thread to come between (core/first-call.h).
 *
 * Only the program that Lanescope starts gets it. It takes itself out of the environment, as programs that this one starts
 * may be for another loader, which would complain. It needs nothing but libc.so.6 and exports nothing. */

#include "capture/inject/core/oldest-glibc.h"
#include "capture/inject/core/system.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWN_NAME   "liblanescope-early.so"
#define INJECTION  "NVTX_INJECTION64_PATH"
#define PRELOAD    "LD_PRELOAD="
#define SEPARATORS ": "

/* Before glibc 2.34 these are in libdl.so.2, which a program with NVTX has. */
LNS_OLDEST (dlopen);
LNS_OLDEST (dlerror);
extern __typeof__ (dlopen) dlopen __attribute__ ((weak));
extern __typeof__ (dlerror) dlerror __attribute__ ((weak));

/* Whether the entry of N_BYTES at ENTRY is the path of this library. */
static bool
is_own (const char *entry, size_t n_bytes)
{
  const size_t n_name = strlen (OWN_NAME);
  return n_bytes > n_name && entry[n_bytes - n_name - 1] == '/' &&
         memcmp (entry + n_bytes - n_name, OWN_NAME, n_name) == 0;
}

/* Takes this library out of LIST, in place. */
static void
remove_own (char *list)
{
  for (char *entry = list; *entry != '\0';)
    {
      const size_t n_bytes = strcspn (entry, SEPARATORS);
      char *next = entry + n_bytes + (entry[n_bytes] != '\0');
      if (!is_own (entry, n_bytes))
        {
          entry = next;
          continue;
        }
      if (*next == '\0' && entry > list)
        entry[-1] = '\0'; /* with the separator before it */
      else
        memmove (entry, next, strlen (next) + 1);
      return;
    }
}

static void
leave_environment (void)
{
  for (char **item = environ; *item != NULL; item++)
    if (strncmp (*item, PRELOAD, strlen (PRELOAD)) == 0)
      {
        remove_own (*item + strlen (PRELOAD));
        if ((*item)[strlen (PRELOAD)] != '\0')
          return;
        do
          item[0] = item[1];
        while (*item++ != NULL);
        return;
      }
}

__attribute__ ((constructor)) static void
load (void)
{
  LNS_KEEP_ERRNO;
  lns_mark_own (LNS_WIRE_OWN_BEGIN);
  leave_environment ();
  const char *path = getenv (INJECTION);
  if (path != NULL && dlopen != NULL && dlerror != NULL && dlopen (path, RTLD_LAZY) == NULL)
    (void)dlerror (); /* the program is not to find it */
  lns_mark_own (LNS_WIRE_OWN_END);
}
