/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/name-match.h"

#include <string.h>

struct _LnsNameMatch
{
  GRegex *regex; /* or NULL: text                                              */
  char *text;    /* what to find: folded if !match_case                        */
  size_t size_bytes;
  bool match_case;
  bool ascii; /* the text has ASCII alone: names are compared byte by byte  */
};

LnsNameMatch *
lns_name_match_new (const char *text, bool regex, bool match_case, GError **error)
{
  g_autoptr (LnsNameMatch) self = g_new0 (LnsNameMatch, 1);
  self->match_case = match_case;
  self->ascii = g_str_is_ascii (text);
  if (regex)
    {
      GRegexCompileFlags flags = G_REGEX_OPTIMIZE | (match_case ? 0 : G_REGEX_CASELESS);
      self->regex = g_regex_new (text, flags, 0, error);
      return self->regex != NULL ? g_steal_pointer (&self) : NULL;
    }
  if (match_case)
    self->text = g_strdup (text);
  else
    self->text = self->ascii ? g_ascii_strdown (text, -1) : g_utf8_casefold (text, -1);
  self->size_bytes = strlen (self->text);
  return g_steal_pointer (&self);
}

void
lns_name_match_free (LnsNameMatch *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->regex, g_regex_unref);
  g_free (self->text);
  g_free (self);
}

/* FOLDED has no capital letters. */
static bool
holds_ascii (const char *bytes, size_t size_bytes, const char *folded, size_t folded_bytes)
{
  if (folded_bytes == 0)
    return true;
  for (size_t i = 0; i + folded_bytes <= size_bytes; i++)
    {
      size_t j = 0;
      while (j < folded_bytes && g_ascii_tolower (bytes[i + j]) == folded[j])
        j++;
      if (j == folded_bytes)
        return true;
    }
  return false;
}

bool
lns_name_match_test (const LnsNameMatch *self, const char *bytes, size_t size_bytes)
{
  if (self->regex == NULL && self->match_case)
    return memmem (bytes, size_bytes, self->text, self->size_bytes) != NULL;
  if (self->regex == NULL && self->ascii)
    return holds_ascii (bytes, size_bytes, self->text, self->size_bytes);

  g_autofree char *replaced =
      g_utf8_validate_len (bytes, size_bytes, NULL) ? NULL : g_utf8_make_valid (bytes, size_bytes);
  const char *valid = replaced != NULL ? replaced : bytes;
  gssize valid_bytes = replaced != NULL ? (gssize)strlen (replaced) : (gssize)size_bytes;
  if (self->regex != NULL)
    return g_regex_match_full (self->regex, valid, valid_bytes, 0, 0, NULL, NULL);
  g_autofree char *folded = g_utf8_casefold (valid, valid_bytes);
  return strstr (folded, self->text) != NULL;
}
