/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-write.h"

#include <inttypes.h>
#include <string.h>

#define PIECE_BYTES ((gsize)64 << 10)

/* Puts a field that would break the table into quotes, as spreadsheets expect. */
static void
append_field (GString *text, const char *bytes, size_t size_bytes, char separator)
{
  const char special[] = { separator, '\n', '\r', '"', '\0' };
  bool plain = true;
  for (size_t i = 0; i < size_bytes && plain; i++)
    plain = strchr (special, bytes[i]) == NULL || bytes[i] == '\0';
  if (plain)
    {
      g_string_append_len (text, bytes, (gssize)size_bytes);
      return;
    }
  g_string_append_c (text, '"');
  for (size_t i = 0; i < size_bytes; i++)
    {
      if (bytes[i] == '"')
        g_string_append_c (text, '"');
      g_string_append_c (text, bytes[i]);
    }
  g_string_append_c (text, '"');
}

static void
append_name (GString *text, const LnsEventSet *set, uint32_t row, char separator)
{
  size_t size_bytes;
  const char *name = lns_event_set_label_text (set, lns_event_set_label (set, row), &size_bytes);
  append_field (text, name, size_bytes, separator);
}

static void
append_cell (
    GString *text, const LnsEventSet *set, uint32_t row, LnsEventColumn column, char separator)
{
  g_autofree char *cell = NULL;
  const bool is_open = set->flags != NULL && (set->flags[row] & LNS_EVENT_END_UNKNOWN) != 0;
  switch (column)
    {
    case LNS_EVENT_COLUMN_NUMBER:
      g_string_append_printf (text, "%" PRIu64, (uint64_t)row + 1);
      break;
    case LNS_EVENT_COLUMN_NAME:
      append_name (text, set, row, separator);
      break;
    case LNS_EVENT_COLUMN_START:
      g_string_append_printf (text, "%" PRId64, lns_event_set_start (set, row));
      break;
    case LNS_EVENT_COLUMN_DURATION:
      if (!is_open)
        g_string_append_printf (text, "%" PRId64, lns_event_set_duration (set, row));
      break;
    case LNS_EVENT_COLUMN_BYTES:
      if (set->payload_type != NULL && set->payload_type[row] == LNS_EVENT_SET_BYTES)
        g_string_append_printf (text, "%" PRIu64, lns_event_set_payload (set, row));
      break;
    default:
      cell = lns_event_cell_text (set, row, column);
      append_field (text, cell, strlen (cell), separator);
      break;
    }
}

static void
append_titles (GString *text, const LnsEventColumnList *columns, char separator)
{
  for (unsigned i = 0; i < columns->n; i++)
    {
      const LnsEventColumnInfo *info = lns_event_column_info (columns->of[i]);
      if (i > 0)
        g_string_append_c (text, separator);
      g_string_append_printf (text, "%s%s", info->title, info->is_time ? " (ns)" : "");
    }
  g_string_append_c (text, '\n');
}

bool
lns_event_rows_write (const LnsEventRows *rows,
                      const LnsEventColumnList *columns,
                      char separator,
                      GOutputStream *stream,
                      atomic_uint *ret_permille,
                      GCancellable *cancellable,
                      GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  LnsEventRowsWalk walk = { 0 };

  append_titles (text, columns, separator);
  for (uint32_t row; lns_event_rows_next (rows, &walk, &row);)
    {
      for (unsigned i = 0; i < columns->n; i++)
        {
          if (i > 0)
            g_string_append_c (text, separator);
          append_cell (text, rows->set, row, columns->of[i], separator);
        }
      g_string_append_c (text, '\n');
      if (text->len < PIECE_BYTES)
        continue;
      if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
          !g_output_stream_write_all (stream, text->str, text->len, NULL, cancellable, error))
        return false;
      g_string_truncate (text, 0);
      if (ret_permille != NULL)
        atomic_store (ret_permille, (unsigned)((uint64_t)walk.n_done * 1000 / rows->n));
    }
  return !g_cancellable_set_error_if_cancelled (cancellable, error) &&
         g_output_stream_write_all (stream, text->str, text->len, NULL, cancellable, error);
}
