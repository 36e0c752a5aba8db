/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/cpu/attach.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

/* How often threads are listed again, at most. A program that starts threads all the time has new ones each time, until those that
 * are seen to inherit their events are all. */
#define MOST_ROUNDS 200

/* Descriptors that are left for everything else: the report, the ends of processes, and commands. */
#define OTHER_FDS 320

void
lns_cpu_attachment_clear (LnsCpuAttachment *attachment)
{
  for (size_t i = 0; i < attachment->processes.n; i++)
    lns_array_clear (&attachment->processes.items[i].tids);
  lns_array_clear (&attachment->processes);
  lns_id_map_clear (&attachment->places);
}

static LnsCpuAttached *
find (LnsCpuAttachment *attachment, int32_t pid)
{
  const uint64_t place = lns_id_map_number (&attachment->places, (uint32_t)pid);
  return place != 0 ? &attachment->processes.items[place - 1] : NULL;
}

void
lns_cpu_attachment_list (LnsCpuAttachment *attachment, const LnsPids *pids)
{
  LnsPids all = { 0 };
  for (size_t i = 0; i < pids->n; i++)
    *lns_array_add (&all) = pids->items[i];
  lns_process_list_descendants (&all);
  for (size_t i = 0; i < all.n; i++)
    if (find (attachment, all.items[i]) == NULL)
      {
        lns_array_add (&attachment->processes)->pid = all.items[i];
        lns_id_map_set_number (&attachment->places, (uint32_t)all.items[i],
                               attachment->processes.n);
      }
  lns_array_clear (&all);
}

/* The descriptor that the last events may have, at most. */
static int
last_fd (void)
{
  struct rlimit limit;
  if (getrlimit (RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT32_MAX)
    return INT32_MAX;
  const int n = (int)limit.rlim_cur;
  return n > 4 * OTHER_FDS ? n - OTHER_FDS : n - n / 4;
}

static bool
is_refusal (int failed)
{
  return failed == EACCES || failed == EPERM;
}

/* Notes what came of opening events of thread TID: FAILED, an errno, or 0. */
static void
note (LnsCpuAttachment *attachment,
      const LnsCpuEvents *events,
      LnsCpuAttached *process,
      int32_t tid,
      int failed)
{
  if (failed == 0)
    {
      lns_cpu_owners_add (&attachment->owners, events, tid);
      *lns_array_add (&process->tids) = tid;
    }
  else if (is_refusal (failed))
    process->failed = failed;
}

/* Opens the first events, which have the rings. Returns 0 or an errno. */
static int
open_first (LnsCpuAttachment *attachment,
            LnsCpuEvents *events,
            const LnsCpuEventsOptions *options,
            bool is_paused)
{
  int failed = ESRCH;
  for (size_t i = 0; i < attachment->processes.n && failed != 0; i++)
    {
      LnsCpuAttached *process = &attachment->processes.items[i];
      LnsPids tids = { 0 };
      lns_process_list_threads (process->pid, &tids);
      for (size_t at = 0; at < tids.n && process->failed == 0 && failed != 0; at++)
        {
          failed =
              lns_cpu_events_open (events, options, tids.items[at], is_paused, &attachment->failed);
          note (attachment, events, process, tids.items[at], failed);
        }
      lns_array_clear (&tids);
      if (failed != 0 && failed != ESRCH && !is_refusal (failed))
        return failed;
    }
  return failed;
}

/* Whether the machine, and not the processes, refuses events: an errno, or 0. */
static int
refusal_of_machine (const LnsCpuEventsOptions *options, LnsCpuEventsStep *ret_step)
{
  LnsCpuEvents events;
  const int failed = lns_cpu_events_open (&events, options, getpid (), true, ret_step);
  if (failed == 0)
    lns_cpu_events_close (&events);
  return failed;
}

/* A thread that was listed. */
typedef struct
{
  size_t process; /* its place */
  int32_t tid;
} Listed;

typedef struct
{
  LNS_ARRAY (Listed) all;
  LnsIdMap left_out; /* by tid: it cannot be recorded */
  int last_fd;
} Round;

/* Lists all threads of all processes, those that began meanwhile included. */
static void
list (LnsCpuAttachment *attachment, const LnsPids *pids, Round *round)
{
  round->all.n = 0;
  lns_cpu_attachment_list (attachment, pids);
  for (size_t i = 0; i < attachment->processes.n; i++)
    {
      LnsPids tids = { 0 };
      if (attachment->processes.items[i].failed == 0)
        lns_process_list_threads (attachment->processes.items[i].pid, &tids);
      for (size_t at = 0; at < tids.n; at++)
        *lns_array_add (&round->all) = (Listed){ i, tids.items[at] };
      lns_array_clear (&tids);
    }
}

/* Opens events of the threads of ROUND that have none. Returns how many threads got some. */
static unsigned
open_new (LnsCpuAttachment *attachment,
          LnsCpuEvents *events,
          const LnsCpuEventsOptions *options,
          bool is_paused,
          Round *round)
{
  unsigned n_opened = 0;
  for (size_t i = 0; i < round->all.n; i++)
    {
      const Listed *item = &round->all.items[i];
      LnsCpuAttached *process = &attachment->processes.items[item->process];
      if (process->failed != 0 || lns_cpu_owners_have (&attachment->owners, item->tid) ||
          lns_id_map_number (&round->left_out, (uint32_t)item->tid) != 0)
        continue;
      const int last = events->more.n > 0 ? events->more.items[events->more.n - 1].fds.work : -1;
      const int failed = last >= round->last_fd
                             ? EMFILE
                             : lns_cpu_events_add (events, options, item->tid, is_paused);
      note (attachment, events, process, item->tid, failed);
      n_opened += failed == 0;
      if (failed == 0 || failed == ESRCH || is_refusal (failed))
        continue;
      lns_id_map_set_number (&round->left_out, (uint32_t)item->tid, 1);
      attachment->n_left_out++;
      process->n_left_out++;
      attachment->failed_last = failed;
    }
  return n_opened;
}

int
lns_cpu_attach (LnsCpuAttachment *attachment,
                LnsCpuEvents *events,
                const LnsCpuEventsOptions *options,
                const LnsPids *pids,
                bool is_paused)
{
  Round round = { .last_fd = last_fd () };
  *attachment = (LnsCpuAttachment){ .failed = LNS_CPU_EVENTS_OPEN };
  lns_cpu_attachment_list (attachment, pids);
  const int failed = open_first (attachment, events, options, is_paused);
  if (failed == ESRCH)
    return 0;
  if (is_refusal (failed))
    return refusal_of_machine (options, &attachment->failed);
  if (failed != 0)
    return failed;
  attachment->order = lns_cpu_order_new (events);
  if (attachment->order == NULL)
    {
      lns_cpu_events_close (events);
      return ENOMEM;
    }
  for (unsigned i = 0; i < MOST_ROUNDS; i++)
    {
      list (attachment, pids, &round);
      lns_cpu_order_look (attachment->order, lns_cpu_owners_look, &attachment->owners);
      if (open_new (attachment, events, options, is_paused, &round) == 0)
        break;
    }
  lns_array_clear (&round.all);
  lns_id_map_clear (&round.left_out);
  return 0;
}
