/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/join.h"
#include "capture/inject/core/connection.h"
#include "capture/inject/core/first-call.h"
#include "capture/inject/core/system.h"
#include "capture/wire/patience.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* After so many attempts without a chunk, the notice is sent again. */
#define STARVED_NOTICE 65536u

/* How often an answer is looked for that did not come in time. */
#define LOOK_MS 5

static const LnsProcessWatcher *the_watcher;

void
lns_process_watch (const LnsProcessWatcher *watcher)
{
  __atomic_store_n (&the_watcher, watcher, __ATOMIC_RELEASE);
}

void
lns_process_recording_changed (void)
{
  const LnsProcessWatcher *watcher = __atomic_load_n (&the_watcher, __ATOMIC_ACQUIRE);
  if (watcher != NULL)
    watcher->follow_recording ();
}

/* Forgets everything of the parent in the child of a fork. Writes nothing to the parent's pool. */
static void
leave_parent (void)
{
  const LnsProcessWatcher *watcher = __atomic_load_n (&the_watcher, __ATOMIC_ACQUIRE);
  if (watcher != NULL)
    watcher->leave_parent ();
  lns_wire_pool_unmap (&lns_process.pool);
}

/* Replaces the wiping of the page on kernels that lack it (before 4.14). Covers fork(), but not clone(). */
static void
wipe_in_child (void)
{
  lns_own = (LnsOwnPage){ .generation = LNS_GENERATION_FRESH };
}

static void
wipe_on_fork (void)
{
  if (LNS_SYSCALL (SYS_madvise, &lns_own, sizeof lns_own, MADV_WIPEONFORK) < 0)
    __register_atfork (NULL, NULL, wipe_in_child, __dso_handle);
}

/* Notes in the parent's pool that this child of a fork cannot reach the session, because of ERROR. */
static uint64_t
become_stray (int error)
{
  LnsWireStrays *strays = &lns_process.pool.header->strays;
  __atomic_store_n (&strays->error, -error, __ATOMIC_RELAXED);
  __atomic_fetch_add (&strays->n_processes, 1, __ATOMIC_RELAXED);
  return LNS_GENERATION_STRAY;
}

/* Whether this process, PID, runs in its parent's memory, as a child of vfork() does until it executes
 * another program. glibc registers a list of mutexes with the kernel for each process and thread that it
 * starts; a child of vfork() has none, and neither has one of a bare clone(), whose memory is a copy. */
static bool
is_memory_borrowed (uint32_t pid)
{
  void *mutexes = NULL;
  size_t n_bytes = 0;
  /* A process that tried to join before and is asked again is the child of a fork. */
  return lns_process.n_joined == 0 && (uint32_t)LNS_SYSCALL (SYS_gettid) == pid &&
         LNS_SYSCALL (SYS_get_robust_list, 0, &mutexes, &n_bytes) == 0 && mutexes == NULL &&
         LNS_SYSCALL (SYS_kcmp, pid, LNS_SYSCALL (SYS_getppid), KCMP_VM, 0, 0) <= 0;
}

/* What this process says to the session. */
static LnsWireHello
make_hello (void)
{
  uint32_t pid = (uint32_t)LNS_SYSCALL (SYS_getpid);
  /* The owner of the memory is the process to record: it goes on in it when the child is gone. */
  const bool is_borrowed = is_memory_borrowed (pid);
  if (is_borrowed)
    pid = (uint32_t)LNS_SYSCALL (SYS_getppid);
  bool forked = lns_process.n_joined > 0 && lns_process.pid != pid;
  lns_process.n_joined++;
  lns_process.pid = pid;
  return (LnsWireHello){
    .magic = LNS_WIRE_MAGIC,
    .abi = LNS_WIRE_ABI,
    .pid = lns_process.pid,
    .forked = forked,
    .is_borrowed = is_borrowed,
  };
}

/* Joins the session; if IS_AGAIN, goes on waiting for its answer. Only the thread that joins runs this. */
static uint64_t
join_session (int bound_ms, bool is_patient, bool is_again)
{
  static LnsWireHello hello;
  LnsWirePoolView pool;
  bool is_refused = false;
  if (!is_again)
    hello = make_hello ();
  int error = lns_connection_open (&hello, bound_ms, is_patient, &pool, &is_refused);
  if (hello.forked && error < 0 && error != -ETIMEDOUT && !is_refused &&
      lns_process.pool.header != NULL)
    return become_stray (error);
  /* A process without a pool of its own keeps none. The session knows of it. */
  if (hello.forked && !is_again)
    leave_parent ();
  if (error == -ETIMEDOUT && !is_patient)
    return LNS_GENERATION_AWAITED;
  if (error == -ETIMEDOUT)
    lns_connection_give_up (); /* without CUDA, the process counts as not recorded */
  if (error < 0)
    return LNS_GENERATION_OFF;
  if (!lns_process.has_key)
    {
      __atomic_store_n (&pool.header->joined, LNS_WIRE_JOINED_WITHOUT_KEY, __ATOMIC_RELEASE);
      lns_wire_pool_unmap (&pool);
      return LNS_GENERATION_OFF;
    }
  lns_process.pool = pool;
  lns_process.clock = pool.header->clock;
  return LNS_GENERATION_FIRST + lns_process.n_joined;
}

/* Waits until the thread in the handshake is done, but no longer than BOUND_MS after it began. */
static uint64_t
wait_for_join (int bound_ms)
{
  uint64_t *word = &lns_own.generation;
  while (lns_process_generation () == LNS_GENERATION_STARTING &&
         lns_inject_monotonic_ms () <=
             __atomic_load_n (&lns_process.asked_ms, __ATOMIC_RELAXED) + bound_ms + 10)
    {
      struct timespec timeout = { .tv_nsec = 10000000 };
      (void)LNS_SYSCALL (SYS_futex, word, FUTEX_WAIT_PRIVATE, LNS_GENERATION_STARTING, &timeout,
                         NULL, 0);
    }
  return lns_process_generation ();
}

/* Makes the calling thread the one that joins, if the generation is still GENERATION. */
static bool
begin_join (uint64_t generation)
{
  if (lns_process_generation () != generation)
    return false;
  /* Store the time before the generation: a thread that sees STARTING waits by this time. A thread that comes second
   * here stores almost the same time. */
  __atomic_store_n (&lns_process.asked_ms, lns_inject_monotonic_ms (), __ATOMIC_RELAXED);
  return __atomic_compare_exchange_n (&lns_own.generation, &generation, LNS_GENERATION_STARTING,
                                      false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Adds the events that were lost before the session had answered to its pool's counters. */
static void
settle_unanswered (void)
{
  const LnsWirePoolHeader *header = lns_process.pool.header;
  const uint64_t n = __atomic_exchange_n (&lns_own.n_unanswered, 0, __ATOMIC_SEQ_CST);
  if (n > 0 && lns_process_wants_nvtx () && __atomic_load_n (&header->recording, __ATOMIC_RELAXED))
    lns_wire_pool_count_unanswered (&lns_process.pool, n);
}

void
lns_process_lose_unanswered (void)
{
  __atomic_fetch_add (&lns_own.n_unanswered, 1, __ATOMIC_SEQ_CST);
  /* Another thread may have found the answer meanwhile. */
  if (lns_process_generation () >= LNS_GENERATION_FIRST)
    settle_unanswered ();
}

/* Whether it is time to look for an awaited answer. True for one of several threads. */
static bool
is_look_due (void)
{
  const int64_t now_ms = lns_inject_monotonic_ms ();
  int64_t looked_ms = __atomic_load_n (&lns_own.looked_ms, __ATOMIC_RELAXED);
  return now_ms - looked_ms >= LOOK_MS &&
         __atomic_compare_exchange_n (&lns_own.looked_ms, &looked_ms, now_ms, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Joins as the one thread that does so. */
static uint64_t
join_alone (int bound_ms, bool is_patient, bool is_again)
{
  uint64_t mask = lns_inject_block_signals ();
  uint64_t generation = join_session (bound_ms, is_patient, is_again);
  __atomic_store_n (&lns_own.looked_ms, lns_inject_monotonic_ms (), __ATOMIC_RELAXED);
  __atomic_store_n (&lns_own.generation, generation, __ATOMIC_SEQ_CST);
  (void)LNS_SYSCALL (SYS_futex, &lns_own.generation, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
  if (generation >= LNS_GENERATION_FIRST)
    settle_unanswered ();
  lns_inject_unblock_signals (mask);
  return generation;
}

uint64_t
lns_process_join (bool is_patient)
{
  LNS_KEEP_ERRNO;
  lns_first_call_end ();
  const LnsPatience patience = lns_patience ();
  const int bound_ms = is_patient ? patience.long_handshake_ms : patience.handshake_ms;
  /* Before STARTING is stored: a child that is forked by another thread meanwhile has no thread that goes on with the handshake. A
   * process without a key stays out of the session, and so do those that it forks. */
  if (lns_process.n_joined == 0 && lns_process.has_key &&
      lns_process_generation () == LNS_GENERATION_FRESH)
    wipe_on_fork ();
  if (begin_join (LNS_GENERATION_FRESH))
    return join_alone (bound_ms, is_patient, false);
  if (lns_process_generation () == LNS_GENERATION_STARTING)
    (void)wait_for_join (bound_ms);
  if (lns_process_generation () == LNS_GENERATION_AWAITED && (is_patient || is_look_due ()) &&
      begin_join (LNS_GENERATION_AWAITED))
    return join_alone (is_patient ? bound_ms : 0, is_patient, true);
  return lns_process_generation ();
}

/* Has the session count what this process has lost, if it ends before it was answered. */
__attribute__ ((destructor)) static void
end_unanswered (void)
{
  LNS_KEEP_ERRNO;
  if (!begin_join (LNS_GENERATION_AWAITED) ||
      join_alone (0, false, true) != LNS_GENERATION_AWAITED || !begin_join (LNS_GENERATION_AWAITED))
    return;
  lns_connection_tell_unanswered (__atomic_load_n (&lns_own.n_unanswered, __ATOMIC_SEQ_CST));
  __atomic_store_n (&lns_own.generation, LNS_GENERATION_AWAITED, __ATOMIC_SEQ_CST);
}

void
lns_process_notice_low (void)
{
  uint64_t published = __atomic_load_n (&lns_process.pool.header->published, __ATOMIC_RELAXED);
  /* Load before the exchange, because starving threads come here with every event. Now and then a thread asks again
   * whether there is still a session. */
  uint32_t n = __atomic_load_n (&lns_own.n_starved, __ATOMIC_RELAXED) + 1;
  __atomic_store_n (&lns_own.n_starved, n, __ATOMIC_RELAXED);
  if (n % STARVED_NOTICE != 0 &&
      (__atomic_load_n (&lns_own.noticed_at, __ATOMIC_RELAXED) == published ||
       __atomic_exchange_n (&lns_own.noticed_at, published, __ATOMIC_RELAXED) == published))
    return;
  LNS_KEEP_ERRNO;
  LnsWireNotice notice = { .magic = LNS_WIRE_MAGIC, .kind = LNS_WIRE_NOTICE_LOW };
  /* Nobody reads the pool any more. From here on, an event costs only a look at the flag. */
  if (lns_connection_notify (&notice) == -EPIPE)
    __atomic_store_n (&lns_process.pool.header->recording, 0, __ATOMIC_RELAXED);
}
