/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/lns-kernel-name.h"

#include <stdlib.h>
#include <string.h>

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

/* The end of the function's qualified name: the first parenthesis that belongs to no template
 * argument and is not that of “(anonymous namespace)” or “operator()”. */
static const char *
find_parameters (const char *name)
{
  int depth = 0;
  for (const char *at = name; *at != '\0'; at++)
    {
      if (strncmp (at, "operator", 8) == 0)
        at += 8 + strspn (at + 8, "()<>=!-+*/%^&|~[]") - 1;
      else if (strncmp (at, "(anonymous namespace)", 21) == 0)
        at += 20;
      else if (*at == '<')
        depth++;
      else if (*at == '>' && depth > 0)
        depth--;
      else if (*at == '(' && depth == 0)
        return at;
    }
  return name + strlen (name);
}

char *
lns_kernel_name_shorten (const char *demangled)
{
  const char *end = find_parameters (demangled), *start = demangled;
  int depth = 0;
  /* Back over the template arguments. */
  if (end > demangled && end[-1] == '>' && strncmp (end - 2, "->", 2) != 0)
    do
      {
        end--;
        depth += *end == '>' ? 1 : *end == '<' ? -1 : 0;
      }
    while (depth > 0 && end > demangled);
  depth = 0;
  for (const char *at = end; at > demangled; at--)
    {
      depth += at[-1] == '>' ? 1 : at[-1] == '<' ? -1 : 0;
      if (depth == 0 && (at[-1] == ':' || at[-1] == ' '))
        {
          start = at;
          break;
        }
    }
  return strndup (start, (size_t)(end - start));
}
