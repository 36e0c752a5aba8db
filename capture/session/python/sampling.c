/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/python/sampling.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "capture/session/decode/python/samples.h"
#include "capture/session/python/targets.h"
#include "src/base/language.h"
#include "src/base/hash.h"
#include "src/base/memory.h"
#include "src/base/monotonic.h"

/* Samples take 1 / SHARE of a core at most, apart from the first ones that follow a pause; looking for processes, 1 / LOOK_SHARE,
 * apart from the first looks. These are dear, as they meet all processes of the machine, and a program of 0.1 s must not be over
 * before the second. */
#define SHARE         20
#define BURST_NS      INT64_C (20000000)
#define LOOK_SHARE    100
#define LOOK_BURST_NS INT64_C (100000000)

/* The same for names of threads alone, and how often they are read a second, if that costs no more. Looks are as rare until there is
 * a Python program, where nobody asked for its samples, but for the time in which most programs start. */
#define EAGER_NS         INT64_C (2000000000)
#define NAMES_SHARE      500
#define NAMES_LOOK_SHARE 1000
#define NAMES_HZ         10

/* How often processes are looked for, at most. Python takes longer than this to start. */
#define LOOK_NS INT64_C (10000000)

/* How often records are handed over, and how many wait at most. */
#define POST_NS    INT64_C (20000000)
#define POST_BYTES ((size_t)256 << 10)

/* What the recorder may be behind by. */
#define WAITING_BYTES ((size_t)64 << 20)

/* What is kept for each process to find functions and nodes faster. */
#define MOST_FUNCTIONS 65536
#define SPARE_TRAILS   64

/* CPU time that is spent again and again. */
typedef struct
{
  int64_t most_ns;     /* of credit */
  int64_t credit_ns;   /* CPU time that may be spent now; negative: a pause is due */
  int64_t credited_ns; /* CLOCK_MONOTONIC up to which it was added to */
} Budget;

struct LnsPythonSampling
{
  unsigned hz;
  bool names_only; /* and no samples */
  bool is_asked_for;
  int share;
  LnsPeers *peers;
  pthread_t thread;
  bool has_thread;
  pthread_mutex_t lock;
  pthread_cond_t changed, settled; /* the next ones did; `n_drained` did */
  bool is_stopping, is_paused;     /* under the lock, as the next */
  uint64_t n_asked, n_drained;
  atomic_size_t n_waiting_bytes; /* of records that are not recorded yet */
  /* Of the thread: */
  LnsPythonTargets targets;
  LnsPythonTree tree;
  LnsPythonSkippedRecord counted; /* since the last record of these */
  uint64_t n_last;                /* samples of threads that the last turn took */
  Budget samples, looks;
  int64_t next_ns, next_look_ns, posted_ns, eager_until_ns;
  LnsIdMap told; /* hashes of sentences */
  bool has_told;
  LNS_ARRAY (uint32_t) functions; /* of one sample */
  LNS_ARRAY (uint32_t) lines;
};

/* --- Records ---------------------------------------------------------------------------------- */

/* Adds a record that begins with HEAD. Returns false if memory is short. */
static bool
put (LnsPythonSampling *sampling, LnsPythonHead *head, LnsPythonKind kind, size_t n_bytes)
{
  LnsBuffer *out = &sampling->tree.out;
  head->kind = (uint16_t)kind;
  head->n_words = (uint16_t)(n_bytes / 8);
  uint8_t *at = lns_buffer_reserve (out, n_bytes);
  out->failed = false;
  if (at == NULL)
    return false;
  memcpy (at, head, n_bytes);
  out->size_bytes += n_bytes;
  return true;
}

/* Hands the records to the next batch. */
static void
post_records (LnsPythonSampling *sampling, int64_t now_ns)
{
  LnsBuffer *out = &sampling->tree.out;
  LnsPythonSkippedRecord *counted = &sampling->counted;
  counted->head.time_ns = now_ns;
  if ((counted->n_taken > 0 || counted->n_skipped > 0) &&
      put (sampling, &counted->head, LNS_PYTHON_SKIPPED, sizeof *counted))
    *counted = (LnsPythonSkippedRecord){ 0 };
  sampling->posted_ns = now_ns;
  if (out->size_bytes == 0)
    return;
  LnsBatchEvent event = { .kind = LNS_BATCH_PYTHON,
                          .time_ns = INT64_MIN,
                          .cpu = out->bytes,
                          .n_cpu_bytes = out->size_bytes,
                          .waiting = &sampling->n_waiting_bytes };
  atomic_fetch_add (&sampling->n_waiting_bytes, out->size_bytes);
  lns_mailbox_add (sampling->peers->mailbox, &event);
  *out = (LnsBuffer){ 0 };
}

/* --- What cannot be read ---------------------------------------------------------------------- */

static LnsSeverity
severity (const LnsPythonSampling *sampling)
{
  return sampling->is_asked_for ? LNS_SEVERITY_WARNING : LNS_SEVERITY_INFO;
}

/* Tells the report TEXT about PROCESS, unless it has been told the same about another process. */
static void
say (void *data, uint32_t process, const char *text)
{
  LnsPythonSampling *sampling = data;
  char same[sizeof ((LnsError *)NULL)->message];
  size_t n = 0;
  const char *rest = text;
  /* "process 17" is another one each time. */
  while (*rest != '\0' && n < sizeof same)
    {
      static const char word[] = "process ";
      same[n++] = *rest;
      if (strncmp (rest, word, sizeof word - 1) == 0)
        {
          rest += sizeof word - 1;
          rest += strspn (rest, "0123456789");
        }
      else
        rest++;
    }
  const uint64_t key = lns_hash (same, n);
  sampling->has_told = true;
  if (sampling->names_only || lns_id_map_get (&sampling->told, key) != NULL ||
      !lns_id_map_set (&sampling->told, key, sampling))
    return;
  LnsBatchEvent event =
      lns_batch_diagnostic (process, "LNS-PYTHON-003", severity (sampling),
                            LNS_SENTENCE ("Python functions are not sampled: %s"), text);
  lns_mailbox_add (sampling->peers->mailbox, &event);
}

/* --- Samples ---------------------------------------------------------------------------------- */

/* One process, of which samples are taken. */
typedef struct
{
  LnsPythonSampling *sampling;
  LnsPythonTarget *target;
  int64_t time_ns;
  size_t n_threads;
} Taking;

static bool
add_call (LnsPythonSampling *sampling, uint32_t function, int32_t line)
{
  uint32_t *at = lns_array_try_add (&sampling->functions);
  uint32_t *at_line = at != NULL ? lns_array_try_add (&sampling->lines) : NULL;
  if (at_line == NULL || function == LNS_ID_NONE)
    return false;
  *at = function;
  *at_line = line > 0 ? (uint32_t)line : 0;
  return true;
}

/* The function of FRAME in the tree; LNS_ID_NONE if memory is short. */
static uint32_t
function_of (LnsPythonSampling *sampling, LnsPythonTarget *target, const LnsPythonFrame *frame)
{
  const uint64_t known = lns_id_map_number (&target->functions, frame->code_id);
  if (known != 0)
    return (uint32_t)(known - 1);
  const uint32_t function = _lns_python_tree_function (&sampling->tree, frame->name, frame->file);
  if (target->functions.n == MOST_FUNCTIONS)
    lns_id_map_clear (&target->functions);
  if (function != LNS_ID_NONE)
    lns_id_map_set (&target->functions, frame->code_id,
                    (void *)(uintptr_t)(1 + (uint64_t)function));
  return function;
}

/* The trail of the thread TID of TARGET, or NULL. */
static LnsPythonTrail *
trail_of (LnsPythonTarget *target, int32_t tid)
{
  LnsPythonTrail *trail = lns_id_map_get (&target->trails, (uint32_t)tid);
  if (trail != NULL)
    return trail;
  trail = calloc (1, sizeof *trail);
  if (trail != NULL && lns_id_map_set (&target->trails, (uint32_t)tid, trail))
    return trail;
  free (trail);
  return NULL;
}

/* Puts the calls of THREAD into `functions` and `lines`, the outermost first, and says where some are missing. */
static bool
list_calls (Taking *taking, const LnsPythonThread *thread)
{
  LnsPythonSampling *sampling = taking->sampling;
  LnsPythonTree *tree = &sampling->tree;
  bool good = true;
  sampling->functions.n = sampling->lines.n = 0;
  if (thread->lacks_outermost)
    good = add_call (sampling, _lns_python_tree_function (tree, "[outer functions left out]", NULL),
                     0);
  for (size_t i = thread->n_frames; good && i-- > 0;)
    good = add_call (sampling, function_of (sampling, taking->target, &thread->frames[i]),
                     thread->frames[i].line);
  if (good && thread->is_cut)
    good = add_call (
        sampling, _lns_python_tree_function (tree, "[functions that changed too fast]", NULL), 0);
  return good;
}

/* Says that functions are left out, as they would be shown in a thread that may not run them. */
static void
say_unknown (const Taking *taking)
{
  char text[200];
  if (taking->target->has_told_unknown)
    return;
  taking->target->has_told_unknown = true;
  snprintf (text, sizeof text,
            LNS_SENTENCE ("it is not known which threads run the sub-interpreters of process %d; "
                          "those of its main interpreter are sampled"),
            taking->target->pid);
  say (taking->sampling, taking->target->process, text);
}

/* Tells the decoder the name of THREAD, if it does not know it. */
static void
tell_name (Taking *taking, LnsPythonTrail *trail, const LnsPythonThread *thread)
{
  union
  {
    LnsPythonNameRecord record;
    char bytes[sizeof (LnsPythonNameRecord) + LNS_PYTHON_MOST_TEXT_BYTES + 8];
  } made;
  const size_t n = strlen (thread->name);
  const uint64_t hash = lns_hash (thread->name, n) | 1;
  if (hash == trail->name || n > LNS_PYTHON_MOST_TEXT_BYTES)
    return;
  memset (&made, 0, sizeof made.record);
  made.record.head =
      (LnsPythonHead){ .process = taking->target->process, .time_ns = taking->time_ns };
  made.record.tid = (uint32_t)thread->tid;
  memset (made.bytes + offsetof (LnsPythonNameRecord, text) + n, 0, 8);
  memcpy (made.bytes + offsetof (LnsPythonNameRecord, text), thread->name, n);
  if (put (taking->sampling, &made.record.head, LNS_PYTHON_NAME,
           (offsetof (LnsPythonNameRecord, text) + n + 8) & ~(size_t)7))
    trail->name = hash;
}

static void
take (const LnsPythonThread *thread, void *data)
{
  static const LnsPythonLock locks[] = {
    [LNS_PYTHON_GIL_UNKNOWN] = LNS_PYTHON_LOCK_UNKNOWN,
    [LNS_PYTHON_GIL_NONE] = LNS_PYTHON_LOCK_NONE,
    [LNS_PYTHON_GIL_HELD] = LNS_PYTHON_LOCK_HELD,
    [LNS_PYTHON_GIL_WAITED_FOR] = LNS_PYTHON_LOCK_WAITED_FOR,
  };
  /* ENUM_SAMPLING_THREAD_STATE */
  static const uint32_t states[] = {
    [LNS_PYTHON_THREAD_UNKNOWN] = 0,
    [LNS_PYTHON_THREAD_RUNNABLE] = 1,
    [LNS_PYTHON_THREAD_WAITING] = 7,
  };
  Taking *taking = data;
  LnsPythonSampling *sampling = taking->sampling;
  if (thread->n_frames == 0 && !thread->is_cut)
    return;
  if (thread->tid <= 0)
    {
      if (thread->interpreter != 0)
        say_unknown (taking);
      return;
    }
  taking->n_threads++;
  LnsPythonTrail *trail = thread->n_frames > 0 ? trail_of (taking->target, thread->tid) : NULL;
  uint32_t node = LNS_ID_NONE;
  /* A thread may get the place in memory of one that ended, which Python still lists, behind the new one. */
  if (trail != NULL && trail->sampled_ns == taking->time_ns)
    return;
  if (trail != NULL)
    trail->sampled_ns = taking->time_ns;
  if (trail != NULL && thread->name != NULL)
    tell_name (taking, trail, thread);
  if (sampling->names_only)
    return;
  if (trail != NULL && thread->is_unchanged && trail->n > 0)
    node = trail->steps[trail->n - 1].node;
  else if (trail != NULL && list_calls (taking, thread))
    node = _lns_python_tree_node (&sampling->tree, trail, sampling->functions.items,
                                  sampling->lines.items, sampling->functions.n);
  LnsPythonSampleRecord record = {
    .head = { .process = taking->target->process, .time_ns = taking->time_ns },
    .tid = (uint32_t)thread->tid,
    .node = node,
    .state = states[thread->state],
    .lock = locks[thread->gil],
  };
  if (node != LNS_ID_NONE && put (sampling, &record.head, LNS_PYTHON_SAMPLE, sizeof record))
    sampling->counted.n_taken++;
  else if (sampling->is_asked_for)
    sampling->counted.n_skipped++;
}

static void
sample (LnsPythonSampling *sampling, LnsPythonTarget *target)
{
  Taking taking = { sampling, target, lns_monotonic_ns (), 0 };
  if (!_lns_python_target_is_there (target, taking.time_ns))
    return;
  if (!sampling->is_asked_for) /* whoever tells of processes may know more by now */
    target->process = lns_peers_find (sampling->peers, target->pid, target->start_ns);
  if (target->process == LNS_ID_NONE)
    return;
  if (lns_python_reader_sample (target->reader, take, &taking) != LNS_PYTHON_READY)
    _lns_python_target_leave (target, taking.time_ns);
  sampling->n_last += taking.n_threads;
  if (target->trails.n > 2 * taking.n_threads + SPARE_TRAILS)
    {
      LnsPythonTrail *trail;
      for (size_t at = 0; (trail = lns_id_map_next (&target->trails, &at)) != NULL;)
        {
          _lns_python_trail_clear (trail);
          free (trail);
        }
      lns_id_map_clear (&target->trails);
    }
}

/* Says so if there was nothing to sample. */
static void
tell_nothing (LnsPythonSampling *sampling)
{
  if (sampling->targets.has_read || sampling->has_told || !sampling->is_asked_for)
    return;
  LnsBatchEvent event = lns_batch_diagnostic (
      LNS_ID_NONE, "LNS-PYTHON-005", LNS_SEVERITY_WARNING,
      LNS_SENTENCE ("Python functions are not sampled, as no process of the program was seen to "
                    "run CPython 3.9 to 3.14; record a program that does, for longer than 0.1 s"));
  sampling->has_told = true;
  lns_mailbox_add (sampling->peers->mailbox, &event);
}

/* --- The thread ------------------------------------------------------------------------------- */

static int64_t
cpu_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Takes SPENT_NS from BUDGET, of which 1 / SHARE of the time passes into. Returns the time from NOW_NS on for which nothing more
 * may be spent, 0 at least. */
static int64_t
spend (Budget *budget, int share, int64_t now_ns, int64_t spent_ns)
{
  budget->credit_ns += (now_ns - budget->credited_ns) / share;
  budget->credited_ns = now_ns;
  if (budget->credit_ns > budget->most_ns)
    budget->credit_ns = budget->most_ns;
  budget->credit_ns -= spent_ns;
  return budget->credit_ns < 0 ? -budget->credit_ns * share : 0;
}

static void
look (LnsPythonSampling *sampling, int64_t now_ns)
{
  const int64_t before_ns = cpu_ns ();
  _lns_python_targets_look (&sampling->targets, now_ns, say, sampling);
  _lns_python_targets_tell_ends (&sampling->targets, now_ns, false);
  const bool is_eager =
      sampling->is_asked_for ||
      (!sampling->names_only && (sampling->targets.has_read || now_ns < sampling->eager_until_ns));
  const int64_t rest_ns = spend (&sampling->looks, is_eager ? LOOK_SHARE : NAMES_LOOK_SHARE, now_ns,
                                 cpu_ns () - before_ns);
  sampling->next_look_ns = now_ns + (rest_ns > LOOK_NS ? rest_ns : LOOK_NS);
}

/* Samples all processes, and computes when to do so next. */
static void
take_turn (LnsPythonSampling *sampling, int64_t now_ns)
{
  const int64_t period_ns = 1000000000 / sampling->hz, before_ns = cpu_ns ();
  /* While the recorder is behind, samples would only wait. */
  const bool is_behind = atomic_load (&sampling->n_waiting_bytes) >= WAITING_BYTES;
  bool has_any = false;
  const uint64_t n_before = sampling->n_last;
  sampling->n_last = is_behind ? n_before : 0;
  for (size_t i = 0; i < sampling->targets.all.n; i++)
    if (sampling->targets.all.items[i]->reader != NULL)
      {
        has_any = true;
        if (!is_behind)
          sample (sampling, sampling->targets.all.items[i]);
      }
  if (is_behind && sampling->is_asked_for)
    sampling->counted.n_skipped += n_before;
  if (!has_any)
    {
      sampling->next_ns = sampling->next_look_ns;
      return;
    }
  const int64_t rested_ns =
      now_ns + spend (&sampling->samples, sampling->share, now_ns, cpu_ns () - before_ns);
  const int64_t due_ns = sampling->next_ns + period_ns, ended_ns = lns_monotonic_ns ();
  int64_t next_ns = due_ns > ended_ns ? due_ns : ended_ns;
  if (rested_ns > next_ns)
    next_ns = rested_ns;
  /* Turns that would have been between this one and the next. */
  if (sampling->is_asked_for)
    sampling->counted.n_skipped += (uint64_t)((next_ns - due_ns) / period_ns) * sampling->n_last;
  sampling->next_ns = next_ns;
}

/* Waits until something is due, or asked for. Returns whether the thread is to end; sets RET_ASKED to the drain that is waited for,
 * and RET_PAUSED. */
static bool
wait_for_turn (LnsPythonSampling *sampling, uint64_t *ret_asked, bool *ret_paused)
{
  const int64_t until_ns =
      sampling->next_ns < sampling->next_look_ns ? sampling->next_ns : sampling->next_look_ns;
  const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
  pthread_mutex_lock (&sampling->lock);
  int failed = 0;
  while (failed != ETIMEDOUT && !sampling->is_stopping && sampling->n_asked == sampling->n_drained)
    failed = sampling->is_paused
                 ? pthread_cond_wait (&sampling->changed, &sampling->lock)
                 : pthread_cond_timedwait (&sampling->changed, &sampling->lock, &until);
  const bool is_stopping = sampling->is_stopping;
  *ret_asked = sampling->n_asked;
  *ret_paused = sampling->is_paused;
  pthread_mutex_unlock (&sampling->lock);
  return is_stopping;
}

static void
settle (LnsPythonSampling *sampling, uint64_t asked)
{
  pthread_mutex_lock (&sampling->lock);
  const bool is_news = asked != sampling->n_drained;
  pthread_mutex_unlock (&sampling->lock);
  if (!is_news)
    return;
  _lns_python_targets_tell_ends (&sampling->targets, lns_monotonic_ns (), true);
  post_records (sampling, lns_monotonic_ns ());
  tell_nothing (sampling);
  pthread_mutex_lock (&sampling->lock);
  sampling->n_drained = asked;
  pthread_cond_broadcast (&sampling->settled);
  pthread_mutex_unlock (&sampling->lock);
}

static void *
run (void *data)
{
  LnsPythonSampling *sampling = data;
  uint64_t asked;
  bool is_paused, was_paused = false;
  lns_text_stay_english ();       /* what fails here is told in the report */
  prctl (PR_SET_TIMERSLACK, 1ul); /* in ns; the default is 50 µs, much for 2,000 samples a second */
  /* If that is allowed: what takes so little must not wait for the programs that it samples. */
  setpriority (PRIO_PROCESS, (id_t)gettid (), -10);
  sampling->next_ns = sampling->next_look_ns = lns_monotonic_ns ();
  sampling->eager_until_ns = sampling->next_ns + EAGER_NS;
  sampling->samples = (Budget){ BURST_NS, BURST_NS, sampling->next_ns };
  sampling->looks = (Budget){ LOOK_BURST_NS, LOOK_BURST_NS, sampling->next_ns };
  while (!wait_for_turn (sampling, &asked, &is_paused))
    {
      int64_t now_ns = lns_monotonic_ns ();
      if (!is_paused && was_paused)
        sampling->next_ns = sampling->next_look_ns = now_ns;
      was_paused = is_paused;
      if (!is_paused && now_ns >= sampling->next_look_ns)
        look (sampling, now_ns);
      now_ns = lns_monotonic_ns ();
      if (!is_paused && now_ns >= sampling->next_ns)
        take_turn (sampling, now_ns);
      if (now_ns - sampling->posted_ns >= POST_NS || sampling->tree.out.size_bytes >= POST_BYTES)
        post_records (sampling, now_ns);
      settle (sampling, asked);
    }
  return NULL;
}

/* --- From other threads ----------------------------------------------------------------------- */

LnsPythonSampling *
lns_python_sampling_new (const LnsPythonSamplingOptions *options, LnsPeers *peers)
{
  if (options->hz == 0 && !options->wants_names)
    return NULL;
  LnsPythonSampling *sampling = lns_calloc (1, sizeof *sampling);
  pthread_condattr_t monotonic;
  sampling->names_only = options->hz == 0;
  sampling->is_asked_for = options->is_asked_for && options->hz > 0;
  sampling->hz = sampling->names_only ? NAMES_HZ : options->hz;
  sampling->share = sampling->names_only ? NAMES_SHARE : SHARE;
  sampling->peers = peers;
  pthread_mutex_init (&sampling->lock, NULL);
  pthread_condattr_init (&monotonic);
  pthread_condattr_setclock (&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init (&sampling->changed, &monotonic);
  pthread_cond_init (&sampling->settled, &monotonic);
  pthread_condattr_destroy (&monotonic);
  _lns_python_targets_init (&sampling->targets, peers);
  sampling->targets.adds_none = !sampling->is_asked_for;
  return sampling;
}

void
lns_python_sampling_begin (LnsPythonSampling *sampling)
{
  sigset_t all, old;
  if (sampling == NULL)
    return;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  const int failed = pthread_create (&sampling->thread, NULL, run, sampling);
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  sampling->has_thread = failed == 0;
  if (failed == 0 || sampling->names_only)
    return;
  LnsBatchEvent event = lns_batch_diagnostic (
      LNS_ID_NONE, "LNS-PYTHON-003", severity (sampling),
      LNS_SENTENCE ("Python functions are not sampled, as Lanescope cannot start another thread "
                    "(%s); raise `ulimit -u` or `ulimit -v`"),
      strerror (failed));
  lns_mailbox_add (sampling->peers->mailbox, &event);
}

void
lns_python_sampling_set_recording (LnsPythonSampling *sampling, bool recording)
{
  if (sampling == NULL)
    return;
  pthread_mutex_lock (&sampling->lock);
  sampling->is_paused = !recording;
  pthread_cond_signal (&sampling->changed);
  pthread_mutex_unlock (&sampling->lock);
}

void
lns_python_sampling_drain (LnsPythonSampling *sampling, int64_t ns)
{
  if (sampling == NULL || !sampling->has_thread)
    return;
  const int64_t until_ns = lns_monotonic_ns () + ns;
  const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
  pthread_mutex_lock (&sampling->lock);
  const uint64_t asked = ++sampling->n_asked;
  pthread_cond_signal (&sampling->changed);
  while (sampling->n_drained < asked &&
         pthread_cond_timedwait (&sampling->settled, &sampling->lock, &until) == 0)
    ;
  pthread_mutex_unlock (&sampling->lock);
}

void
lns_python_sampling_stop (LnsPythonSampling *sampling)
{
  if (sampling == NULL || !sampling->has_thread)
    return;
  pthread_mutex_lock (&sampling->lock);
  sampling->is_stopping = true;
  pthread_cond_signal (&sampling->changed);
  pthread_mutex_unlock (&sampling->lock);
  pthread_join (sampling->thread, NULL);
  sampling->has_thread = false;
}

void
lns_python_sampling_free (LnsPythonSampling *sampling)
{
  if (sampling == NULL)
    return;
  _lns_python_targets_clear (&sampling->targets);
  _lns_python_tree_clear (&sampling->tree);
  lns_id_map_clear (&sampling->told);
  lns_array_clear (&sampling->functions);
  lns_array_clear (&sampling->lines);
  pthread_cond_destroy (&sampling->changed);
  pthread_cond_destroy (&sampling->settled);
  pthread_mutex_destroy (&sampling->lock);
  free (sampling);
}
