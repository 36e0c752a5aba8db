/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/cpu/sampling.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/session/cpu/attach.h"
#include "capture/session/cpu/family.h"
#include "capture/session/cpu/rings.h"
#include "capture/session/cpu/stacks.h"
#include "capture/session/decode/cpu/cpu.h"
#include "capture/session/system/build-id.h"
#include "capture/session/system/mappings.h"
#include "src/base/buffer.h"
#include "src/base/language.h"
#include "src/base/memory.h"
#include "src/base/monotonic.h"

/* How often rings are read; a ring that is half full is read at once. A record waits for one more turn, as others of its time
 * may still come from other CPUs. Programs that end sooner after exec have no command line in the report. */
#define PERIOD_MS 20

/* What the recorder may be behind by. */
#define WAITING_BYTES ((size_t)64 << 20)

/* How many processes are named that are not recorded. */
#define MOST_REFUSED 4

#define PARANOID_PATH "/proc/sys/kernel/perf_event_paranoid"

struct LnsCpuSampling
{
  LnsCpuSamplingOptions options;
  LnsPeers *peers;
  LnsCpuEvents events; /* of the thread once it runs, but for its descriptors */
  pthread_mutex_t lock;
  pthread_cond_t settled; /* `n_drained` grew */
  pthread_t thread;
  bool is_open, has_thread; /* written before the thread runs */
  bool is_stopping;         /* under the lock, as the next four */
  bool is_paused;
  int64_t paused_ns; /* when it was paused and the thread has not noted it; 0: never */
  uint64_t n_asked, n_drained;
  int wake_fd;                   /* an eventfd, readable after one of these changed */
  atomic_size_t n_waiting_bytes; /* of records that are not recorded yet */
  /* Of the thread: */
  LnsCpuOrder *order;
  LnsFamily family;
  bool is_attached; /* to processes that ran already: records have owners */
  LnsCpuOwners owners;
  LnsStacks *stacks; /* NULL: samples come without stacks */
  LnsBuffer out;     /* records for the next event */
  uint64_t n_samples;
  uint64_t n_dropped; /* records without memory that no LNS_CPU_LOST tells of */
};

/* --- Records ---------------------------------------------------------------------------------- */

/* Hands the records in `out` to the next batch. */
static void
post_records (LnsCpuSampling *sampling)
{
  LnsBuffer *out = &sampling->out;
  if (out->size_bytes == 0)
    return;
  LnsBatchEvent event = { .kind = LNS_BATCH_CPU,
                          .time_ns = ((const LnsCpuHead *)out->bytes)->time_ns,
                          .cpu = out->bytes,
                          .n_cpu_bytes = out->size_bytes,
                          .waiting = &sampling->n_waiting_bytes };
  atomic_fetch_add (&sampling->n_waiting_bytes, out->size_bytes);
  lns_mailbox_add (sampling->peers->mailbox, &event);
  *out = (LnsBuffer){ 0 };
}

/* Adds a record of KIND with VALUE and the N_BYTES at REST behind its head. */
static void
put (LnsCpuSampling *sampling,
     LnsCpuKind kind,
     uint32_t process,
     const LnsCpuRecordIds *ids,
     uint64_t value,
     const void *rest,
     size_t n_bytes)
{
  const size_t n_words = (sizeof (LnsCpuHead) + n_bytes + 7) / 8;
  const LnsCpuHead head = { .kind = (uint16_t)kind,
                            .n_words = (uint16_t)n_words,
                            .process = process,
                            .tid = ids->tid,
                            .cpu = ids->cpu,
                            .time_ns = ids->time_ns,
                            .value = value };
  uint8_t *at = lns_buffer_reserve (&sampling->out, n_words * 8);
  sampling->out.failed = false;
  if (at == NULL)
    {
      sampling->n_dropped++;
      return;
    }
  memset (at + (n_words - 1) * 8, 0, 8);
  memcpy (at, &head, sizeof head);
  if (n_bytes > 0)
    memcpy (at + sizeof head, rest, n_bytes);
  sampling->out.size_bytes += n_words * 8;
}

/* --- What the kernel says --------------------------------------------------------------------- */

/* The words of a sample that are not read yet. */
typedef struct
{
  const uint64_t *at;
  size_t n;
} Words;

/* The next N words, or NULL if there are fewer. */
static const uint64_t *
next_words (Words *words, uint64_t n)
{
  if (n > words->n)
    {
      words->n = 0;
      return NULL;
    }
  const uint64_t *at = words->at;
  words->at += n;
  words->n -= n;
  return at;
}

static uint64_t
next_word (Words *words)
{
  const uint64_t *word = next_words (words, 1);
  return word != NULL ? *word : 0;
}

/* A call chain, the leaf first. */
typedef struct
{
  uint64_t addresses[LNS_CPU_MAX_FRAMES];
  size_t n_kernel, n; /* those in the kernel come first */
} Chain;

/* Takes the addresses that the kernel found. Marks among them say which are its own. */
static void
take_chain (Words *words, Chain *ret_chain)
{
  bool is_kernel = false;
  const uint64_t n = next_word (words), *addresses = next_words (words, n);
  for (uint64_t i = 0; addresses != NULL && i < n && ret_chain->n < LNS_CPU_MAX_FRAMES; i++)
    if (addresses[i] >= PERF_CONTEXT_MAX)
      is_kernel = addresses[i] == PERF_CONTEXT_KERNEL;
    else if (!is_kernel && addresses[i] >= LNS_CPU_KERNEL_START)
      break; /* no return address: the program uses the frame pointer for something else */
    else
      {
        ret_chain->addresses[ret_chain->n++] = addresses[i];
        ret_chain->n_kernel += is_kernel;
      }
}

/* Replaces the program's part of CHAIN by what the registers and the stack in WORDS lead to, if these are of a program of the
 * machine's own word size. */
static void
unwind (LnsCpuSampling *sampling, uint32_t pid, Words *words, Chain *chain)
{
  uint64_t followed[LNS_CPU_MAX_FRAMES], *own = chain->addresses + chain->n_kernel;
  const unsigned n_registers = (unsigned)__builtin_popcountll (sampling->events.registers);
  if (next_word (words) != PERF_SAMPLE_REGS_ABI_64 || chain->n_kernel == LNS_CPU_MAX_FRAMES)
    return;
  const uint64_t *values = next_words (words, n_registers);
  const uint64_t n_copied = next_word (words), *copied = next_words (words, n_copied / 8),
                 n_bytes = next_word (words); /* of those that were copied, it could read so many */
  LnsRegisters registers;
  if (values == NULL || copied == NULL || n_bytes > n_copied ||
      !lns_registers_from_perf (sampling->events.machine, sampling->events.registers, values,
                                n_registers, &registers))
    return;
  const LnsStackCopy stack = { (const uint8_t *)copied, n_bytes,
                               registers.values[sampling->events.machine->stack_pointer] };
  const size_t n_followed = chain->n - chain->n_kernel;
  memcpy (followed, own, n_followed * sizeof *followed);
  chain->n = chain->n_kernel + lns_stacks_unwind (sampling->stacks, (int32_t)pid, &registers,
                                                  &stack, followed, n_followed, own,
                                                  LNS_CPU_MAX_FRAMES - chain->n_kernel);
}

static void
take_sample (LnsCpuSampling *sampling,
             const LnsRelative *relative,
             const struct perf_event_header *record,
             const LnsCpuRecordIds *ids)
{
  Chain chain;
  Words words = { (const uint64_t *)(record + 1),
                  (record->size - sizeof *record) / sizeof (uint64_t) };
  next_word (&words); /* the event's id */
  const uint64_t ip = next_word (&words);
  next_words (&words, 3); /* the ids */
  const uint64_t period = next_word (&words);
  const unsigned each = sampling->options.n_samples_of_a_chain;
  chain.n = chain.n_kernel = 0;
  if (each < 2 || sampling->n_samples++ % each == 0)
    {
      if (sampling->events.has_chains)
        take_chain (&words, &chain);
      if (sampling->stacks != NULL)
        unwind (sampling, ids->pid, &words, &chain);
    }
  /* Where the program was interrupted is no return address, although it follows those of the kernel. */
  if (chain.n_kernel > 0 && chain.n > chain.n_kernel &&
      chain.addresses[chain.n_kernel] != LNS_CPU_CUT)
    chain.addresses[chain.n_kernel]++;
  if (chain.n == 0)
    chain.addresses[chain.n++] = ip;
  put (sampling, LNS_CPU_SAMPLE, relative->process, ids, sampling->events.has_cycles ? period : 0,
       chain.addresses, chain.n * sizeof *chain.addresses);
}

/* A thread of RELATIVE, or an interrupt meanwhile, wakes another thread. */
static void
take_waking (LnsCpuSampling *sampling,
             const LnsRelative *relative,
             const struct perf_event_header *record,
             const LnsCpuRecordIds *ids)
{
  uint32_t n, tid;
  bool is_interrupt;
  const uint8_t *raw = (const uint8_t *)(record + 1) + 4 * sizeof (uint64_t);
  const size_t n_head = sizeof *record + 4 * sizeof (uint64_t) + sizeof n;
  if (record->size < n_head)
    return;
  memcpy (&n, raw, sizeof n);
  if (n <= record->size - n_head &&
      lns_waking_format_read (&sampling->events.waking, raw + sizeof n, n, &tid, &is_interrupt))
    put (sampling, LNS_CPU_WAKING, relative->process, ids,
         tid | (is_interrupt ? LNS_CPU_BY_INTERRUPT : 0), NULL, 0);
}

static void
take_switch (LnsCpuSampling *sampling,
             const LnsRelative *relative,
             const struct perf_event_header *record,
             const LnsCpuRecordIds *ids)
{
  const bool is_out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
  const LnsCpuSwitch value = !is_out ? LNS_CPU_IN
                             : record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
                                 ? LNS_CPU_PREEMPTED
                                 : LNS_CPU_OUT;
  put (sampling, LNS_CPU_SWITCH, relative->process, ids, value, NULL, 0);
}

/* A PERF_RECORD_MMAP2. */
typedef struct
{
  struct perf_event_header header;
  uint32_t pid, tid;
  uint64_t address, n_bytes, file_offset;
  union
  {
    uint8_t identity[LNS_FILE_IDENTITY_BYTES]; /* device and inode, unless `misc` says otherwise */
    struct
    {
      uint8_t n_build_id, reserved[3], build_id[20];
    };
  };
  uint32_t protection, flags;
  char path[];
} Mapped;

_Static_assert(offsetof (Mapped, path) == 72, "as linux/perf_event.h has it");

/* A mapping in the making, with room for its path. */
typedef struct
{
  LnsCpuMapping mapping;
  char path[4096];
} MadeMapping;

/* Hands on MAPPING of RELATIVE, whose file has IDENTITY. */
static void
put_mapping (LnsCpuSampling *sampling,
             const LnsRelative *relative,
             const LnsCpuMapping *mapping,
             const uint8_t identity[static LNS_FILE_IDENTITY_BYTES],
             const LnsCpuRecordIds *ids)
{
  if (sampling->stacks != NULL)
    lns_stacks_map (sampling->stacks, relative->pid, mapping, identity);
  put (sampling, LNS_CPU_MAP, relative->process, ids, 0, &mapping->start,
       offsetof (LnsCpuMapping, path) - offsetof (LnsCpuMapping, start) + strlen (mapping->path) +
           1);
}

static void
take_mapping (LnsCpuSampling *sampling,
              LnsRelative *relative,
              const struct perf_event_header *record,
              const LnsCpuRecordIds *ids)
{
  const Mapped *mapped = (const Mapped *)record;
  MadeMapping made = { 0 };
  LnsCpuMapping *mapping = &made.mapping;
  char *path = (char *)mapping + offsetof (LnsCpuMapping, path);
  const size_t n_path = record->size - sizeof *mapped;
  const size_t n =
      strnlen (mapped->path, n_path < sizeof made.path - 1 ? n_path : sizeof made.path - 1);
  if (record->size <= sizeof *mapped)
    return;
  mapping->start = mapped->address;
  mapping->end = mapped->address + mapped->n_bytes;
  mapping->file_offset = mapped->file_offset;
  memcpy (path, mapped->path, n);
  if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
    {
      mapping->n_build_id = mapped->n_build_id <= sizeof mapping->build_id ? mapped->n_build_id : 0;
      memcpy (mapping->build_id, mapped->build_id, mapping->n_build_id);
    }
  else if (path[0] == '/')
    mapping->n_build_id = (uint8_t)lns_build_id_read (path, mapping->build_id);
  put_mapping (sampling, relative, mapping, mapped->identity, ids);
  lns_family_map (&sampling->family, relative, path, ids->time_ns);
}

/* A PERF_RECORD_FORK or _EXIT. */
typedef struct
{
  struct perf_event_header header;
  uint32_t pid, parent_pid, tid, parent_tid;
  uint64_t time;
} Task;

static void
take_fork (LnsCpuSampling *sampling, const Task *task, const LnsCpuRecordIds *record_ids)
{
  LnsCpuRecordIds ids = *record_ids; /* which are the parent's */
  ids.pid = task->pid;
  if (task->pid == task->parent_pid)
    {
      LnsRelative *relative = lns_family_find (&sampling->family, (int32_t)task->pid, ids.time_ns);
      if (relative == NULL || relative->process == LNS_ID_NONE)
        return;
      relative->n_threads++;
      ids.tid = lns_family_own_tid (relative, task->tid);
      put (sampling, LNS_CPU_FORK, relative->process, &ids, 0, NULL, 0);
      return;
    }
  const LnsRelative *parent =
      lns_family_find (&sampling->family, (int32_t)task->parent_pid, ids.time_ns);
  const uint64_t from = parent != NULL ? 1 + (uint64_t)parent->process : 0;
  if (sampling->stacks != NULL)
    lns_stacks_fork (sampling->stacks, (int32_t)task->pid, (int32_t)task->parent_pid);
  LnsRelative *relative = lns_family_fork (&sampling->family, (int32_t)task->pid,
                                           (int32_t)task->parent_pid, ids.time_ns);
  if (relative == NULL || relative->process == LNS_ID_NONE)
    return;
  ids.tid = lns_family_own_tid (relative, task->tid);
  put (sampling, LNS_CPU_FORK, relative->process, &ids, from, NULL, 0);
}

static void
take_exit (LnsCpuSampling *sampling, const Task *task, const LnsCpuRecordIds *record_ids)
{
  LnsCpuRecordIds ids = *record_ids;
  LnsRelative *relative = lns_id_map_get (&sampling->family.relatives, task->pid);
  if (relative == NULL)
    return;
  ids.tid = lns_family_own_tid (relative, task->tid);
  lns_id_map_take (&relative->own_tids, task->tid);
  /* Of a program that ran already, threads that began or ended while it was attached to may have been missed. */
  const bool is_miscounted = sampling->is_attached && relative->end_fd >= 0;
  const bool is_last = !is_miscounted && relative->n_threads <= 1 &&
                       (!sampling->is_attached || lns_process_is_ending (relative->pid));
  if (is_miscounted)
    relative->exited_ns = ids.time_ns;
  if (relative->process != LNS_ID_NONE)
    put (sampling, LNS_CPU_EXIT, relative->process, &ids, is_last, NULL, 0);
  if (!is_last)
    {
      relative->n_threads -= relative->n_threads > 1;
      return;
    }
  if (sampling->stacks != NULL)
    lns_stacks_end (sampling->stacks, relative->pid);
  post_records (sampling); /* before the recorder hears of the end */
  lns_family_end (&sampling->family, relative, ids.time_ns);
}

/* A PERF_RECORD_COMM. */
typedef struct
{
  struct perf_event_header header;
  uint32_t pid, tid;
  char name[];
} Named;

static void
take_name (LnsCpuSampling *sampling,
           LnsRelative *relative,
           const Named *named,
           const LnsCpuRecordIds *ids)
{
  char name[32] = { 0 };
  const size_t n = named->header.size - sizeof *named;
  memcpy (name, named->name, strnlen (named->name, n < sizeof name - 1 ? n : sizeof name - 1));
  const bool is_exec = named->header.misc & PERF_RECORD_MISC_COMM_EXEC;
  const LnsCpuProgram program = !is_exec                            ? LNS_CPU_SAME_PROGRAM
                                : sampling->options.events.switches ? LNS_CPU_NEW_PROGRAM_RUNS
                                                                    : LNS_CPU_NEW_PROGRAM;
  const uint32_t before = relative->process;
  if (is_exec && sampling->stacks != NULL)
    lns_stacks_end (sampling->stacks, relative->pid);
  if (is_exec)
    lns_family_exec (&sampling->family, relative, name, ids->time_ns);
  if (is_exec && before != LNS_ID_NONE && before != relative->process)
    put (sampling, LNS_CPU_EXIT, before, ids, 1, NULL, 0);
  if (relative->process != LNS_ID_NONE)
    put (sampling, LNS_CPU_NAME, relative->process, ids, program, name, strlen (name) + 1);
}

static void
take_lost (LnsCpuSampling *sampling,
           const struct perf_event_header *record,
           const LnsCpuRecordIds *ids)
{
  const uint64_t *words = (const uint64_t *)(record + 1);
  const bool is_of_samples = record->type == PERF_RECORD_LOST_SAMPLES;
  const int64_t from_ns = ids->before_ns != INT64_MIN ? ids->before_ns : ids->time_ns;
  const LnsRelative *relative = lns_id_map_get (&sampling->family.relatives, ids->pid);
  put (sampling, LNS_CPU_LOST, relative != NULL ? relative->process : 0, ids,
       is_of_samples ? words[0] : words[1], &from_ns, sizeof from_ns);
}

static void
take (void *data, const struct perf_event_header *record, const LnsCpuRecordIds *record_ids)
{
  LnsCpuSampling *sampling = data;
  LnsCpuRecordIds own_ids = *record_ids, *ids = &own_ids;
  if (sampling->is_attached && !lns_cpu_owners_admit (&sampling->owners, record, record_ids))
    return;
  switch (record->type)
    {
    case PERF_RECORD_FORK:
      take_fork (sampling, (const Task *)record, ids);
      return;
    case PERF_RECORD_EXIT:
      take_exit (sampling, (const Task *)record, ids);
      return;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
      take_lost (sampling, record, ids);
      return;
    default:
      break;
    }
  LnsRelative *relative = lns_family_find (&sampling->family, (int32_t)ids->pid, ids->time_ns);
  if (relative == NULL || relative->process == LNS_ID_NONE)
    return;
  ids->tid = lns_family_own_tid (relative, ids->tid);
  switch (record->type)
    {
    case PERF_RECORD_SAMPLE:
      (ids->is_waking ? take_waking : take_sample) (sampling, relative, record, ids);
      break;
    case PERF_RECORD_SWITCH:
      take_switch (sampling, relative, record, ids);
      break;
    case PERF_RECORD_MMAP2:
      take_mapping (sampling, relative, record, ids);
      break;
    case PERF_RECORD_COMM:
      take_name (sampling, relative, (const Named *)record, ids);
      break;
    default:
      break;
    }
}

/* --- The thread ------------------------------------------------------------------------------- */

/* Takes the records up to UNTIL_NS. */
static void
read_rings (LnsCpuSampling *sampling, int64_t until_ns)
{
  pthread_mutex_lock (&sampling->lock);
  const int64_t paused_ns = sampling->paused_ns;
  if (paused_ns <= until_ns)
    sampling->paused_ns = 0;
  pthread_mutex_unlock (&sampling->lock);
  const LnsCpuRecordIds ids = { .time_ns = paused_ns };
  const bool is_pause = paused_ns != 0 && paused_ns <= until_ns;
  if (is_pause)
    {
      lns_cpu_order_read (sampling->order, paused_ns, take, sampling);
      put (sampling, LNS_CPU_PAUSE, 0, &ids, 0, NULL, 0);
    }
  lns_cpu_order_read (sampling->order, until_ns, take, sampling);
  if (sampling->n_dropped > 0)
    {
      const uint64_t n = sampling->n_dropped;
      sampling->n_dropped = 0;
      put (sampling, LNS_CPU_LOST, 0, &(LnsCpuRecordIds){ .time_ns = until_ns }, n, &until_ns,
           sizeof until_ns);
      if (sampling->n_dropped > 0)
        sampling->n_dropped += n - 1;
    }
  post_records (sampling);
  if (sampling->is_attached)
    lns_family_end_gone (&sampling->family, until_ns);
}

/* Waits for the next turn. */
static void
wait_for_turn (LnsCpuSampling *sampling, struct pollfd *fds)
{
  const size_t n = sampling->events.rings.n;
  eventfd_t count;
  poll (fds, (nfds_t)n + 1, PERIOD_MS);
  for (size_t i = 0; i < n; i++)
    if (fds[i].revents & (POLLHUP | POLLERR))
      fds[i].fd = -1;                       /* all threads have ended; the ring may still be read */
  eventfd_read (sampling->wake_fd, &count); /* fails only where it is not readable */
}

/* Reads all records up to UNTIL_NS, and says so. */
static void
read_until (LnsCpuSampling *sampling, int64_t until_ns)
{
  read_rings (sampling, until_ns);
  lns_mailbox_note_samples (sampling->peers->mailbox, until_ns);
}

static void *
run (void *data)
{
  LnsCpuSampling *sampling = data;
  const size_t n = sampling->events.rings.n;
  struct pollfd *fds = calloc (n + 1, sizeof *fds);
  int64_t turn_ns = lns_monotonic_ns ();
  bool is_stopping = fds == NULL;
  lns_text_stay_english (); /* what fails here is told in the report, too */
  /* If that is allowed: rings are small, and a busy machine must not overflow them. */
  setpriority (PRIO_PROCESS, (id_t)gettid (), -10);
  for (size_t i = 0; fds != NULL && i < n; i++)
    fds[i] = (struct pollfd){ sampling->events.rings.items[i].side_fd, POLLIN, 0 };
  if (fds != NULL)
    fds[n] = (struct pollfd){ sampling->wake_fd, POLLIN, 0 };
  while (!is_stopping)
    {
      wait_for_turn (sampling, fds);
      pthread_mutex_lock (&sampling->lock);
      const uint64_t n_asked = sampling->n_asked, n_drained = sampling->n_drained;
      is_stopping = sampling->is_stopping;
      pthread_mutex_unlock (&sampling->lock);
      if (sampling->is_attached)
        lns_family_note_gone (&sampling->family);
      lns_family_tell_awaited (&sampling->family);
      const int64_t now_ns = lns_monotonic_ns ();
      if (n_asked != n_drained)
        read_until (sampling, now_ns);
      else if (atomic_load (&sampling->n_waiting_bytes) < WAITING_BYTES)
        read_until (sampling, turn_ns);
      turn_ns = now_ns;
      if (n_asked == n_drained)
        continue;
      pthread_mutex_lock (&sampling->lock);
      sampling->n_drained = n_asked;
      pthread_cond_broadcast (&sampling->settled);
      pthread_mutex_unlock (&sampling->lock);
    }
  lns_family_tell_awaited (&sampling->family);
  lns_mailbox_note_samples (sampling->peers->mailbox, INT64_MAX);
  free (fds);
  return NULL;
}

/* --- Begin ------------------------------------------------------------------------------------ */

LnsCpuSampling *
lns_cpu_sampling_new (const LnsCpuSamplingOptions *options, LnsPeers *peers)
{
  LnsCpuSampling *sampling = lns_calloc (1, sizeof *sampling);
  pthread_condattr_t monotonic;
  sampling->options = *options;
  sampling->peers = peers;
  sampling->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  pthread_mutex_init (&sampling->lock, NULL);
  pthread_condattr_init (&monotonic);
  pthread_condattr_setclock (&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init (&sampling->settled, &monotonic);
  lns_family_init (&sampling->family, peers);
  return sampling;
}

typedef struct
{
  LnsCpuSampling *sampling;
  LnsCpuSay say;
  void *data;
} Listener;

/* Tells LISTENER and the report. */
static void __attribute__ ((format (printf, 3, 4)))
tell (const Listener *listener, const char *code, const char *format, ...)
{
  const LnsSeverity severity =
      listener->sampling->options.is_asked_for ? LNS_SEVERITY_WARNING : LNS_SEVERITY_INFO;
  char text[400];
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (text, sizeof text, format, arguments);
  va_end (arguments);
  listener->say (listener->data, severity, code, text);
  LnsBatchEvent event = lns_batch_diagnostic (LNS_ID_NONE, code, severity, "%s", text);
  lns_mailbox_add (listener->sampling->peers->mailbox, &event);
}

static int
paranoid_level (void)
{
  int level = 0;
  FILE *file = fopen (PARANOID_PATH, "re");
  if (file != NULL && fscanf (file, "%d", &level) != 1)
    level = 0;
  if (file != NULL)
    fclose (file);
  return level;
}

static void
tell_refusal (const Listener *listener, int failed, LnsCpuEventsStep step)
{
  const int level = paranoid_level ();
  if (step == LNS_CPU_EVENTS_MAP)
    tell (
        listener, "LNS-CPU-003",
        LNS_SENTENCE ("CPU samples and thread scheduling are not recorded, as the kernel gives no "
                      "memory for them (%s); raise `ulimit -l`, or end other programs that record"),
        strerror (failed));
  else if (failed == EACCES && level > 2)
    tell (listener, "LNS-CPU-001",
          LNS_SENTENCE ("CPU samples and thread scheduling are not recorded, as "
                        "kernel.perf_event_paranoid is %d; allow them with `sudo sysctl "
                        "kernel.perf_event_paranoid=2`, or turn them off with --sample=none "
                        "--cpuctxsw=none"),
          level);
  else if (failed == EACCES || failed == EPERM)
    tell (listener, "LNS-CPU-002",
          LNS_SENTENCE ("CPU samples and thread scheduling are not recorded, as perf_event_open is "
                        "denied (%s); allow it in the container's seccomp profile (`docker run "
                        "--cap-add=PERFMON`), or turn them off with --sample=none --cpuctxsw=none"),
          strerror (failed));
  else if (failed == EMFILE || failed == ENFILE)
    tell (listener, "LNS-CPU-004",
          LNS_SENTENCE ("CPU samples and thread scheduling are not recorded, as Lanescope may open "
                        "no more files (%s); raise `ulimit -n`"),
          strerror (failed));
  else
    tell (listener, "LNS-CPU-004",
          LNS_SENTENCE ("CPU samples and thread scheduling are not recorded, as the kernel cannot "
                        "do that (%s); `lanescope status -e` says what it can"),
          strerror (failed));
}

static int
start_thread (LnsCpuSampling *sampling)
{
  sigset_t all, old;
  if (sampling->wake_fd >= 0 && sampling->order == NULL)
    sampling->order = lns_cpu_order_new (&sampling->events);
  if (sampling->order == NULL || sampling->wake_fd < 0)
    return sampling->wake_fd >= 0 ? ENOMEM : EMFILE;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  const int failed = pthread_create (&sampling->thread, NULL, run, sampling);
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  sampling->has_thread = failed == 0;
  return failed;
}

/* Says that samples are fewer than were asked for, if they are. */
static void
tell_rate (const Listener *listener)
{
  const LnsCpuEvents *events = &listener->sampling->events;
  const LnsCpuEventsOptions *asked = &listener->sampling->options.events;
  if (events->hz < asked->hz && asked->period == 0)
    tell (listener, "LNS-CPU-005",
          LNS_SENTENCE ("CPU samples are taken %u times a second instead of %u, as the kernel "
                        "allows no more; raise kernel.perf_event_max_sample_rate"),
          events->hz, asked->hz);
}

static void
make_stacks (LnsCpuSampling *sampling)
{
  const LnsCpuEventsOptions *options = &sampling->options.events;
  if (options->samples && (options->callers & LNS_CPU_STACKS))
    sampling->stacks = lns_stacks_new (sampling->events.machine);
}

/* Starts the thread that reads the events, which are open. */
static void
start (const Listener *listener)
{
  const int failed = start_thread (listener->sampling);
  if (failed == 0)
    return;
  tell (listener, "LNS-CPU-004",
        LNS_SENTENCE ("CPU samples and thread scheduling are not recorded, as Lanescope cannot "
                      "start another thread (%s); raise `ulimit -u` or `ulimit -v`"),
        strerror (failed));
  lns_cpu_events_close (&listener->sampling->events);
}

void
lns_cpu_sampling_begin (
    LnsCpuSampling *sampling, pid_t pid, uint32_t process, LnsCpuSay say, void *data)
{
  const LnsCpuEventsOptions *events = &sampling->options.events;
  const Listener listener = { sampling, say, data };
  LnsCpuEventsStep step;
  if (!events->samples && !events->switches)
    return;
  const int failed =
      lns_cpu_events_open (&sampling->events, events, pid, sampling->is_paused, &step);
  if (failed != 0)
    {
      tell_refusal (&listener, failed, step);
      return;
    }
  tell_rate (&listener);
  lns_family_add_root (&sampling->family, pid, process);
  make_stacks (sampling);
  start (&listener);
}

/* --- Programs that run already ---------------------------------------------------------------- */

/* Identifies the file of MAPPING, which PID has mapped: by its build-id, or by its device and inode. */
static void
identify (int32_t pid, LnsCpuMapping *mapping, uint8_t ret_identity[static LNS_FILE_IDENTITY_BYTES])
{
  char path[4096 + 64];
  struct stat status;
  uint32_t device[2];
  uint64_t inode;
  memset (ret_identity, 0, LNS_FILE_IDENTITY_BYTES);
  if (mapping->path[0] != '/')
    return;
  /* As the process sees it, which may have another root folder. */
  snprintf (path, sizeof path, "/proc/%d/root%s", pid, mapping->path);
  mapping->n_build_id = (uint8_t)lns_build_id_read (path, mapping->build_id);
  if (mapping->n_build_id > 0)
    {
      ret_identity[0] = mapping->n_build_id;
      memcpy (ret_identity + 4, mapping->build_id, mapping->n_build_id);
    }
  else if (stat (path, &status) == 0)
    {
      device[0] = major (status.st_dev);
      device[1] = minor (status.st_dev);
      inode = status.st_ino;
      memcpy (ret_identity, device, sizeof device);
      memcpy (ret_identity + sizeof device, &inode, sizeof inode);
    }
}

/* A process that is being adopted. */
typedef struct
{
  LnsCpuSampling *sampling;
  const LnsRelative *relative;
  LnsCpuRecordIds ids;
} Adopted;

/* Hands on what RELATIVE had mapped before. The kernel tells of later mappings alone. */
static void
adopt_code (void *data, const LnsMappedCode *code)
{
  const Adopted *adopted = data;
  uint8_t identity[LNS_FILE_IDENTITY_BYTES];
  MadeMapping made = { 0 };
  LnsCpuMapping *mapping = &made.mapping;
  char *path = (char *)mapping + offsetof (LnsCpuMapping, path);
  if (code->start >= LNS_CPU_KERNEL_START)
    return;
  mapping->start = code->start;
  mapping->end = code->end;
  mapping->file_offset = code->file_offset;
  /* The kernel's name for code without a file */
  snprintf (path, sizeof made.path, "%s", code->path[0] != '\0' ? code->path : "//anon");
  identify (adopted->relative->pid, mapping, identity);
  put_mapping (adopted->sampling, adopted->relative, mapping, identity, &adopted->ids);
}

/* Adds PROCESS to the session as it was at BEGIN_NS: its program, its threads and what it has mapped. */
static void
adopt (LnsCpuSampling *sampling, const LnsCpuAttached *process, int64_t begin_ns)
{
  /* With threads of which nothing is known, its end is not seen either. */
  const unsigned n_threads = (unsigned)process->tids.n + process->n_left_out;
  LnsRelative *relative = lns_family_attach (&sampling->family, process->pid, n_threads, begin_ns);
  if (relative == NULL || relative->process == LNS_ID_NONE)
    return;
  Adopted adopted = { sampling, relative, { .time_ns = begin_ns } };
  adopted.ids.tid = lns_family_own_tid (relative, (uint32_t)relative->pid);
  if (process->tids.n > 0)
    lns_mapped_code_read (relative->pid, adopt_code, &adopted);
  for (size_t i = 0; i < process->tids.n; i++)
    {
      LnsProcessInfo thread; /* which /proc has of threads, too */
      LnsCpuRecordIds ids = adopted.ids;
      lns_process_info_begin (process->tids.items[i], &thread);
      ids.tid = lns_family_own_tid (relative, (uint32_t)process->tids.items[i]);
      if (thread.name != NULL)
        put (sampling, LNS_CPU_NAME, relative->process, &ids, LNS_CPU_SAME_PROGRAM, thread.name,
             strlen (thread.name) + 1);
      ids.time_ns = thread.start_ns;
      if (thread.start_ns != INT64_MIN)
        put (sampling, LNS_CPU_FORK, relative->process, &ids, 0, NULL, 0);
      lns_process_info_clear (&thread);
    }
}

/* Says which processes and threads are not recorded. */
static void
tell_left_out (const Listener *listener, const LnsCpuAttachment *attachment)
{
  unsigned n_refused = 0;
  for (size_t i = 0; i < attachment->processes.n; i++)
    if (attachment->processes.items[i].failed != 0 && n_refused++ < MOST_REFUSED)
      tell (listener, "LNS-CPU-007",
            LNS_SENTENCE ("process %d is not sampled, as the kernel denies access to it (%s); run "
                          "Lanescope as the user of the process, or as root"),
            attachment->processes.items[i].pid, strerror (attachment->processes.items[i].failed));
  if (n_refused > MOST_REFUSED)
    tell (listener, "LNS-CPU-007",
          LNS_SENTENCE ("further processes are not sampled, for the same reason: %u"),
          n_refused - MOST_REFUSED);
  if (attachment->n_left_out > 0)
    tell (
        listener, "LNS-CPU-008",
        LNS_SENTENCE ("not all threads are sampled, as Lanescope may open no more files (%s), and "
                      "each thread takes some for each CPU; %u left out; raise `ulimit -n`"),
        strerror (attachment->failed_last), attachment->n_left_out);
}

void
lns_cpu_sampling_attach (LnsCpuSampling *sampling, const LnsPids *pids, LnsCpuSay say, void *data)
{
  LnsCpuEventsOptions *options = &sampling->options.events;
  const Listener listener = { sampling, say, data };
  const bool is_asked_for = options->samples || options->switches;
  const int64_t begin_ns = lns_monotonic_ns ();
  LnsCpuAttachment attachment = { 0 };
  int failed = 0;
  options->runs_already = true;
  sampling->is_attached = true;
  if (is_asked_for)
    failed = lns_cpu_attach (&attachment, &sampling->events, options, pids, sampling->is_paused);
  else
    lns_cpu_attachment_list (&attachment, pids);
  sampling->owners = attachment.owners;
  sampling->order = attachment.order;
  if (sampling->order != NULL)
    make_stacks (sampling);
  for (size_t i = 0; i < attachment.processes.n; i++)
    adopt (sampling, &attachment.processes.items[i], begin_ns);
  post_records (sampling);
  if (failed != 0)
    tell_refusal (&listener, failed, attachment.failed);
  else
    tell_left_out (&listener, &attachment);
  if (sampling->order != NULL)
    {
      tell_rate (&listener);
      start (&listener);
    }
  lns_cpu_attachment_clear (&attachment);
}

/* --- From other threads ----------------------------------------------------------------------- */

void
lns_cpu_sampling_set_recording (LnsCpuSampling *sampling, bool recording)
{
  pthread_mutex_lock (&sampling->lock);
  if (sampling->is_paused == recording)
    {
      sampling->is_paused = !recording;
      if (sampling->has_thread)
        lns_cpu_events_set_paused (&sampling->events, !recording);
      if (!recording)
        sampling->paused_ns = lns_monotonic_ns ();
    }
  pthread_mutex_unlock (&sampling->lock);
}

void
lns_cpu_sampling_drain (LnsCpuSampling *sampling, int64_t ns)
{
  const int64_t until_ns = lns_monotonic_ns () + ns;
  const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
  if (!sampling->has_thread)
    return;
  pthread_mutex_lock (&sampling->lock);
  const uint64_t asked = ++sampling->n_asked;
  eventfd_write (sampling->wake_fd, 1); /* fails only where it is readable already */
  while (sampling->n_drained < asked &&
         pthread_cond_timedwait (&sampling->settled, &sampling->lock, &until) == 0)
    ;
  pthread_mutex_unlock (&sampling->lock);
}

void
lns_cpu_sampling_stop (LnsCpuSampling *sampling)
{
  if (sampling == NULL || !sampling->has_thread)
    return;
  pthread_mutex_lock (&sampling->lock);
  sampling->is_stopping = true;
  pthread_mutex_unlock (&sampling->lock);
  eventfd_write (sampling->wake_fd, 1);
  pthread_join (sampling->thread, NULL);
  sampling->has_thread = false;
}

void
lns_cpu_sampling_free (LnsCpuSampling *sampling)
{
  if (sampling == NULL)
    return;
  lns_cpu_order_free (sampling->order);
  lns_cpu_events_close (&sampling->events);
  lns_family_clear (&sampling->family);
  lns_cpu_owners_clear (&sampling->owners);
  lns_stacks_free (sampling->stacks);
  lns_buffer_clear (&sampling->out);
  if (sampling->wake_fd >= 0)
    close (sampling->wake_fd);
  pthread_cond_destroy (&sampling->settled);
  pthread_mutex_destroy (&sampling->lock);
  free (sampling);
}
