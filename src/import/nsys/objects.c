/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Defines processes, threads, domains, devices, contexts and streams. Each is defined when the first row needs it, and
 * again when a table says more about it. Also writes diagnostics about the import itself. */

#include "src/import/nsys/import-private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/* Identifies a domain, device or context of a process, or a stream of a context. Numbers of files have 64 bits. A
 * report keeps 32 of those of CUDA's objects, but objects whose numbers differ in the others stay apart. */
typedef struct
{
  LnsDefinitionKind kind;
  uint32_t owner;
  int64_t number;
} Key;

/* Returns the id of the object with NUMBER of OWNER. An object without one gets N, the number of objects of KIND. */
static uint32_t
intern (LnsImport *import, LnsDefinitionKind kind, uint32_t owner, int64_t number, size_t n)
{
  const Key key = { kind, owner, number };

  return lns_string_table_intern (import->object_ids, &key, sizeof key, (uint32_t)n);
}

uint32_t
_lns_import_process (LnsImport *import, int64_t global_id)
{
  const uint64_t key = (uint64_t)global_id >> 24;
  uint32_t id = _lns_import_intern (&import->process_ids, key, import->processes.n);

  if (id < import->processes.n)
    return id;
  const LnsProcess process = { .pid = (int32_t)(key & 0xFFFFFF),
                               .target_pid = (int32_t)(key & 0xFFFFFF),
                               .parent = LNS_ID_NONE,
                               .start_ns = LNS_TIME_UNKNOWN,
                               .end_ns = LNS_TIME_UNKNOWN,
                               .exit_code = -1,
                               .machine = (uint32_t)(key >> 24) };
  *lns_array_add (&import->processes) = process;
  return lns_writer_add_process (import->writer, &process);
}

uint32_t
_lns_import_thread (LnsImport *import, int64_t global_tid)
{
  if (global_tid == import->last_thread_key && import->threads.n > 0)
    return import->last_thread;
  uint32_t id = _lns_import_intern (&import->thread_ids, (uint64_t)global_tid, import->threads.n);

  if (id == import->threads.n)
    {
      const LnsThread thread = { .process = _lns_import_process (import, global_tid),
                                 .tid = (int32_t)(global_tid & 0xFFFFFF),
                                 .target_tid = (int32_t)(global_tid & 0xFFFFFF),
                                 .start_ns = LNS_TIME_UNKNOWN,
                                 .end_ns = LNS_TIME_UNKNOWN };
      *lns_array_add (&import->threads) = thread;
      lns_writer_add_thread (import->writer, &thread);
    }
  import->last_thread_key = global_tid;
  import->last_thread = id;
  return id;
}

uint32_t
_lns_import_domain (LnsImport *import, uint32_t process, int64_t number)
{
  uint32_t id = intern (import, LNS_DEFINITION_DOMAIN, process, number, import->domains.n);

  if (id < import->domains.n)
    return id;
  const LnsDomain domain = { .process = process,
                             .number = (uint64_t)number,
                             .created_ns = LNS_TIME_UNKNOWN,
                             .destroyed_ns = LNS_TIME_UNKNOWN,
                             .thread = LNS_ID_NONE };
  *lns_array_add (&import->domains) = domain;
  return lns_writer_add_domain (import->writer, &domain);
}

/* Describes the GPU with CUDA's NUMBER, as PROCESS sees it. */
static LnsCudaDevice
describe_gpu (const LnsImport *import, uint32_t process, int64_t number)
{
  LnsCudaDevice device = { 0 };

  for (uint32_t i = 0; i < import->gpus.n; i++)
    if (import->gpus.items[i].number == number)
      {
        device = import->gpus.items[i].device;
        break;
      }
  device.process = process;
  device.number = (uint32_t)number;
  return device;
}

uint32_t
_lns_import_device (LnsImport *import, uint32_t process, int64_t number)
{
  uint32_t id = intern (import, LNS_DEFINITION_DEVICE, process, number, import->devices.n);

  if (id < import->devices.n)
    return id;
  const LnsCudaDevice device = describe_gpu (import, process, number);
  *lns_array_add (&import->devices) = device;
  return lns_writer_add_device (import->writer, &device);
}

uint32_t
_lns_import_context (LnsImport *import, uint32_t process, uint32_t device, int64_t number)
{
  /* The key does not contain the device, because files have rows of one context under several devices. */
  uint32_t id = intern (import, LNS_DEFINITION_CONTEXT, process, number, import->contexts.n);

  if (id < import->contexts.n)
    return id;
  const LnsCudaContext context = { .device = device, .number = (uint32_t)number };
  *lns_array_add (&import->contexts) = context;
  return lns_writer_add_context (import->writer, &context);
}

uint32_t
_lns_import_context_device (const LnsImport *import,
                            uint32_t process,
                            int64_t number,
                            uint32_t otherwise)
{
  const Key key = { LNS_DEFINITION_CONTEXT, process, number };
  const uint32_t id = lns_string_table_find (import->object_ids, &key, sizeof key, LNS_ID_NONE);

  return id < import->contexts.n ? import->contexts.items[id].device : otherwise;
}

uint32_t
_lns_import_stream (LnsImport *import, uint32_t context, int64_t number)
{
  uint32_t id = intern (import, LNS_DEFINITION_STREAM, context, number, import->streams.n);

  if (id < import->streams.n)
    return id;
  const LnsCudaStream stream = { .context = context, .number = (uint32_t)number };
  *lns_array_add (&import->streams) = stream;
  return lns_writer_add_stream (import->writer, &stream);
}

uint32_t
_lns_import_launch (LnsImport *import, const LnsCudaLaunch *launch)
{
  uint32_t id =
      lns_string_table_intern (import->launch_ids, launch, sizeof *launch, import->n_launches);

  if (id < import->n_launches)
    return id;
  import->n_launches++;
  return lns_writer_add_launch (import->writer, launch);
}

/* ---- Diagnostics of the import --------------------------------------------------------------- */

void
_lns_import_tell (
    LnsImport *import, LnsSeverity severity, const char *code, const char *what, const char *text)
{
  char *sentence = lns_asprintf ("%s: %s", what, text);
  lns_writer_add_diagnostic (
      import->writer,
      &(LnsDiagnostic){ .code = lns_writer_string (import->writer, code, strlen (code)),
                        .severity = severity,
                        .time_ns = LNS_TIME_UNKNOWN,
                        .process = LNS_ID_NONE,
                        .text = lns_writer_string (import->writer, sentence, strlen (sentence)) });
  free (sentence);
}

void
_lns_import_leave_out (LnsImport *import, const char *format, ...)
{
  char line[512];
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (line, sizeof line - 1, format, arguments);
  va_end (arguments);
  _lns_import_tell (import, LNS_SEVERITY_INFO, "LNS-IMPORT-001", "left out", line);
  strcat (line, "\n");
  lns_buffer_append (&import->left_out, line, strlen (line));
}
