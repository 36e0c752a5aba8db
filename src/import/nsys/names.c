/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Texts, and what processes and threads are called. */

#include "src/import/nsys/import-private.h"

#include <string.h>

#include "src/base/call-text.h"

static bool
string_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  int64_t id;

  import->n_done++;
  if (!_lns_import_integer (&values[0], &id))
    return true;
  const uint32_t text = _lns_import_text (import, &values[1]);
  _lns_import_note_string (import, id, text);
  const char *public = values[1].type == LNS_KEPT_TEXT
                           ? lns_call_text_public (values[1].bytes, values[1].size_bytes)
                           : NULL;
  if (public != NULL)
    lns_string_table_intern (import->public_calls, &text, sizeof text,
                             _lns_import_bytes (import, public, strlen (public)));
  return _lns_import_look_up (import);
}

bool
_lns_import_string_ids (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "id", "value" };
  return lns_foreign_read (import->foreign, table, columns, 2, LNS_FOREIGN_AS_IT_LIES, string_cb,
                           import, import->error);
}

static bool
process_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  int64_t global_pid;

  import->n_done++;
  if (!_lns_import_integer (&values[0], &global_pid))
    return true;
  uint32_t id = _lns_import_process (import, global_pid);
  if (id < import->n_processes)
    {
      import->process_list[id].is_listed = 1;
      import->process_list[id].name = _lns_import_text (import, &values[1]);
      lns_writer_set_process (import->writer, id, &import->process_list[id]);
    }
  return true;
}

bool
_lns_import_process_names (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "globalPid", "name", "pid" };
  return lns_foreign_read (import->foreign, table, columns, 3, LNS_FOREIGN_AS_IT_LIES, process_cb,
                           import, import->error);
}

/* Exports of 2020 do not name processes: theirs are called as their main threads. */
static void
name_process (LnsImport *import, const LnsThread *thread)
{
  LnsProcess *process =
      thread->process < import->n_processes ? &import->process_list[thread->process] : NULL;

  if (process == NULL || process->is_listed || thread->tid != process->pid)
    return;
  process->name = thread->name;
  lns_writer_set_process (import->writer, thread->process, process);
}

static bool
thread_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  int64_t global_tid, priority;

  import->n_done++;
  if (!_lns_import_integer (&values[0], &global_tid))
    return true;
  uint32_t id = _lns_import_thread (import, global_tid);
  if (id < import->n_threads)
    {
      LnsThread *thread = &import->thread_list[id];
      thread->name = _lns_import_string (import, &values[1]);
      thread->listed = _lns_import_integer (&values[2], &priority) ? 2 : 1;
      thread->priority = thread->listed == 2 ? (int32_t)priority : 0;
      lns_writer_set_thread (import->writer, id, thread);
      name_process (import, thread);
    }
  return true;
}

bool
_lns_import_thread_names (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "globalTid", "nameId", "priority" };
  return lns_foreign_read (import->foreign, table, columns, 3, LNS_FOREIGN_AS_IT_LIES, thread_cb,
                           import, import->error);
}

/* A row for a thread of each process of MPI; the first one counts. */
static bool
rank_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  int64_t global_tid, rank;

  import->n_done++;
  if (!_lns_import_integer (&values[0], &global_tid) || !_lns_import_integer (&values[1], &rank) ||
      rank < 0 || rank >= UINT32_MAX)
    return true;
  uint32_t id = _lns_import_process (import, global_tid);
  if (id < import->n_processes && import->process_list[id].mpi_rank == 0)
    {
      import->process_list[id].mpi_rank = (uint32_t)rank + 1;
      lns_writer_set_process (import->writer, id, &import->process_list[id]);
    }
  return true;
}

bool
_lns_import_mpi_ranks (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "globalTid", "rank" };
  return lns_foreign_read (import->foreign, table, columns, 2, LNS_FOREIGN_AS_IT_LIES, rank_cb,
                           import, import->error);
}
