/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/lns-kernel-name.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/lns-kernel-text.h"

/* Of the C++ runtime: Itanium C++ ABI, chapter 3.4. */
char *__cxa_demangle (const char *mangled, char *buffer, size_t *n_bytes, int *ret_status);

char *
lns_kernel_name_demangle (const char *mangled)
{
  int status;
  /* Anything else it would take for the letter of a builtin type. */
  char *demangled =
      strncmp (mangled, "_Z", 2) == 0 ? __cxa_demangle (mangled, NULL, NULL, &status) : NULL;
  return demangled != NULL ? demangled : strdup (mangled);
}

char *
lns_kernel_name_shorten (const char *demangled)
{
  size_t size_bytes;
  const char *name = lns_kernel_text_short (demangled, &size_bytes);
  return strndup (name, size_bytes);
}
