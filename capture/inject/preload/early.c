/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/preload/early.h"
#include "capture/inject/core/oldest-glibc.h"
#include "capture/inject/core/system.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWN_NAME       "liblanescope-early.so"
#define INJECTION_NAME "/liblanescope-inject.so"
#define SEPARATORS     ": "

/* Names of more bytes than these are not searched, as that takes longer than to load the library. */
#define NAMES_MAX_BYTES (128u << 10)

/* Before glibc 2.34 these are in libdl.so.2, which a program with NVTX has. */
LNS_OLDEST (dlopen);
LNS_OLDEST (dlerror);
extern __typeof__ (dlopen) dlopen __attribute__ ((weak));
extern __typeof__ (dlerror) dlerror __attribute__ ((weak));

char lns_early_path[4096];

const char *
lns_early_value (char *const *variables, const char *name)
{
  const size_t n_name = strlen (name);
  for (; *variables != NULL; variables++)
    if (strncmp (*variables, name, n_name) == 0)
      return *variables + n_name;
  return NULL;
}

int
lns_early_is_ours (const char *value)
{
  const size_t n_value = value == NULL ? 0 : strlen (value), n_name = strlen (INJECTION_NAME);
  return n_value > n_name && strcmp (value + n_value - n_name, INJECTION_NAME) == 0;
}

/* Whether the entry of N_BYTES at ENTRY is the path of this library. */
static bool
is_own (const char *entry, size_t n_bytes)
{
  const size_t n_name = strlen (OWN_NAME);
  return n_bytes > n_name && entry[n_bytes - n_name - 1] == '/' &&
         memcmp (entry + n_bytes - n_name, OWN_NAME, n_name) == 0;
}

/* Takes this library out of LIST, in place, and keeps its path. */
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
      if (n_bytes < sizeof lns_early_path)
        memcpy (lns_early_path, entry, n_bytes);
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
    if (strncmp (*item, LNS_EARLY_PRELOAD, strlen (LNS_EARLY_PRELOAD)) == 0)
      {
        remove_own (*item + strlen (LNS_EARLY_PRELOAD));
        if ((*item)[strlen (LNS_EARLY_PRELOAD)] != '\0')
          return;
        do
          item[0] = item[1];
        while (*item++ != NULL);
        return;
      }
}

/* Whether OBJECT may call dlopen(), as what contains NVTX does, or what loads such a library. The C library's own parts have
 * no NVTX. */
static int
may_load_libraries (struct dl_phdr_info *object, size_t n_bytes, void *unused)
{
  const ElfW (Dyn) *dynamic = NULL;
  const char *name = strrchr (object->dlpi_name, '/'), *names = NULL;
  size_t n_names = 0;
  name = name != NULL ? name + 1 : object->dlpi_name;
  if (strcmp (name, OWN_NAME) == 0 || strncmp (name, "libc.so.", 8) == 0 ||
      strncmp (name, "libdl.so.", 9) == 0 || strncmp (name, "ld-linux", 8) == 0)
    return 0;
  for (int i = 0; i < object->dlpi_phnum; i++)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = (const ElfW (Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
  for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++)
    if (dynamic->d_tag == DT_STRTAB)
      names = (const char *)dynamic->d_un.d_ptr;
    else if (dynamic->d_tag == DT_STRSZ)
      n_names = dynamic->d_un.d_val;
  /* The loader leaves offsets alone in the kernel's own object. */
  if ((uintptr_t)names < object->dlpi_addr)
    return 0;
  return n_names > NAMES_MAX_BYTES || memmem (names, n_names, "dlopen", sizeof "dlopen") != NULL ||
         memmem (names, n_names, "dlmopen", sizeof "dlmopen") != NULL;
}

__attribute__ ((constructor)) static void
load (void)
{
  LNS_KEEP_ERRNO;
  lns_mark_own (LNS_WIRE_OWN_BEGIN);
  leave_environment ();
  const char *path = lns_early_value (environ, LNS_EARLY_INJECTION);
  if (lns_early_is_ours (path) && dlopen != NULL && dlerror != NULL &&
      dl_iterate_phdr (may_load_libraries, NULL) != 0 && dlopen (path, RTLD_LAZY) == NULL)
    (void)dlerror (); /* the program is not to find it */
  lns_mark_own (LNS_WIRE_OWN_END);
}
