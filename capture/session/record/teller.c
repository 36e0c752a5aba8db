/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/record/teller.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "src/base/monotonic.h"

/* A kill takes what was made since the last time, uncounted. It costs 0.01 % of a CPU. */
#define TELL_NS INT64_C (100000000)

/* Waits for TELL_NS, or for a change. */
static void
wait_a_while (LnsTeller *teller)
{
  const int64_t until_ns = lns_monotonic_ns () + TELL_NS;
  const struct timespec until = { .tv_sec = until_ns / 1000000000,
                                  .tv_nsec = until_ns % 1000000000 };
  if (teller->writer == NULL)
    pthread_cond_wait (&teller->changed, &teller->lock);
  else
    pthread_cond_timedwait (&teller->changed, &teller->lock, &until);
}

static uint64_t
beyond (uint64_t n, uint64_t n_before)
{
  return n > n_before ? n - n_before : 0;
}

static void *
run (void *data)
{
  LnsTeller *teller = data;
  int64_t told_ns = 0;
  /* If that is allowed: it has little to do, but should do it in time. */
  setpriority (PRIO_PROCESS, (id_t)gettid (), -10);
  pthread_mutex_lock (&teller->lock);
  while (!teller->is_ending)
    {
      const int64_t seen_ns =
          atomic_load (teller->seen_ns); /* before the counts, which only grow */
      if (teller->writer != NULL && seen_ns > told_ns && seen_ns > teller->t0_ns)
        {
          const LnsTally tally = {
            .seen_ns = seen_ns - teller->t0_ns,
            .n_begun = beyond (atomic_load (teller->n_begun), teller->before.n_begun),
            .n_lost = beyond (atomic_load (teller->n_lost), teller->before.n_lost)
          };
          lns_writer_tell (teller->writer, &tally);
          told_ns = seen_ns;
        }
      wait_a_while (teller);
    }
  pthread_mutex_unlock (&teller->lock);
  return NULL;
}

void
_lns_teller_start (LnsTeller *teller)
{
  pthread_condattr_t monotonic;
  pthread_condattr_init (&monotonic);
  pthread_condattr_setclock (&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init (&teller->lock, NULL);
  pthread_cond_init (&teller->changed, &monotonic);
  pthread_condattr_destroy (&monotonic);
  teller->is_running = pthread_create (&teller->thread, NULL, run, teller) == 0;
}

void
_lns_teller_set_report (LnsTeller *teller, const LnsWriter *writer, const LnsTally *before)
{
  if (!teller->is_running)
    return;
  pthread_mutex_lock (&teller->lock);
  teller->writer = writer;
  teller->before = *before;
  pthread_cond_signal (&teller->changed);
  pthread_mutex_unlock (&teller->lock);
}

void
_lns_teller_end (LnsTeller *teller)
{
  if (!teller->is_running)
    return;
  pthread_mutex_lock (&teller->lock);
  teller->is_ending = true;
  pthread_cond_signal (&teller->changed);
  pthread_mutex_unlock (&teller->lock);
  pthread_join (teller->thread, NULL);
  pthread_cond_destroy (&teller->changed);
  pthread_mutex_destroy (&teller->lock);
}
