/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cpu/cpu.h"
#include "capture/session/decode/core/source.h"
#include "capture/session/decode/cpu/callers.h"
#include "capture/session/decode/cpu/chains.h"
#include "capture/session/decode/cpu/system-calls.h"
#include "capture/wire/call-chains.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/write/kept-table.h"

/* ENUM_SAMPLING_THREAD_STATE */
enum
{
  STATE_UNKNOWN = 0,
  STATE_RUNNING = 1,
  STATE_INTERRUPTIBLE = 2,
  STATE_UNINTERRUPTIBLE = 3,
  STATE_STOPPED = 4,
  STATE_TERMINATED = 5,
  STATE_UNSCHEDULED = 6, /* it could run, but has no CPU */
  STATE_WAITING = 7,     /* for what is not known */
};

/* What a thread does after each LnsCpuSwitch but LNS_CPU_IN. */
static const uint8_t states_after[] = {
  [LNS_CPU_OUT] = STATE_WAITING,
  [LNS_CPU_PREEMPTED] = STATE_UNSCHEDULED,
  [LNS_CPU_OUT_INTERRUPTIBLE] = STATE_INTERRUPTIBLE,
  [LNS_CPU_OUT_UNINTERRUPTIBLE] = STATE_UNINTERRUPTIBLE,
  [LNS_CPU_OUT_STOPPED] = STATE_STOPPED,
};

typedef struct
{
  LnsDecodedThread *thread;
  uint32_t tid;
  LnsReportRef sched_track, sched_lane, sample_track, sample_lane;
  bool is_known; /* it does what its last switch told; else nothing is known */
  bool is_running;
  int64_t
      since_ns; /* report time of its last switch: since then it runs on `cpu`, or has left it */
  uint32_t cpu;
  bool is_woken;    /* since it left its CPU */
  int64_t woken_ns; /* report time */
  int64_t waker;    /* globalTid of the thread that did it, or 0: an interrupt */
  uint64_t wait;    /* LNS_COLUMN_REMAINDER of its stretch on `cpu`, in report `wait_report` */
  uint32_t wait_report;
  LnsName *name, *label; /* "name (tid)" for a name of the thread; NULL until it is needed */
  LnsSystemCalls calls;
} Thread;

/* A CPU of the machine. */
typedef struct
{
  LnsReportRef track, lane;
  Thread *thread; /* that runs there; NULL: none, or one that is not recorded */
} Cpu;

typedef struct
{
  uint32_t id;
  LnsCpuMap map;
  LnsCpuCode code;
  bool has_ended;   /* the kernel told of its end */
  LnsIdMap threads; /* Thread by 1 + tid */
} Process;

typedef struct
{
  LnsIdMap processes; /* Process by 1 + id: those that have not ended */
  LnsIdMap by_tid;    /* Thread by 1 + the kernel's tid: the last one that had it */
  LnsIdMap cpus;      /* Cpu by 1 + number */
  LnsCpuTree tree;
  LnsUnwinder *unwinder;    /* of stacks that programs tell of; NULL: none yet */
  LnsKeptTableMaker *waits; /* what ended the waits of threads; NULL: none yet */
  LnsSystemCallNames call_names;
} Session;

/* --- Processes and threads -------------------------------------------------------------------- */

static Process *
process_of (LnsDecoder *decoder, uint32_t id)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  Process *process = lns_id_map_get (&session->processes, 1 + (uint64_t)id);
  if (process != NULL || id >= decoder->processes.n)
    return process;
  process = calloc (1, sizeof *process);
  if (!_lns_decoder_keep (decoder, NULL, &session->processes, 1 + (uint64_t)id, process))
    return NULL;
  process->id = id;
  return process;
}

/* The thread of HEAD; NULL if memory is short. */
static Thread *
thread_of (LnsDecoder *decoder, Process *process, const LnsCpuHead *head, int64_t time_ns)
{
  Thread *thread = lns_id_map_get (&process->threads, 1 + (uint64_t)head->tid);
  if (thread != NULL)
    return thread;
  LnsDecodedThread *decoded =
      _lns_decoder_thread_of (decoder, decoder->processes.items[process->id], head->tid, time_ns);
  thread = decoded != NULL ? calloc (1, sizeof *thread) : NULL;
  if (!_lns_decoder_keep (decoder, NULL, &process->threads, 1 + (uint64_t)head->tid, thread))
    return NULL;
  thread->thread = decoded;
  thread->tid = head->tid;
  Session *session = decoder->state[LNS_SOURCE_CPU];
  /* In another pid namespace it is not the kernel's. */
  if (decoded->process->info.pid == decoded->process->info.target_pid)
    lns_id_map_set (&session->by_tid, 1 + (uint64_t)head->tid, thread);
  return thread;
}

static void
free_thread (Session *session, Thread *thread)
{
  Cpu *cpu = lns_id_map_get (&session->cpus, 1 + (uint64_t)thread->cpu);
  if (cpu != NULL && cpu->thread == thread)
    cpu->thread = NULL;
  lns_name_unref (thread->label);
  lns_name_unref (thread->name);
  if (lns_id_map_get (&session->by_tid, 1 + (uint64_t)thread->tid) == thread)
    lns_id_map_take (&session->by_tid, 1 + (uint64_t)thread->tid);
  free (thread);
}

static uint32_t
lane_of (LnsDecoder *decoder,
         const Thread *thread,
         LnsReportRef *track,
         LnsReportRef *lane,
         LnsTrackKind kind,
         LnsLaneKind lane_kind)
{
  const LnsTrack definition = { .kind = kind,
                                .process = thread->thread->process->id,
                                .thread = thread->thread->id,
                                .domain = LNS_ID_NONE,
                                .device = LNS_ID_NONE,
                                .stream = LNS_ID_NONE };
  if (lane->report != decoder->report)
    _lns_decoder_lane (decoder, lane, _lns_decoder_track (decoder, track, &definition), 0,
                       lane_kind);
  return lane->id;
}

/* --- Scheduling ------------------------------------------------------------------------------- */

static void
set (LnsDecoder *decoder, LnsLaneKind kind, LnsEvent *event, LnsColumnId column, uint64_t value)
{
  event->extra[decoder->extra[kind][column]] = value;
}

static uint32_t
sched_lane (LnsDecoder *decoder, Thread *thread)
{
  return lane_of (decoder, thread, &thread->sched_track, &thread->sched_lane, LNS_TRACK_SCHED,
                  LNS_LANE_SCHED);
}

static uint32_t
cpu_lane (LnsDecoder *decoder, Cpu *cpu, uint32_t number)
{
  const LnsTrack definition = { .kind = LNS_TRACK_CPU,
                                .process = LNS_ID_NONE,
                                .thread = LNS_ID_NONE,
                                .domain = LNS_ID_NONE,
                                .device = LNS_ID_NONE,
                                .stream = LNS_ID_NONE,
                                .number = number };
  if (cpu->lane.report != decoder->report)
    _lns_decoder_lane (decoder, &cpu->lane, _lns_decoder_track (decoder, &cpu->track, &definition),
                       0, LNS_LANE_CPU_RUN);
  return cpu->lane.id;
}

/* What an event of a CPU is called, as rows of threads are. NULL if memory is short. */
static LnsName *
label_of (Thread *thread)
{
  const LnsDecodedThread *it = thread->thread;
  if (thread->label != NULL && thread->name == it->name)
    return thread->label;
  lns_name_unref (thread->label);
  lns_name_unref (thread->name);
  thread->name = lns_name_ref (it->name);
  char tail[32];
  const int n_tail = snprintf (tail, sizeof tail, "%s(%d)", it->name != NULL ? " " : "",
                               it->tid != 0 ? it->tid : it->target_tid);
  const uint32_t n = it->name != NULL ? it->name->n_bytes : 0;
  thread->label = lns_name_alloc (n + (uint32_t)n_tail);
  if (thread->label != NULL && n > 0)
    memcpy (thread->label->bytes, it->name->bytes, n);
  if (thread->label != NULL)
    memcpy (thread->label->bytes + n, tail, (size_t)n_tail);
  return thread->label;
}

/* The stretch for which THREAD runs, from its start in the report on; its duration is 0. */
static LnsEvent
stretch (const LnsDecoder *decoder, const Thread *thread)
{
  LnsEvent event = { .start_ns = thread->since_ns };
  if (event.start_ns < decoder->report_start_ns)
    {
      event.start_ns = decoder->report_start_ns;
      event.flags |= LNS_EVENT_OPEN_START;
    }
  return event;
}

/* The same, as its CPU has it. */
static LnsEvent
run_on_cpu (LnsDecoder *decoder, Thread *thread)
{
  LnsEvent event = stretch (decoder, thread);
  event.name = _lns_decoder_string (decoder, label_of (thread));
  set (decoder, LNS_LANE_CPU_RUN, &event, LNS_COLUMN_THREAD, thread->thread->id);
  return event;
}

/* The same, as it has it itself. */
static LnsEvent
running (LnsDecoder *decoder, const Thread *thread)
{
  LnsEvent event = stretch (decoder, thread);
  set (decoder, LNS_LANE_SCHED, &event, LNS_COLUMN_CPU, thread->cpu);
  set (decoder, LNS_LANE_SCHED, &event, LNS_COLUMN_SCHED_IN, 1);
  set (decoder, LNS_LANE_SCHED, &event, LNS_COLUMN_THREAD_STATE, STATE_RUNNING);
  if (thread->wait_report == decoder->report)
    set (decoder, LNS_LANE_SCHED, &event, LNS_COLUMN_REMAINDER, thread->wait);
  return event;
}

/* The LNS_COLUMN_REMAINDER of a stretch of THREAD that begins at TIME_NS: which thread woke it, if it is one of the program,
 * and how long it then waited for a CPU. 0: that is not known. */
static uint64_t
wait_of (LnsDecoder *decoder, const Thread *thread, int64_t time_ns)
{
  static const LnsKeptColumn columns[] = { { "wakerTid", "INTEGER", false },
                                           { "wakeLatency", "INTEGER", false } };
  Session *session = decoder->state[LNS_SOURCE_CPU];
  if (!thread->is_woken || thread->woken_ns > time_ns)
    return 0;
  if (session->waits == NULL)
    session->waits = lns_kept_table_maker_new (decoder->writer, "SCHED_EVENTS", columns, 2, true);
  const LnsKeptValue values[] = {
    { .type = thread->waker != 0 ? LNS_KEPT_INTEGER : LNS_KEPT_NULL, .integer = thread->waker },
    { .type = LNS_KEPT_INTEGER, .integer = time_ns - thread->woken_ns }
  };
  return session->waits != NULL ? lns_kept_table_maker_remainder (session->waits, values) : 0;
}

/* Appends EVENT, which ends at TIME_NS, with FLAGS. */
static void
append (LnsDecoder *decoder, uint32_t lane, LnsEvent event, int64_t time_ns, uint32_t flags)
{
  event.flags |= flags;
  if ((flags & LNS_EVENT_END_UNKNOWN) == 0 && time_ns > event.start_ns)
    event.duration_ns = time_ns - event.start_ns;
  _lns_decoder_append (decoder, lane, &event);
  decoder->counters.n_cpu_events++;
}

/* The CPU that THREAD has; NULL: none. */
static Cpu *
cpu_of (LnsDecoder *decoder, const Thread *thread)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  Cpu *cpu = thread->is_running ? lns_id_map_get (&session->cpus, 1 + (uint64_t)thread->cpu) : NULL;
  return cpu != NULL && cpu->thread == thread ? cpu : NULL;
}

/* Ends the stretch for which THREAD had its CPU, as far as the CPU tells of it. */
static void
end_on_cpu (LnsDecoder *decoder, Thread *thread, int64_t time_ns, uint32_t flags)
{
  Cpu *cpu = cpu_of (decoder, thread);
  if (cpu != NULL && decoder->writer != NULL && time_ns >= decoder->report_start_ns)
    append (decoder, cpu_lane (decoder, cpu, thread->cpu), run_on_cpu (decoder, thread), time_ns,
            flags);
}

/* Gives THREAD its CPU. Whoever had it left it at some time that nobody told. */
static void
take_cpu (LnsDecoder *decoder, Thread *thread, int64_t time_ns)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  const uint64_t key = 1 + (uint64_t)thread->cpu;
  Cpu *cpu = lns_id_map_get (&session->cpus, key);
  if (cpu == NULL)
    {
      cpu = calloc (1, sizeof *cpu);
      if (!_lns_decoder_keep (decoder, NULL, &session->cpus, key, cpu))
        return;
    }
  if (cpu->thread != NULL && cpu->thread != thread)
    end_on_cpu (decoder, cpu->thread, time_ns, LNS_EVENT_END_UNKNOWN);
  cpu->thread = thread;
  if (decoder->writer == NULL)
    return;
  const LnsEvent event = run_on_cpu (decoder, thread);
  _lns_decoder_set_open (decoder, cpu_lane (decoder, cpu, thread->cpu), &event);
}

/* Notes that THREAD runs on CPU since TIME_NS. */
static void
get_cpu (LnsDecoder *decoder, Thread *thread, uint32_t cpu, int64_t time_ns)
{
  thread->is_known = thread->is_running = true;
  thread->since_ns = time_ns;
  thread->cpu = cpu;
  take_cpu (decoder, thread, time_ns);
  if (decoder->writer == NULL)
    return;
  thread->wait = wait_of (decoder, thread, time_ns);
  thread->wait_report = decoder->report;
  thread->is_woken = false;
  const LnsEvent event = running (decoder, thread);
  _lns_decoder_set_open (decoder, sched_lane (decoder, thread), &event);
}

/* Ends the stretch for which THREAD ran at TIME_NS, with FLAGS. */
static void
end_running (LnsDecoder *decoder, Thread *thread, int64_t time_ns, uint32_t flags)
{
  if (thread->is_running && decoder->writer != NULL && time_ns >= decoder->report_start_ns)
    append (decoder, sched_lane (decoder, thread), running (decoder, thread), time_ns, flags);
  end_on_cpu (decoder, thread, time_ns, flags);
}

/* Notes that it is not known, or not true any more, that THREAD runs. */
static void
lose_cpu (LnsDecoder *decoder, Thread *thread)
{
  Cpu *cpu = cpu_of (decoder, thread);
  if (cpu != NULL)
    cpu->thread = NULL;
  thread->is_running = false;
}

/* Adds that THREAD left its CPU at TIME_NS, for STATE, with FLAGS. */
static void
append_leaving (
    LnsDecoder *decoder, Thread *thread, int64_t time_ns, uint64_t state, uint32_t flags)
{
  LnsEvent event = { .start_ns = time_ns, .flags = flags };
  set (decoder, LNS_LANE_SCHED, &event, LNS_COLUMN_CPU, thread->cpu);
  set (decoder, LNS_LANE_SCHED, &event, LNS_COLUMN_THREAD_STATE, state);
  _lns_decoder_append (decoder, sched_lane (decoder, thread), &event);
  decoder->counters.n_cpu_events++;
}

/* Notes that THREAD left its CPU at TIME_NS, for STATE. */
static void
leave_cpu (LnsDecoder *decoder, Thread *thread, uint32_t cpu, int64_t time_ns, uint64_t state)
{
  end_running (decoder, thread, time_ns, 0);
  lose_cpu (decoder, thread);
  thread->is_known = true;
  thread->is_woken = false;
  thread->since_ns = time_ns;
  thread->cpu = cpu;
  if (decoder->writer != NULL && time_ns >= decoder->report_start_ns)
    append_leaving (decoder, thread, time_ns, state, 0);
}

static void
play_switch (LnsDecoder *decoder, Thread *thread, const LnsCpuHead *head, int64_t time_ns)
{
  if (head->value != LNS_CPU_IN)
    leave_cpu (decoder, thread, head->cpu, time_ns, states_after[head->value]);
  else
    {
      end_running (decoder, thread, time_ns, LNS_EVENT_END_UNKNOWN);
      lose_cpu (decoder, thread);
      get_cpu (decoder, thread, head->cpu, time_ns);
    }
}

/* Ends what is known of THREAD at KNOWN_NS: from then on it runs, waits, or has been woken. */
static void
forget_thread (LnsDecoder *decoder, Thread *thread, int64_t known_ns)
{
  const int64_t end_ns = known_ns > thread->since_ns ? known_ns : thread->since_ns;
  end_running (decoder, thread, end_ns,
               known_ns > thread->since_ns ? LNS_EVENT_OPEN_END : LNS_EVENT_END_UNKNOWN);
  if (thread->is_known && decoder->writer != NULL && end_ns >= decoder->report_start_ns &&
      thread->sched_lane.report == decoder->report)
    append_leaving (decoder, thread, end_ns, STATE_UNKNOWN, LNS_EVENT_END_UNKNOWN);
  lose_cpu (decoder, thread);
  thread->is_known = thread->is_woken = false;
}

/* Ends what is known of all threads at KNOWN_NS, and of their system calls: those that go on are in the report if IS_PAUSE. */
static void
forget_threads (LnsDecoder *decoder, int64_t known_ns, bool is_pause)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  Process *process;
  Thread *thread;
  for (size_t i = 0; (process = lns_id_map_next (&session->processes, &i)) != NULL;)
    for (size_t at = 0; (thread = lns_id_map_next (&process->threads, &at)) != NULL;)
      {
        forget_thread (decoder, thread, known_ns);
        if (is_pause)
          _lns_system_call_cut (decoder, &session->call_names, thread->thread, &thread->calls,
                                known_ns);
        _lns_system_call_forget (decoder, &thread->calls);
      }
}

/* --- Records ---------------------------------------------------------------------------------- */

static void
play_sample (
    LnsDecoder *decoder, Process *process, Thread *thread, const LnsCpuHead *head, int64_t time_ns)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  if (decoder->writer == NULL || time_ns < decoder->report_start_ns)
    return;
  const uint32_t node =
      _lns_cpu_tree_node (&session->tree, decoder, &process->map, (const uint64_t *)(head + 1),
                          head->n_words - sizeof *head / sizeof (uint64_t), LNS_ID_NONE);
  LnsEvent event = { .start_ns = time_ns };
  set (decoder, LNS_LANE_CPU_SAMPLE, &event, LNS_COLUMN_CPU, head->cpu);
  set (decoder, LNS_LANE_CPU_SAMPLE, &event, LNS_COLUMN_THREAD_STATE, STATE_RUNNING);
  set (decoder, LNS_LANE_CPU_SAMPLE, &event, LNS_COLUMN_CYCLES, head->value);
  set (decoder, LNS_LANE_CPU_SAMPLE, &event, LNS_COLUMN_CALL_CHAIN,
       node != LNS_ID_NONE ? 1 + (uint64_t)node : 0);
  _lns_decoder_append (decoder,
                       lane_of (decoder, thread, &thread->sample_track, &thread->sample_lane,
                                LNS_TRACK_CPU_SAMPLES, LNS_LANE_CPU_SAMPLE),
                       &event);
  decoder->counters.n_cpu_events++;
}

/* A thread that was woken more than once before it ran was woken by the first that did. */
static void
play_waking (LnsDecoder *decoder, const Thread *waker, const LnsCpuHead *head, int64_t time_ns)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  Thread *thread = lns_id_map_get (&session->by_tid, 1 + (head->value & UINT32_MAX));
  if (thread == NULL || thread->is_running || thread->is_woken)
    return;
  const LnsDecodedThread *by = waker->thread;
  thread->is_woken = true;
  thread->woken_ns = time_ns;
  thread->waker =
      head->value & LNS_CPU_BY_INTERRUPT
          ? 0
          : (int64_t)(by->process->info.pid & 0xffffff) << 24 | (by->target_tid & 0xffffff);
}

static void
play_fork (
    LnsDecoder *decoder, Process *process, Thread *thread, const LnsCpuHead *head, int64_t time_ns)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  const Process *parent =
      head->value != 0 ? lns_id_map_get (&session->processes, head->value) : NULL;
  if (parent != NULL && parent != process && process->map.n == 0)
    _lns_cpu_map_inherit (&process->map, &parent->map);
  if (thread->thread->start_ns == LNS_TIME_UNKNOWN || thread->thread->start_ns > time_ns)
    {
      thread->thread->start_ns = time_ns;
      _lns_decoder_write_thread (decoder, thread->thread, false);
    }
}

static void
play_name (
    LnsDecoder *decoder, Process *process, Thread *thread, const LnsCpuHead *head, int64_t time_ns)
{
  const char *name = (const char *)(head + 1);
  const size_t n = strnlen (name, head->n_words * sizeof (uint64_t) - sizeof *head);
  _lns_decoder_rename_thread (decoder, thread->thread, (LnsWireText){ name, (uint32_t)n });
  if (head->value == LNS_CPU_SAME_PROGRAM)
    return;
  _lns_cpu_map_clear (&process->map);
  process->code.n_changes++;
  /* Events begin with the program, which runs on some CPU; later ones tell when it left that. */
  if (head->value == LNS_CPU_NEW_PROGRAM_RUNS && !thread->is_running)
    get_cpu (decoder, thread, head->cpu, time_ns);
}

static void
play_call (LnsDecoder *decoder, Thread *thread, const LnsCpuHead *head, int64_t time_ns)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  int64_t result;
  if (head->kind == LNS_CPU_SYSCALL_ENTER)
    {
      _lns_system_call_enter (decoder, &thread->calls, head->value, time_ns);
      return;
    }
  memcpy (&result, head + 1, sizeof result);
  _lns_system_call_exit (decoder, &session->call_names, thread->thread, &thread->calls,
                         (uint32_t)head->value, result, time_ns);
}

static void
close_lane (LnsDecoder *decoder, const LnsReportRef *lane)
{
  if (decoder->writer != NULL && lane->report == decoder->report)
    _lns_decoder_close_lane (decoder, lane->id);
}

static void
free_process (Session *session, Process *process)
{
  Thread *thread;
  for (size_t at = 0; (thread = lns_id_map_next (&process->threads, &at)) != NULL;)
    free_thread (session, thread);
  lns_id_map_clear (&process->threads);
  _lns_cpu_map_clear (&process->map);
  _lns_callers_clear (&process->code);
  free (process);
}

/* Of THREAD, nothing more comes: it has ended, or is untold. */
static void
play_exit (
    LnsDecoder *decoder, Process *process, Thread *thread, const LnsCpuHead *head, int64_t time_ns)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  if (head->kind == LNS_CPU_UNTOLD)
    {
      end_running (decoder, thread, time_ns, LNS_EVENT_END_UNKNOWN);
      lose_cpu (decoder, thread);
    }
  else if (thread->is_running)
    leave_cpu (decoder, thread, thread->cpu, time_ns, STATE_TERMINATED);
  if (head->kind == LNS_CPU_EXIT && thread->thread->end_ns == LNS_TIME_UNKNOWN)
    _lns_decoder_end_thread (decoder, thread->thread, time_ns);
  close_lane (decoder, &thread->sched_lane);
  close_lane (decoder, &thread->sample_lane);
  _lns_system_call_forget (decoder, &thread->calls); /* it does not return */
  close_lane (decoder, &thread->calls.lane);
  lns_id_map_take (&process->threads, 1 + (uint64_t)head->tid);
  free_thread (session, thread);
  /* The last call chains of a process that has joined come later. */
  const LnsDecodedProcess *decoded = decoder->processes.items[process->id];
  process->has_ended |= head->value != 0;
  if (head->value != 0 && !decoded->has_state)
    free_process (session, lns_id_map_take (&session->processes, 1 + (uint64_t)process->id));
}

static void
play_lost (LnsDecoder *decoder, const LnsCpuHead *head, int64_t time_ns)
{
  int64_t from_ns;
  memcpy (&from_ns, head + 1, sizeof from_ns);
  from_ns -= decoder->clock.t0_ns;
  /* Without a record before them, or without memory, records are missing since a time that is not known. */
  forget_threads (decoder, from_ns < time_ns ? from_ns : INT64_MIN, false);
  if (decoder->writer == NULL || time_ns < decoder->report_start_ns || decoder->processes.n == 0)
    return;
  const LnsLoss loss = { .process = head->process < decoder->processes.n ? head->process : 0,
                         .thread = LNS_ID_NONE,
                         .first_ns = from_ns > decoder->report_start_ns ? from_ns
                                                                        : decoder->report_start_ns,
                         .last_ns = time_ns,
                         .others = head->value };
  lns_writer_add_loss (decoder->writer, &loss);
  decoder->counters.n_cpu_lost += head->value;
}

static void
play (LnsDecoder *decoder, const LnsCpuHead *head)
{
  const int64_t time_ns = head->time_ns - decoder->clock.t0_ns;
  if (head->kind == LNS_CPU_LOST || head->kind == LNS_CPU_PAUSE)
    {
      if (head->kind == LNS_CPU_LOST)
        play_lost (decoder, head, time_ns);
      else
        forget_threads (decoder, time_ns, true);
      return;
    }
  Process *process = process_of (decoder, head->process);
  if (process == NULL)
    return;
  if (head->kind == LNS_CPU_MAP)
    {
      _lns_cpu_map_add (&process->map, (const LnsCpuMapping *)head);
      process->code.n_changes++;
      return;
    }
  Thread *thread = thread_of (decoder, process, head, time_ns);
  if (thread == NULL)
    return;
  switch ((LnsCpuKind)head->kind)
    {
    case LNS_CPU_SAMPLE:
      play_sample (decoder, process, thread, head, time_ns);
      break;
    case LNS_CPU_WAKING:
      play_waking (decoder, thread, head, time_ns);
      break;
    case LNS_CPU_SWITCH:
      play_switch (decoder, thread, head, time_ns);
      break;
    case LNS_CPU_SYSCALL_ENTER:
    case LNS_CPU_SYSCALL_EXIT:
      play_call (decoder, thread, head, time_ns);
      break;
    case LNS_CPU_FORK:
      play_fork (decoder, process, thread, head, time_ns);
      break;
    case LNS_CPU_NAME:
      play_name (decoder, process, thread, head, time_ns);
      break;
    case LNS_CPU_EXIT:
    case LNS_CPU_UNTOLD:
      play_exit (decoder, process, thread, head, time_ns);
      break;
    default:
      break;
    }
}

size_t
lns_decoder_take_cpu (LnsDecoder *decoder, const uint8_t *bytes, size_t n_bytes, int64_t until_ns)
{
  size_t at = 0;
  while (at < n_bytes)
    {
      const LnsCpuHead *head = (const LnsCpuHead *)(bytes + at);
      if (head->time_ns > until_ns)
        break;
      play (decoder, head);
      at += head->n_words * sizeof (uint64_t);
    }
  return at;
}

/* --- What the program itself tells ------------------------------------------------------------ */

static void
play_record (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  Process *process = process_of (decoder, stream->process->id);
  if (process == NULL || record->type != LNS_WIRE_CALL_CHAIN)
    return;
  if (session->unwinder == NULL && lns_machine_here () != NULL)
    session->unwinder = lns_unwinder_new (lns_machine_here ());
  _lns_callers_play (decoder, stream, record, &session->tree, session->unwinder, &process->map,
                     &process->code);
}

static void
define (LnsDecoder *decoder, LnsDecodedProcess *decoded, const LnsWireRecord *record)
{
  Process *process = process_of (decoder, decoded->id);
  if (process != NULL && record->type != LNS_WIRE_CALL_CHAIN)
    _lns_callers_define (decoder, decoded, record, &process->map, &process->code);
}

static void
end_process (LnsDecoder *decoder, LnsDecodedProcess *decoded, int64_t end_ns)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  Process *process = lns_id_map_get (&session->processes, 1 + (uint64_t)decoded->id);
  /* Of the others, the kernel is still to tell of the end. */
  if (process != NULL && (process->has_ended || process->threads.n == 0))
    free_process (session, lns_id_map_take (&session->processes, 1 + (uint64_t)decoded->id));
  _lns_call_nodes_clear (&decoded->call_nodes);
}

/* --- Reports ---------------------------------------------------------------------------------- */

static void
show_calls (LnsDecoder *decoder)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  Process *process;
  Thread *thread;
  for (size_t i = 0; (process = lns_id_map_next (&session->processes, &i)) != NULL;)
    for (size_t at = 0; (thread = lns_id_map_next (&process->threads, &at)) != NULL;)
      _lns_system_call_show (decoder, &session->call_names, thread->thread, &thread->calls);
}

/* Threads that run are in the report up to its end, and in the next one from its start. So are system calls. */
static void
stop_report (LnsDecoder *decoder)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  Process *process;
  Thread *thread;
  for (size_t i = 0; (process = lns_id_map_next (&session->processes, &i)) != NULL;)
    for (size_t at = 0; (thread = lns_id_map_next (&process->threads, &at)) != NULL;)
      {
        end_running (decoder, thread, decoder->report_end_ns, LNS_EVENT_OPEN_END);
        _lns_system_call_cut (decoder, &session->call_names, thread->thread, &thread->calls,
                              decoder->report_end_ns);
      }
  lns_kept_table_maker_free (session->waits);
  session->waits = NULL;
}

static void
free_session (LnsDecoder *decoder)
{
  Session *session = decoder->state[LNS_SOURCE_CPU];
  Process *process;
  for (size_t i = 0; (process = lns_id_map_next (&session->processes, &i)) != NULL;)
    free_process (session, process);
  lns_id_map_clear (&session->processes);
  lns_id_map_clear (&session->by_tid);
  Cpu *cpu;
  for (size_t i = 0; (cpu = lns_id_map_next (&session->cpus, &i)) != NULL;)
    free (cpu);
  lns_id_map_clear (&session->cpus);
  _lns_cpu_tree_clear (&session->tree);
  lns_unwinder_free (session->unwinder);
}

const LnsDecoderOps _lns_cpu_ops = {
  .types = { { LNS_WIRE_CALL_CHAIN, LNS_WIRE_CALL_CHAIN },
             { LNS_WIRE_CODE, LNS_WIRE_PYTHON_CODE } },
  .session_bytes = sizeof (Session),
  .define = define,
  .play = play_record,
  .show_session = show_calls,
  .stop_report = stop_report,
  .forget_stream = _lns_callers_forget,
  .end_process = end_process,
  .free_session = free_session,
};
