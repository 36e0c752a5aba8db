/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/kernel-text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool
is_word (char c)
{
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The length of the operator's sign at the beginning of TEXT. */
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

/* The function's own name in MANGLED, which no demangler accepted because it is broken or too long. The whole text if it
 * has none. */
static const char *
shorten_mangled (const char *mangled, size_t *ret_size_bytes)
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
        {
          *ret_size_bytes = n_name;
          return name;
        }
      if (!is_tag)
        {
          name = text;
          n_name = n;
        }
      at = text + n;
    }
}

/* The name begins after the last space or colon that is before the parameters and outside template arguments. It ends where
 * its template arguments or the parameters begin. */
const char *
lns_kernel_text_short (const char *demangled, size_t *ret_size_bytes)
{
  const char *start = demangled, *arguments = NULL, *at = demangled;
  int depth = 0;
  if (strncmp (demangled, "_Z", 2) == 0)
    return shorten_mangled (demangled, ret_size_bytes);
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
            {
              *ret_size_bytes = (size_t)(at + 1 - start);
              return start;
            }
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
  *ret_size_bytes = (size_t)((arguments != NULL ? arguments : at) - start);
  return start;
}
