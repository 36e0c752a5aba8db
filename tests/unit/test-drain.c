/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How long the end of a report waits for those that sample CPUs: until they have answered, or as long as it is told. The
 * sampling thread cannot answer while the test holds the lock of the mailbox that it writes to. */

#include "capture/session/cpu/sampling.h"

#include <sys/wait.h>
#include <unistd.h>

#include "capture/session/decode/cpu/cpu.h"
#include "tests/tap.h"

static bool is_refused;

static void
say (void *data, LnsSeverity severity, const char *code, const char *text)
{
  is_refused = true;
}

/* Whether BATCH tells that a thread has ended. */
static bool
has_end (const LnsBatch *batch)
{
  for (size_t i = 0; i < batch->events.n; i++)
    {
      const LnsBatchEvent *event = &batch->events.items[i];
      if (event->kind != LNS_BATCH_CPU)
        continue;
      for (const uint8_t *at = event->cpu; at < event->cpu + event->n_cpu_bytes;
           at += ((const LnsCpuHead *)at)->n_words * sizeof (uint64_t))
        if (((const LnsCpuHead *)at)->kind == LNS_CPU_EXIT)
          return true;
    }
  return false;
}

static void
a_drain_waits_for_the_answer_or_its_time (void)
{
  LnsMailbox mailbox = { 0 };
  LnsPeers peers;
  const LnsWireOptions target = { 0 };
  const LnsCpuSamplingOptions options = { .events = { .switches = true } };
  LNS_CHECK (lns_mailbox_open (&mailbox));
  lns_peers_init (&peers, &mailbox, &target);
  int start[2];
  char byte;
  LNS_CHECK_INT (pipe (start), 0);
  const pid_t pid = fork ();
  if (pid == 0)
    {
      close (start[1]);
      if (read (start[0], &byte, 1) == 0)
        execlp ("true", "true", NULL);
      _exit (1);
    }
  close (start[0]);
  LnsCpuSampling *sampling = lns_cpu_sampling_new (&options, &peers);
  lns_cpu_sampling_begin (sampling, pid, 0, say, NULL);

  /* The whole program runs while nothing of it comes into the mailbox. */
  pthread_mutex_lock (&mailbox.lock);
  close (start[1]);
  waitpid (pid, NULL, 0);
  lns_cpu_sampling_drain (sampling, 0);
  lns_cpu_sampling_drain (sampling, 1000000);
  pthread_mutex_unlock (&mailbox.lock);

  lns_cpu_sampling_drain (sampling, INT64_C (600000000000));
  LnsBatch batch = { 0 };
  lns_mailbox_empty (&mailbox, &batch);
  const bool is_answered = has_end (&batch);
  lns_cpu_sampling_stop (sampling);
  lns_peers_clear (&peers);
  if (is_refused)
    LNS_SKIP ("the kernel denies perf events");
  LNS_CHECK (is_answered);
}

int
main (void)
{
  LNS_TEST (a_drain_waits_for_the_answer_or_its_time);
  return lns_tap_done ();
}
