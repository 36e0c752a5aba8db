/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/kept-view.h"

#include <glib/gi18n.h>
#include <jansson.h>

#define VERSION            1
#define MAX_IDENTITY_BYTES 8192
#define MAX_SELECTED       16
#define MAX_LANES          4

static void
free_name (gpointer mark)
{
  g_free (((LnsMark *)mark)->name);
}

LnsKeptView *
lns_kept_view_new (void)
{
  LnsKeptView *self = g_new0 (LnsKeptView, 1);
  self->rows = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->selected = g_array_new (FALSE, FALSE, sizeof (LnsMark));
  self->bookmarks = g_array_new (FALSE, FALSE, sizeof (LnsMark));
  g_array_set_clear_func (self->bookmarks, free_name);
  return self;
}

void
lns_kept_view_free (LnsKeptView *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->rows);
  g_array_unref (self->selected);
  g_array_unref (self->bookmarks);
  g_free (self);
}

LnsKeptRow *
lns_kept_view_row (LnsKeptView *self, const char *identity)
{
  LnsKeptRow *row = g_hash_table_lookup (self->rows, identity);
  if (row != NULL || g_hash_table_size (self->rows) >= LNS_KEPT_MAX_ROWS ||
      strlen (identity) > MAX_IDENTITY_BYTES)
    return row;
  row = g_new0 (LnsKeptRow, 1);
  g_hash_table_insert (self->rows, g_strdup (identity), row);
  return row;
}

/* --- To JSON ------------------------------------------------------------------------------- */

static json_t *
row_to_json (const LnsKeptRow *row)
{
  json_t *json = json_object ();
  if (row->pin > 0)
    json_object_set_new (json, "pinned", json_integer (row->pin));
  if (row->folding != 0)
    json_object_set_new (json, "unfolded", json_boolean (row->folding > 0));
  if (row->is_hidden)
    json_object_set_new (json, "hidden", json_true ());
  if (row->lanes > 0)
    json_object_set_new (json, "height", json_integer (row->lanes));
  if (row->place > 0)
    json_object_set_new (json, "place", json_integer (row->place));
  return json;
}

static json_t *
marks_to_json (const GArray *marks)
{
  json_t *array = json_array ();
  for (guint i = 0; i < marks->len; i++)
    {
      const LnsMark *mark = &g_array_index (marks, LnsMark, i);
      json_t *json = json_object ();
      json_object_set_new (json, "start_ns", json_integer (mark->start_ns));
      json_object_set_new (json, "end_ns", json_integer (mark->end_ns));
      if (mark->name != NULL)
        json_object_set_new (json, "name", json_string (mark->name));
      json_array_append_new (array, json);
    }
  return array;
}

char *
lns_kept_view_to_json (const LnsKeptView *self, gboolean only_rows)
{
  GHashTableIter iter;
  gpointer identity, row;
  json_t *json = json_object (), *rows = json_object ();
  json_object_set_new (json, "version", json_integer (VERSION));
  g_hash_table_iter_init (&iter, self->rows);
  while (g_hash_table_iter_next (&iter, &identity, &row))
    json_object_set_new (rows, identity, row_to_json (row));
  json_object_set_new (json, "rows", rows);
  if (!only_rows && self->has_span)
    json_object_set_new (json, "view",
                         json_pack ("{sIsI}", "start_ns", (json_int_t)self->start_ns, "end_ns",
                                    (json_int_t)self->end_ns));
  if (!only_rows)
    {
      json_object_set_new (json, "selected", marks_to_json (self->selected));
      json_object_set_new (json, "bookmarks", marks_to_json (self->bookmarks));
    }
  char *dumped = json_dumps (json, JSON_INDENT (1) | JSON_SORT_KEYS);
  char *text = g_strdup (dumped);
  free (dumped);
  json_decref (json);
  return text;
}

/* --- From JSON ----------------------------------------------------------------------------- */

/* The whole number KEY of JSON, which is 1 … MOST; 0 if it has none. False if it is something else. */
static gboolean
take_count (json_t *json, const char *key, guint most, guint *ret_count)
{
  json_t *value = json_object_get (json, key);
  *ret_count = 0;
  if (value == NULL)
    return TRUE;
  const json_int_t number = json_integer_value (value);
  if (!json_is_integer (value) || number < 1 || number > (json_int_t)most)
    return FALSE;
  *ret_count = (guint)number;
  return TRUE;
}

static gboolean
take_row (LnsKeptView *self, const char *identity, json_t *json)
{
  LnsKeptRow *row = json_is_object (json) ? lns_kept_view_row (self, identity) : NULL;
  json_t *unfolded = json_object_get (json, "unfolded"), *hidden = json_object_get (json, "hidden");
  if (row == NULL || !take_count (json, "pinned", LNS_KEPT_MAX_ROWS, &row->pin) ||
      !take_count (json, "height", MAX_LANES, &row->lanes) ||
      !take_count (json, "place", G_MAXINT, &row->place) ||
      (unfolded != NULL && !json_is_boolean (unfolded)) ||
      (hidden != NULL && !json_is_boolean (hidden)))
    return FALSE;
  row->folding = unfolded == NULL ? 0 : json_is_true (unfolded) ? 1 : -1;
  row->is_hidden = json_is_true (hidden);
  return TRUE;
}

static gboolean
take_rows (LnsKeptView *self, json_t *json)
{
  const char *identity;
  json_t *row;
  if (!json_is_object (json))
    return json == NULL;
  json_object_foreach (json, identity, row)
  {
    if (!take_row (self, identity, row))
      return FALSE;
  }
  return TRUE;
}

/* The span that JSON has. False if it has none, or one that ends before it starts. */
static gboolean
take_span (json_t *json, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
  json_t *start = json_object_get (json, "start_ns"), *end = json_object_get (json, "end_ns");
  *ret_start_ns = json_integer_value (start);
  *ret_end_ns = json_integer_value (end);
  return json_is_integer (start) && json_is_integer (end) && *ret_start_ns <= *ret_end_ns;
}

/* MARKS gets those of JSON, at most MOST, with their names if NAMED. */
static gboolean
take_marks (GArray *marks, json_t *json, guint most, gboolean named)
{
  gsize i;
  json_t *it;
  if (!json_is_array (json))
    return json == NULL;
  if (json_array_size (json) > most)
    return FALSE;
  json_array_foreach (json, i, it)
  {
    LnsMark mark = { 0 };
    json_t *name = json_object_get (it, "name");
    if (!take_span (it, &mark.start_ns, &mark.end_ns) || (named && !json_is_string (name)) ||
        (named && g_utf8_strlen (json_string_value (name), -1) > LNS_BOOKMARK_MAX_CHARS))
      return FALSE;
    mark.name = named ? g_strdup (json_string_value (name)) : NULL;
    g_array_append_val (marks, mark);
  }
  return TRUE;
}

LnsKeptView *
lns_kept_view_from_json (const char *json, gsize size_bytes, char **ret_problem)
{
  json_error_t error;
  g_autoptr (LnsKeptView) self = lns_kept_view_new ();
  json_t *root = size_bytes <= LNS_KEPT_MAX_BYTES
                     ? json_loadb (json, size_bytes, JSON_REJECT_DUPLICATES, &error)
                     : NULL;
  json_t *version = json_object_get (root, "version"), *view = json_object_get (root, "view");
  self->has_span = view != NULL;
  if (root == NULL || !json_is_integer (version))
    *ret_problem = g_strdup (_ ("it is damaged"));
  else if (json_integer_value (version) != VERSION)
    *ret_problem = g_strdup (_ ("another version of Lanescope wrote it"));
  else if ((view != NULL && !take_span (view, &self->start_ns, &self->end_ns)) ||
           !take_rows (self, json_object_get (root, "rows")) ||
           !take_marks (self->selected, json_object_get (root, "selected"), MAX_SELECTED, FALSE) ||
           !take_marks (self->bookmarks, json_object_get (root, "bookmarks"), LNS_BOOKMARKS_MAX,
                        TRUE))
    *ret_problem = g_strdup (_ ("it is damaged"));
  else
    {
      json_decref (root);
      return g_steal_pointer (&self);
    }
  json_decref (root);
  return NULL;
}
