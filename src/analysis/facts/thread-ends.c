/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/thread-ends.h"

#include <stdlib.h>

#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/base/search.h"

/* Shorter waits are too short for a hundredth of them to tell. */
#define LEAST_NS INT64_C (1000000)
#define NEAR     100 /* of the wait, and of that the less, the more threads ended in it */
/* A busy machine keeps a thread that was woken waiting for a CPU, but not for longer. */
#define MOST_NEAR_NS INT64_C (100000000)

/* What threads of PROCESS may have waited for. */
typedef struct
{
  uint32_t process, thread;
  int64_t end_ns;
} End;

struct LnsThreadEnds
{
  const LnsThread *threads;
  uint32_t n_threads;
  LNS_ARRAY (End) all; /* by process, then by time */
};

static int
compare_ends (const void *a, const void *b)
{
  const End *one = a, *other = b;
  return LNS_COMPARE (one->process, other->process) ?: LNS_COMPARE (one->end_ns, other->end_ns);
}

/* Adds the ends of processes, which are those of their last threads, as what their parents may have waited for. */
static void
add_children (LnsThreadEnds *ends, LnsReport *report)
{
  uint32_t n_processes;
  const LnsProcess *processes = lns_report_processes (report, &n_processes);
  uint32_t *last = lns_calloc (n_processes, sizeof *last); /* 1 + the thread, by process */

  for (uint32_t i = 0; i < ends->n_threads; i++)
    {
      const uint32_t process = ends->threads[i].process;
      /* Of a process with a thread whose end is not known, it is not known either. */
      if (process < n_processes && last[process] != LNS_ID_NONE)
        last[process] = ends->threads[i].end_ns == LNS_TIME_UNKNOWN ? LNS_ID_NONE
                        : last[process] == 0 ||
                                ends->threads[i].end_ns > ends->threads[last[process] - 1].end_ns
                            ? 1 + i
                            : last[process];
    }
  for (uint32_t i = 0; i < n_processes; i++)
    if (processes[i].parent != LNS_ID_NONE && last[i] != 0 && last[i] != LNS_ID_NONE)
      *lns_array_add (&ends->all) =
          (End){ processes[i].parent, last[i] - 1, ends->threads[last[i] - 1].end_ns };
  free (last);
}

LnsThreadEnds *
lns_thread_ends_new (LnsReport *report)
{
  LnsThreadEnds *ends = lns_calloc (1, sizeof *ends);

  ends->threads = lns_report_threads (report, &ends->n_threads);
  for (uint32_t i = 0; i < ends->n_threads; i++)
    if (ends->threads[i].end_ns != LNS_TIME_UNKNOWN)
      *lns_array_add (&ends->all) = (End){ ends->threads[i].process, i, ends->threads[i].end_ns };
  add_children (ends, report);
  if (ends->all.n > 0)
    qsort (ends->all.items, ends->all.n, sizeof *ends->all.items, compare_ends);
  return ends;
}

void
lns_thread_ends_free (LnsThreadEnds *ends)
{
  if (ends == NULL)
    return;
  lns_array_clear (&ends->all);
  free (ends);
}

/* The index of the first end of PROCESS that is later than TIME_NS, or of what follows those of PROCESS. */
static size_t
first_after (const LnsThreadEnds *ends, uint32_t process, int64_t time_ns)
{
  const End wanted = { .process = process, .end_ns = time_ns };
  return LNS_LOWER_BOUND (ends->all.n, i, compare_ends (&ends->all.items[i], &wanted) <= 0);
}

uint32_t
lns_thread_ends_find (const LnsThreadEnds *ends, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
  const int64_t wait_ns = lns_difference (end_ns, start_ns);

  if (thread >= ends->n_threads || wait_ns < LEAST_NS)
    return LNS_ID_NONE;
  const uint32_t process = ends->threads[thread].process;
  const size_t first = first_after (ends, process, start_ns),
               end = first_after (ends, process, end_ns);
  if (first == end)
    return LNS_ID_NONE;
  const End *found = &ends->all.items[end - 1];
  const int64_t share_ns = wait_ns / NEAR / (int64_t)(end - first),
                near_ns = share_ns < MOST_NEAR_NS ? share_ns : MOST_NEAR_NS;
  return found->thread != thread && lns_difference (end_ns, found->end_ns) <= near_ns
             ? found->thread
             : LNS_ID_NONE;
}
