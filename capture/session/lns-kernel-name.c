/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/lns-kernel-name.h"

#include <stdbool.h>
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

static bool
is_word (char c)
{
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* How long the sign of an operator is that TEXT begins with. */
static size_t
sign_bytes (const char *text)
{
  static const char *const signs[] = { "()", "[]", "->*", "->", "<=>", "<<=", ">>=",
                                       "<<", ">>", "<=",  ">=", "<",   ">" };
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (strncmp (text, signs[i], strlen (signs[i])) == 0)
      return strlen (signs[i]);
  return strspn (text, "=!-+*/%^&|~,");
}

/* The function's own name in MANGLED, which the C++ runtime would not demangle: it refuses what is longer
 * than a KiB, as many a template of kernels is. A copy where there is none. */
static char *
shorten_mangled (const char *mangled)
{
  const char *at = mangled + 2, *name = mangled;
  size_t n_name = strlen (mangled);
  if (*at == 'N')
    at += 1 + strspn (at + 1, "rVKRO");
  for (;;)
    {
      if (strncmp (at, "St", 2) == 0)
        at += 2;
      const bool is_tag = *at == 'B';
      char *text;
      const unsigned long n = strtoul (at + is_tag, &text, 10);
      if (at[is_tag] < '1' || at[is_tag] > '9' || n > strlen (text))
        return strndup (name, n_name);
      if (!is_tag)
        {
          name = text;
          n_name = n;
        }
      at = text + n;
    }
}

/* The name begins behind the last space or colon before the parameters that is in no template argument,
 * and ends where those or its own template arguments begin. */
char *
lns_kernel_name_shorten (const char *demangled)
{
  const char *start = demangled, *arguments = NULL, *at = demangled;
  int depth = 0;
  if (strncmp (demangled, "_Z", 2) == 0)
    return shorten_mangled (demangled);
  for (; *at != '\0'; at++)
    {
      if (strncmp (at, "(anonymous namespace)", 21) == 0)
        at += 20;
      else if (*at == '(' && depth == 0)
        break;
      else if (strncmp (at, "operator", 8) == 0 && (at == demangled || !is_word (at[-1])) &&
               sign_bytes (at + 8) > 0)
        {
          at += 8 + sign_bytes (at + 8) - 1;
          if (depth == 0)
            return strndup (start, (size_t)(at + 1 - start));
        }
      else if (*at == '<' && depth++ == 0)
        arguments = at;
      else if (*at == '>' && depth > 0)
        depth--;
      else if (depth == 0 && (*at == ' ' || strncmp (at, "::", 2) == 0))
        {
          at += *at == ':';
          start = at + 1;
          arguments = NULL;
        }
    }
  return strndup (start, (size_t)((arguments != NULL ? arguments : at) - start));
}
