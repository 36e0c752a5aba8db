/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The one thread that Lanescope adds to a program that uses CUDA. It empties CUPTI's buffers at intervals, so that a
 * process that is killed loses at most what came since, and obeys the session's commands. */

#include "capture/inject/cuda/control.h"
#include "capture/inject/core/connection.h"
#include "capture/inject/core/oldest-glibc.h"
#include "capture/inject/core/own-work.h"
#include "capture/inject/cuda/backtraces.h"
#include "capture/inject/cuda/buffers.h"
#include "capture/inject/cuda/calls.h"
#include "capture/inject/cuda/kinds.h"
#include "capture/inject/cuda/names.h"
#include "capture/inject/cuda/owner.h"
#include "capture/inject/cuda/python.h"
#include "capture/inject/cuda/records.h"
#include "capture/inject/cuda/topology.h"
#include "capture/inject/core/system.h"

#include <pthread.h>
#include <sys/prctl.h>

LNS_OLDEST (pthread_create);
LNS_OLDEST (pthread_attr_setstacksize);

#define STACK_BYTES (1u << 20)

/* After this many flushes without a new module, launches are no longer watched for new names. */
#define QUIET_FLUSHES 5

/* Flushes, and writes what CUPTI dropped, or that it gives its records to another client. */
static void
flush (bool by_force)
{
  const uint32_t mark = lns_cuda_mark ();
  lns_cuda_flush (by_force);
  lns_cuda_tell_dropped (NULL, 0);
  lns_cuda_look_for_mark (mark, false);
}

/* Does what COMMAND says and answers. */
static void
obey (const LnsWireCommand *command)
{
  /* Do this for every command: of many that come at once, those that do not fit into the socket are lost. */
  lns_cuda_follow_recording ();
  if (command->kind == LNS_WIRE_COMMAND_FLUSH || command->kind == LNS_WIRE_COMMAND_STOP)
    {
      lns_cuda_flush_all_launched ();
      lns_cuda_tell_dropped (NULL, 0);
    }
  if (command->kind == LNS_WIRE_COMMAND_FINISH)
    flush (true);
  LnsWireNotice answer = { .magic = LNS_WIRE_MAGIC,
                           .kind = LNS_WIRE_NOTICE_FLUSHED,
                           .value = command->serial };
  (void)lns_connection_notify (&answer);
}

/* Watches launches while new modules are loaded, whose kernels have no known names yet. */
static void
follow_modules (void)
{
  static uint32_t n_known;
  static int n_quiet;
  uint32_t n_modules = __atomic_load_n (&lns_cuda_engine.n_modules, __ATOMIC_RELAXED);
  if (n_modules != n_known)
    {
      if (n_quiet >= QUIET_FLUSHES)
        lns_cuda_watch_launches (true);
      n_quiet = 0;
      n_known = n_modules;
    }
  else if (n_quiet < QUIET_FLUSHES && ++n_quiet == QUIET_FLUSHES)
    lns_cuda_watch_launches (false);
}

static void *
run (void *unused)
{
  lns_own_work_begin ();
  (void)LNS_SYSCALL (SYS_prctl, PR_SET_NAME, "lanescope");
  lns_cuda_engine.control_tid = (uint32_t)LNS_SYSCALL (SYS_gettid);
  lns_cuda_learn_buses ();
  __atomic_store_n (&lns_process.pool.header->listens, lns_cuda_engine.control_tid,
                    __ATOMIC_SEQ_CST);
  /* A command to record that came before had no receiver. */
  lns_cuda_follow_recording ();
  lns_cuda_ask_topology ();
  /* Learn now that CUPTI gives its records to us. */
  flush (false);

  uint32_t period_ms = lns_cuda_options ()->flush_ms;
  if (period_ms == 0)
    period_ms = 1000;
  bool has_session = true;
  int64_t next_ms = lns_inject_monotonic_ms () + period_ms;
  while (lns_cuda_is_here () && !__atomic_load_n (&lns_cuda_engine.is_over, __ATOMIC_ACQUIRE))
    {
      LnsWireCommand command;
      int got = lns_connection_receive (&command, has_session, next_ms);
      if (got == 1)
        obey (&command);
      else if (got == -EPIPE)
        {
          /* Nobody reads the pool any more. */
          __atomic_store_n (&lns_process.pool.header->recording, 0, __ATOMIC_RELAXED);
          lns_cuda_follow_recording ();
          lns_cuda_disable_kinds ();
          return NULL;
        }
      else if (got < 0)
        has_session = false; /* the descriptor is gone: the pool is read all the same */
      if (lns_inject_monotonic_ms () < next_ms)
        continue;
      lns_own_work_begin (); /* again, for a session that begins to listen */
      lns_cuda_learn_buses ();
      lns_cuda_ask_topology ();
      lns_cuda_find_python ();
      lns_cuda_follow_code ();
      flush (false);
      follow_modules ();
      next_ms = lns_inject_monotonic_ms () + period_ms;
    }
  return NULL;
}

int
lns_cuda_start_thread (void *(*start) (void *))
{
  pthread_attr_t attributes;
  pthread_t thread;
  uint64_t mask = lns_inject_block_signals (); /* the new thread inherits it for good */
  pthread_attr_init (&attributes);
  pthread_attr_setdetachstate (&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize (&attributes, STACK_BYTES);
  int error = pthread_create (&thread, &attributes, start, NULL);
  pthread_attr_destroy (&attributes);
  lns_inject_unblock_signals (mask);
  return error;
}

void
lns_cuda_control_start (void)
{
  static uint64_t started_for;
  uint64_t generation = lns_process_generation ();
  if (__atomic_exchange_n (&started_for, generation, __ATOMIC_ACQ_REL) == generation)
    return;
  int error = lns_cuda_start_thread (run);
  if (error == 0)
    __atomic_store_n (&lns_cuda_engine.has_thread, true, __ATOMIC_RELEASE);
  else
    lns_cuda_problem (LNS_WIRE_PROBLEM_THREAD, (uint32_t)error, 0, NULL);
}
