/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Threads and their names. A name that the program gave through NVTX comes before the operating system's, which may
 * change as long as the thread lives. */

#include "capture/session/decode/core/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The serial of a thread that was named and has not made an event yet. */
#define NAMED_SERIAL(tid) (UINT64_MAX - UINT32_MAX + (tid))

void
_lns_decoder_write_thread (LnsDecoder *decoder, const LnsDecodedThread *thread, bool anew)
{
  if (decoder->writer == NULL)
    return;
  LnsThread definition = {
    .process = thread->process->id,
    .tid = thread->tid,
    .target_tid = thread->target_tid,
    .name = _lns_decoder_string (decoder, thread->name),
    .start_ns = thread->start_ns,
    .end_ns = thread->end_ns,
    .is_named = thread->is_named,
  };
  if (anew)
    lns_writer_add_thread (decoder->writer, &definition);
  else
    lns_writer_set_thread (decoder->writer, thread->id, &definition);
}

static void
call_thread (LnsDecoder *decoder, LnsDecodedThread *thread, LnsName *name, bool is_named)
{
  lns_name_unref (thread->name);
  thread->name = name;
  thread->is_named = is_named;
  thread->is_of_python = false;
  _lns_decoder_write_thread (decoder, thread, false);
}

static bool
is_text (const LnsName *name, LnsWireText text)
{
  return name != NULL && name->n_bytes == text.n_bytes &&
         memcmp (name->bytes, text.bytes, text.n_bytes) == 0;
}

/* Whether TEXT is what the operating system calls all threads of PROCESS at first. */
static bool
is_of_process (const LnsDecodedProcess *process, LnsWireText text)
{
  const char *name = process->info.name;
  return name != NULL && strlen (name) == text.n_bytes &&
         memcmp (name, text.bytes, text.n_bytes) == 0;
}

void
_lns_decoder_rename_thread (LnsDecoder *decoder, LnsDecodedThread *thread, LnsWireText text)
{
  if (!thread->is_named && text.n_bytes > 0 && !is_text (thread->name, text) &&
      !(thread->is_of_python && is_of_process (thread->process, text)))
    call_thread (decoder, thread, _lns_decoder_name (text), false);
}

void
_lns_decoder_name_thread_of_python (LnsDecoder *decoder, LnsDecodedThread *thread, LnsWireText text)
{
  const LnsName *name = thread->name;
  const bool has_other =
      name != NULL && !thread->is_of_python &&
      !is_of_process (thread->process, (LnsWireText){ name->bytes, name->n_bytes });
  if (thread->is_named || has_other || text.n_bytes == 0 || is_text (name, text))
    return;
  call_thread (decoder, thread, _lns_decoder_name (text), false);
  thread->is_of_python = true;
}

static LnsDecodedThread *
new_thread (LnsDecoder *decoder, LnsDecodedProcess *process, uint64_t serial, uint32_t tid)
{
  LnsDecodedThread *thread = calloc (1, sizeof *thread);
  if (!_lns_decoder_keep (decoder, &decoder->threads, &process->threads, serial, thread))
    return NULL;
  lns_id_map_set (&process->tids, 1 + (uint64_t)tid, thread);
  /* Thread ids are the same in our pid namespace only if the process lives in it. */
  bool same_ids = process->info.pid == process->info.target_pid;
  *thread = (LnsDecodedThread){
    .process = process,
    .id = (uint32_t)decoder->threads.n - 1,
    .serial = serial,
    .tid = same_ids ? (int32_t)tid : 0,
    .target_tid = (int32_t)tid,
    .start_ns = LNS_TIME_UNKNOWN,
    .end_ns = LNS_TIME_UNKNOWN,
  };
  LnsName *named = lns_id_map_get (&process->thread_names, 1 + (uint64_t)tid);
  if (named != NULL)
    {
      thread->name = lns_name_ref (named);
      thread->is_named = true;
    }
  return thread;
}

static bool
has_ended_by (const LnsDecodedThread *thread, int64_t time_ns)
{
  return thread->end_ns != LNS_TIME_UNKNOWN && thread->end_ns < time_ns;
}

LnsDecodedThread *
_lns_decoder_thread (LnsDecoder *decoder,
                     LnsDecodedProcess *process,
                     const LnsWireThread *record,
                     uint64_t ticks)
{
  LnsDecodedThread *thread = lns_id_map_get (&process->threads, record->said.serial);
  if (thread != NULL)
    {
      _lns_decoder_rename_thread (decoder, thread, record->name);
      return thread;
    }
  thread = lns_id_map_take (&process->threads, NAMED_SERIAL (record->said.tid));
  const int64_t time_ns = lns_clock_line_ns (&decoder->clock, ticks);
  if (thread != NULL && has_ended_by (thread, time_ns))
    thread = NULL; /* its tid was used again */
  bool anew = thread == NULL;
  if (anew)
    thread = new_thread (decoder, process, record->said.serial, record->said.tid);
  else if (!lns_id_map_set (&process->threads, record->said.serial, thread))
    thread = NULL;
  if (thread == NULL)
    return NULL;
  thread->serial = record->said.serial;
  /* A thread that was known before its library told of it began earlier. */
  if (anew)
    thread->start_ns = time_ns;
  if (thread->name == NULL)
    thread->name = _lns_decoder_name (record->name);
  _lns_decoder_write_thread (decoder, thread, anew);
  return thread;
}

void
_lns_decoder_see_thread (LnsDecoder *decoder, LnsDecodedThread *thread, int64_t time_ns)
{
  if (thread->start_ns == LNS_TIME_UNKNOWN || time_ns >= thread->start_ns)
    return;
  thread->start_ns = time_ns;
  _lns_decoder_write_thread (decoder, thread, false);
}

LnsDecodedThread *
_lns_decoder_thread_of (LnsDecoder *decoder,
                        LnsDecodedProcess *process,
                        uint32_t tid,
                        int64_t time_ns)
{
  LnsDecodedThread *thread = lns_id_map_get (&process->tids, 1 + (uint64_t)tid);
  if (thread != NULL && !has_ended_by (thread, time_ns))
    {
      _lns_decoder_see_thread (decoder, thread, time_ns);
      return thread;
    }
  thread = new_thread (decoder, process, NAMED_SERIAL (tid), tid);
  if (thread != NULL)
    _lns_decoder_write_thread (decoder, thread, true);
  return thread;
}

void
_lns_decoder_name_thread (LnsDecoder *decoder,
                          LnsDecodedProcess *process,
                          uint32_t tid,
                          LnsName *name)
{
  uint64_t key = 1 + (uint64_t)tid;
  lns_name_unref (lns_id_map_take (&process->thread_names, key));
  if (name == NULL || !lns_id_map_set (&process->thread_names, key, name))
    {
      lns_name_unref (name);
      return;
    }
  bool is_known = false;
  LnsDecodedThread *thread;
  for (size_t at = 0; (thread = lns_id_map_next (&process->threads, &at)) != NULL;)
    if ((uint32_t)thread->target_tid == tid && thread->end_ns == LNS_TIME_UNKNOWN)
      {
        is_known = true;
        call_thread (decoder, thread, lns_name_ref (name), true);
      }
  thread = is_known ? NULL : new_thread (decoder, process, NAMED_SERIAL (tid), tid);
  if (thread != NULL)
    _lns_decoder_write_thread (decoder, thread, true);
}

void
_lns_decoder_end_thread (LnsDecoder *decoder, LnsDecodedThread *thread, int64_t end_ns)
{
  thread->end_ns = end_ns;
  _lns_decoder_write_thread (decoder, thread, false);
}

/* Reads the operating system's name of thread TID of process PID. Returns false if the thread is gone. */
static bool
read_name (int32_t pid, int32_t tid, char ret_name[static 32], LnsWireText *ret_text)
{
  char path[64];
  snprintf (path, sizeof path, "/proc/%d/task/%d/comm", pid, tid);
  FILE *file = fopen (path, "re");
  size_t n = file != NULL ? fread (ret_name, 1, 31, file) : 0;
  if (file != NULL)
    fclose (file);
  if (n > 0 && ret_name[n - 1] == '\n')
    n--;
  *ret_text = (LnsWireText){ ret_name, (uint32_t)n };
  return n > 0;
}

void
lns_decoder_read_thread_names (LnsDecoder *decoder)
{
  for (size_t i = 0; i < decoder->threads.n; i++)
    {
      LnsDecodedThread *thread = decoder->threads.items[i];
      char name[32];
      LnsWireText text;
      if (!thread->is_named && thread->end_ns == LNS_TIME_UNKNOWN && thread->tid != 0 &&
          read_name (thread->process->info.pid, thread->tid, name, &text))
        _lns_decoder_rename_thread (decoder, thread, text);
    }
}
