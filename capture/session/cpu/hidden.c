/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/cpu/hidden.h"

#include <stdbool.h>
#include <stdlib.h>

#include "src/base/array.h"

/* For how long a thread has had a CPU since the last timer of its event there. Events are per CPU, and so are their timers. */
typedef struct
{
  uint32_t cpu;
  int64_t ran_ns;
} Due;

typedef struct
{
  uint32_t process, tid;
  bool is_running;
  size_t at;        /* where it runs: of `dues` */
  int64_t since_ns; /* up to which `ran_ns` counts */
  LNS_ARRAY (Due) dues;
} Thread;

static void
free_thread (Thread *thread)
{
  lns_array_clear (&thread->dues);
  free (thread);
}

void
lns_cpu_hidden_clear (LnsCpuHidden *hidden)
{
  Thread *thread;
  for (size_t i = 0; (thread = lns_id_map_next (&hidden->threads, &i)) != NULL;)
    free_thread (thread);
  lns_id_map_clear (&hidden->threads);
}

/* Finds the place of CPU among the dues of THREAD. False if memory is short. */
static bool
find_due (Thread *thread, uint32_t cpu, size_t *ret_at)
{
  *ret_at = 0;
  while (*ret_at < thread->dues.n && thread->dues.items[*ret_at].cpu != cpu)
    ++*ret_at;
  if (*ret_at < thread->dues.n)
    return true;
  Due *due = lns_array_try_add (&thread->dues);
  if (due != NULL)
    *due = (Due){ .cpu = cpu };
  return due != NULL;
}

/* Counts the time up to TIME_NS for which THREAD has had its CPU. */
static Due *
advance (Thread *thread, int64_t time_ns)
{
  Due *due = &thread->dues.items[thread->at];
  if (time_ns > thread->since_ns)
    {
      due->ran_ns += time_ns - thread->since_ns;
      thread->since_ns = time_ns;
    }
  return due;
}

/* Tells of the timers of THREAD that fired and gave no sample by TIME_NS. One that is late may still give one, so that the last
 * counts after half a period only. */
static void
tell_thread (const LnsCpuHidden *hidden, Thread *thread, int64_t time_ns)
{
  if (!thread->is_running)
    return;
  Due *due = advance (thread, time_ns);
  while (due->ran_ns >= hidden->period_ns + hidden->period_ns / 2)
    {
      due->ran_ns -= hidden->period_ns;
      hidden->take (hidden->data, thread->process, thread->tid, due->cpu,
                    thread->since_ns - due->ran_ns);
    }
}

void
lns_cpu_hidden_begin (
    LnsCpuHidden *hidden, uint32_t process, uint32_t tid, uint32_t cpu, int64_t time_ns)
{
  if (hidden->period_ns == 0)
    return;
  Thread *thread = lns_id_map_get (&hidden->threads, tid);
  if (thread == NULL)
    {
      thread = calloc (1, sizeof *thread);
      if (thread == NULL || !lns_id_map_set (&hidden->threads, tid, thread))
        {
          free (thread);
          return;
        }
      thread->tid = tid;
    }
  thread->process = process;
  thread->since_ns = time_ns;
  thread->is_running = find_due (thread, cpu, &thread->at);
}

void
lns_cpu_hidden_end (LnsCpuHidden *hidden, uint32_t tid, int64_t time_ns)
{
  Thread *thread = lns_id_map_get (&hidden->threads, tid);
  if (thread == NULL)
    return;
  tell_thread (hidden, thread, time_ns);
  thread->is_running = false;
}

void
lns_cpu_hidden_sample (
    LnsCpuHidden *hidden, uint32_t process, uint32_t tid, uint32_t cpu, int64_t time_ns)
{
  Thread *thread = lns_id_map_get (&hidden->threads, tid);
  if (thread == NULL || !thread->is_running || thread->dues.items[thread->at].cpu != cpu)
    {
      lns_cpu_hidden_begin (hidden, process, tid, cpu, time_ns);
      thread = lns_id_map_get (&hidden->threads, tid);
    }
  else
    tell_thread (hidden, thread, time_ns);
  if (thread != NULL && thread->is_running)
    thread->dues.items[thread->at].ran_ns = 0;
}

void
lns_cpu_hidden_exit (LnsCpuHidden *hidden, uint32_t tid, int64_t time_ns)
{
  lns_cpu_hidden_end (hidden, tid, time_ns);
  Thread *thread = lns_id_map_take (&hidden->threads, tid);
  if (thread != NULL)
    free_thread (thread);
}

void
lns_cpu_hidden_tell (LnsCpuHidden *hidden, int64_t time_ns)
{
  Thread *thread;
  for (size_t i = 0; (thread = lns_id_map_next (&hidden->threads, &i)) != NULL;)
    tell_thread (hidden, thread, time_ns);
}

void
lns_cpu_hidden_forget (LnsCpuHidden *hidden)
{
  Thread *thread;
  for (size_t i = 0; (thread = lns_id_map_next (&hidden->threads, &i)) != NULL;)
    {
      thread->is_running = false;
      lns_array_clear (&thread->dues);
    }
}
