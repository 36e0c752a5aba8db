/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/import/nsys/import-private.h"

static bool
start_cb (void *data, const LnsKeptValue *values)
{
  LnsWriterOptions *options = data;
  options->t0_realtime_ns = _lns_import_number (&values[0]);
  return true;
}

/* Reads when the session started. */
static bool
read_start (LnsImport *import, LnsWriterOptions *options)
{
  static const char *const columns[] = { "utcEpochNs" };
  LnsForeignTable *table = lns_foreign_find (import->foreign, "TARGET_INFO_SESSION_START_TIME");

  return table == NULL ||
         lns_foreign_read (import->foreign, table, columns, 1, LNS_FOREIGN_AS_IT_LIES, start_cb,
                           options, import->error);
}

/* Returns whether the file has a table that nsys writes; fills the error if not. */
static bool
has_known_table (LnsImport *import, const char *path)
{
  unsigned n;
  const LnsImportTable *tables = _lns_import_tables (&n);

  for (unsigned i = 0; i < n; i++)
    if (lns_foreign_find (import->foreign, tables[i].name) != NULL)
      return true;
  return lns_error_set (
      import->error, LNS_ERROR_FORMAT, 0,
      "%s: this SQLite file is neither a report nor an nsys export; give one that "
      "\"nsys export --type sqlite\" wrote",
      path);
}

/* The path that the report and its errors give for the source at PATH. */
static const char *
origin_of (const LnsImport *import, const char *path)
{
  return import->options->origin != NULL ? import->options->origin : path;
}

static bool
open_all (LnsImport *import, const char *path, const char *out_path)
{
  LnsStringTable **maps[] = { &import->launch_ids, &import->track_ids, &import->metrics };
  LnsWriterOptions options = { .overwrite = import->options->overwrite, .is_whole_or_none = true };

  import->foreign =
      lns_foreign_open (path, origin_of (import, path), import->options->cancel, import->error);
  if (import->foreign == NULL || !has_known_table (import, path) || !read_start (import, &options))
    return false;
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
    if ((*maps[i] = lns_string_table_new ()) == NULL)
      lns_out_of_memory ();
  unsigned n;
  const LnsForeignTable *tables = lns_foreign_tables (import->foreign, &n);
  for (unsigned i = 0; i < n && import->options->progress != NULL; i++)
    import->n_total += lns_foreign_estimate (import->foreign, &tables[i]);
  import->writer = lns_writer_create (out_path, &options, import->error);
  return import->writer != NULL;
}

static void
free_all (LnsImport *import)
{
  LnsStringTable *tables[] = { import->texts, import->launch_ids, import->track_ids,
                               import->metrics };
  LnsIdMap *maps[] = { &import->large_strings, &import->process_ids, &import->thread_ids,
                       &import->domain_ids,    &import->device_ids,  &import->context_ids,
                       &import->stream_ids,    &import->leaves,      &import->public_calls };

  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    lns_string_table_free (tables[i]);
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
    lns_id_map_clear (maps[i]);
  lns_array_clear (&import->strings);
  lns_array_clear (&import->processes);
  lns_array_clear (&import->threads);
  lns_array_clear (&import->domains);
  lns_array_clear (&import->devices);
  lns_array_clear (&import->contexts);
  lns_array_clear (&import->streams);
  lns_array_clear (&import->gpus);
  lns_array_clear (&import->tracks);
  lns_buffer_clear (&import->left_out);
  lns_foreign_close (import->foreign);
}

typedef struct
{
  LnsImport *import;
  const LnsImportTable *how;
} Rows;

static bool
row_cb (void *data, const LnsKeptValue *values)
{
  const Rows *rows = data;

  rows->import->n_done++;
  rows->how->row (rows->import, values);
  return _lns_import_look_up (rows->import);
}

static bool
import_table (LnsImport *import, LnsForeignTable *table, const LnsImportTable *how)
{
  Rows rows = { import, how };
  unsigned n_columns = 0;

  if (how->import != NULL)
    return how->import (import, table);
  if (how->row == NULL)
    return _lns_import_events (import, table, how);
  while (how->columns[n_columns] != NULL)
    n_columns++;
  return lns_foreign_read (import->foreign, table, how->columns, n_columns, LNS_FOREIGN_AS_IT_LIES,
                           row_cb, &rows, import->error);
}

/* Imports the tables that the file has, one after the other. */
static bool
import_tables (LnsImport *import)
{
  unsigned n;
  const LnsImportTable *tables = _lns_import_tables (&n);

  for (unsigned i = 0; i < n; i++)
    {
      LnsForeignTable *table = lns_foreign_find (import->foreign, tables[i].name);
      if (table == NULL)
        continue;
      table->is_known = true;
      if (!import_table (import, table, &tables[i]))
        return false;
      _lns_import_end_table (import);
    }
  return true;
}

/* Lists the tables that nothing has read, and the unknown columns of the others, as left out. */
static bool
list_rest (LnsImport *import)
{
  unsigned n;
  LnsForeignTable *tables = lns_foreign_tables (import->foreign, &n);

  for (unsigned i = 0; i < n; i++)
    {
      uint64_t n_rows = 0;
      if (strncasecmp (tables[i].name, "ENUM_", 5) == 0)
        continue;
      if (!lns_foreign_count (import->foreign, &tables[i], &n_rows, import->error))
        return false;
      if (n_rows > 0 && !tables[i].is_known)
        _lns_import_leave_out (import, "%s: %llu %s", tables[i].name, (unsigned long long)n_rows,
                               lns_plural (n_rows, "row", "rows"));
      for (unsigned c = 0; n_rows > 0 && tables[i].is_known && c < tables[i].columns.n; c++)
        if (!tables[i].columns.items[c].is_used)
          _lns_import_leave_out (import, "%s.%s: unknown column", tables[i].name,
                                 tables[i].columns.items[c].name);
    }
  return true;
}

/* Notes in the report that its source could not be read to its end. */
static void
set_missing (LnsImport *import, const char *path)
{
  char sentence[1024];

  snprintf (sentence, sizeof sentence, "what follows in %.700s: %s", origin_of (import, path),
            import->options->complaint);
  lns_writer_set_meta (import->writer, "missing", sentence);
}

bool
lns_import_sqlite (const char *path,
                   const char *out_path,
                   const LnsImportOptions *options,
                   LnsImportResult *ret_result,
                   LnsError *error)
{
  static const LnsImportOptions none = { 0 };
  LnsImport import = { .options = options != NULL ? options : &none, .error = error };
  const bool is_cut_off = import.options->complaint != NULL;

  bool good = open_all (&import, path, out_path) && import_tables (&import) &&
              _lns_import_keep_tables (&import) && list_rest (&import);
  _lns_import_end_table (&import); /* ends the lanes of a table whose import failed */
  for (const char *line = import.options->left_out; good && line != NULL && *line != '\0';)
    {
      const size_t n = strcspn (line, "\n");
      _lns_import_leave_out (&import, "%.*s", (int)n, line);
      line += n + (line[n] == '\n');
    }
  if (good && is_cut_off)
    _lns_import_tell (
        &import, LNS_SEVERITY_WARNING, "LNS-IMPORT-002",
        "the file could not be read to its end; the report has the events before that",
        import.options->complaint);
  lns_buffer_append (&import.left_out, "", 1);
  if (good)
    {
      lns_writer_set_meta (import.writer, "imported_from", origin_of (&import, path));
      if (is_cut_off)
        set_missing (&import, path);
      good =
          lns_writer_finish (import.writer, is_cut_off ? LNS_STATE_RECOVERED : LNS_STATE_COMPLETE,
                             import.end_ns, error);
    }
  else if (import.writer != NULL)
    lns_writer_abandon (import.writer);
  if (good && ret_result != NULL)
    {
      *ret_result =
          (LnsImportResult){ .n_rows = import.n_rows,
                             .n_bad = import.n_bad,
                             .left_out = lns_strdup ((const char *)import.left_out.bytes) };
      if (is_cut_off)
        snprintf (ret_result->complaint, sizeof ret_result->complaint, "%s",
                  import.options->complaint);
    }
  free_all (&import);
  return good;
}
