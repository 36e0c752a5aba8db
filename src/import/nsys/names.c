/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Strings, and the names of processes and threads. */

#include "src/import/nsys/import-private.h"

#include <string.h>

#include "src/base/call-text.h"

void
_lns_import_string_row (LnsImport *import, const LnsKeptValue *values)
{
  int64_t id;

  if (!_lns_import_integer (&values[0], &id))
    return;
  const uint32_t text = _lns_import_text (import, &values[1]);
  _lns_import_note_string (import, id, text);
  const char *public = values[1].type == LNS_KEPT_TEXT
                           ? lns_call_text_public (values[1].bytes, values[1].size_bytes)
                           : NULL;
  if (public != NULL)
    _lns_import_intern (&import->public_calls, text,
                        _lns_import_bytes (import, public, strlen (public)));
}

void
_lns_import_process_row (LnsImport *import, const LnsKeptValue *values)
{
  int64_t global_pid;

  if (!_lns_import_integer (&values[0], &global_pid))
    return;
  const uint32_t id = _lns_import_process (import, global_pid);
  LnsProcess *process = &import->processes.items[id];
  process->is_listed = 1;
  process->name = _lns_import_text (import, &values[1]);
  lns_writer_set_process (import->writer, id, process);
}

/* Exports of 2020 do not name processes. Each gets the name of its main thread. */
static void
name_process (LnsImport *import, const LnsThread *thread)
{
  LnsProcess *process = &import->processes.items[thread->process];

  if (process->is_listed || thread->tid != process->pid)
    return;
  process->name = thread->name;
  lns_writer_set_process (import->writer, thread->process, process);
}

void
_lns_import_thread_row (LnsImport *import, const LnsKeptValue *values)
{
  int64_t global_tid, priority;

  if (!_lns_import_integer (&values[0], &global_tid))
    return;
  const uint32_t id = _lns_import_thread (import, global_tid);
  LnsThread *thread = &import->threads.items[id];
  thread->name = _lns_import_string (import, &values[1]);
  thread->listed = _lns_import_integer (&values[2], &priority) ? 2 : 1;
  thread->priority = thread->listed == 2 ? (int32_t)priority : 0;
  lns_writer_set_thread (import->writer, id, thread);
  name_process (import, thread);
}

/* Each process of MPI has rows for several threads; the first one counts. */
void
_lns_import_rank_row (LnsImport *import, const LnsKeptValue *values)
{
  int64_t global_tid, rank;

  if (!_lns_import_integer (&values[0], &global_tid) || !_lns_import_integer (&values[1], &rank) ||
      rank < 0 || rank >= UINT32_MAX)
    return;
  const uint32_t id = _lns_import_process (import, global_tid);
  LnsProcess *process = &import->processes.items[id];
  if (process->mpi_rank != 0)
    return;
  process->mpi_rank = (uint32_t)rank + 1;
  lns_writer_set_process (import->writer, id, process);
}
