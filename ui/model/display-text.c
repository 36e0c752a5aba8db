/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/display-text.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/base/format.h"
#include "src/base/visible.h"
#include "src/store/format/definitions.h"

char *
lns_display_text (const char *bytes, gsize size_bytes, gboolean one_line)
{
  GString *text = g_string_sized_new (size_bytes);
  char escape[LNS_VISIBLE_SIZE];
  for (size_t length; size_bytes > 0; bytes += length, size_bytes -= length)
    {
      length = lns_visible_next (bytes, size_bytes, escape);
      if (*escape == '\0' || (!one_line && (*bytes == '\n' || *bytes == '\t')))
        g_string_append_len (text, bytes, (gssize)length);
      else
        g_string_append (text, escape);
    }
  return g_string_free (text, FALSE);
}

char *
lns_display_file (GFile *file, gboolean whole)
{
  g_autofree char *path = g_file_get_parse_name (file);
  g_autofree char *base = whole ? NULL : g_path_get_basename (path);
  const char *name = whole ? path : base;

  return lns_display_text (name, strlen (name), TRUE);
}

char *
lns_display_cut (const char *text)
{
  glong n_chars = g_utf8_strlen (text, -1);
  if (n_chars <= LNS_DISPLAY_MAX_CHARS)
    return g_strdup (text);
  char count[LNS_FORMAT_SIZE];
  g_autofree char *begin = g_utf8_substring (text, 0, LNS_DISPLAY_MAX_CHARS);
  /* Translators: after the beginning of a long text, "… (65,536 characters)" */
  return g_strdup_printf (_ ("%s… (%s characters)"), begin,
                          lns_format_unsigned ((uint64_t)n_chars, count));
}

/* Whether TEXT tells NUMBER already. */
static gboolean
tells (const char *text, const char *number)
{
  const gsize length = strlen (number);
  for (const char *at = text; (at = strstr (at, number)) != NULL; at++)
    if ((at == text || !g_ascii_isdigit (at[-1])) && !g_ascii_isdigit (at[length]))
      return TRUE;
  return FALSE;
}

char *
lns_display_numbered (const char *name, int number)
{
  g_autofree char *digits = g_strdup_printf ("%d", number);
  if (number >= LNS_FIRST_MADE_UP_ID || tells (name, digits))
    return g_strdup (name);
  return *name != '\0' ? g_strdup_printf ("%s (%s)", name, digits) : g_steal_pointer (&digits);
}

char *
lns_display_signed (const char *number)
{
  return *number == '-' ? g_strconcat ("−", number + 1, NULL) : g_strdup (number);
}
