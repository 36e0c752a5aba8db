/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/cpu/records.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/session/system/build-id.h"
#include "capture/wire/own-calls.h"

void
lns_cpu_records_clear (LnsCpuRecords *records)
{
  lns_family_clear (&records->family);
  lns_cpu_hidden_clear (&records->hidden);
  lns_cpu_owners_clear (&records->owners);
  lns_stacks_free (records->stacks);
  lns_id_map_clear (&records->own_calls);
  lns_id_map_clear (&records->leaving);
  lns_buffer_clear (&records->out);
}

/* Hands the records in `out` to the next batch. */
static void
post (LnsCpuRecords *records)
{
  LnsBuffer *out = &records->out;
  if (out->size_bytes == 0)
    return;
  LnsBatchEvent event = { .kind = LNS_BATCH_CPU,
                          .time_ns = ((const LnsCpuHead *)out->bytes)->time_ns,
                          .cpu = out->bytes,
                          .n_cpu_bytes = out->size_bytes,
                          .waiting = &records->n_waiting_bytes };
  atomic_fetch_add (&records->n_waiting_bytes, out->size_bytes);
  lns_mailbox_add (records->peers->mailbox, &event);
  *out = (LnsBuffer){ 0 };
}

void
lns_cpu_records_put (LnsCpuRecords *records,
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
  uint8_t *at = lns_buffer_reserve (&records->out, n_words * 8);
  records->out.failed = false;
  if (at == NULL)
    {
      records->n_dropped++;
      return;
    }
  memset (at + (n_words - 1) * 8, 0, 8);
  memcpy (at, &head, sizeof head);
  if (n_bytes > 0)
    memcpy (at + sizeof head, rest, n_bytes);
  records->out.size_bytes += n_words * 8;
}

/* Adds a sample that the kernel did not give: an LnsCpuHiddenTake. */
static void
put_hidden (void *data, uint32_t process, uint32_t tid, uint32_t cpu, int64_t time_ns)
{
  const LnsCpuRecordIds ids = { .time_ns = time_ns, .tid = tid, .cpu = cpu };
  const uint64_t address = LNS_CPU_HIDDEN;
  lns_cpu_records_put (data, LNS_CPU_SAMPLE, process, &ids, 0, &address, sizeof address);
}

void
lns_cpu_records_hide (LnsCpuRecords *records, int64_t period_ns)
{
  records->hidden.period_ns = period_ns;
  records->hidden.take = put_hidden;
  records->hidden.data = records;
}

void
lns_cpu_records_pause (LnsCpuRecords *records, int64_t time_ns)
{
  const LnsCpuRecordIds ids = { .time_ns = time_ns };
  lns_cpu_hidden_tell (&records->hidden, time_ns);
  lns_cpu_hidden_forget (&records->hidden);
  lns_id_map_clear (&records->own_calls);
  lns_cpu_records_put (records, LNS_CPU_PAUSE, 0, &ids, 0, NULL, 0);
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
unwind (LnsCpuRecords *records, uint32_t pid, Words *words, Chain *chain)
{
  uint64_t followed[LNS_CPU_MAX_FRAMES], *own = chain->addresses + chain->n_kernel;
  const unsigned n_registers = (unsigned)__builtin_popcountll (records->events->registers);
  if (chain->n_kernel == LNS_CPU_MAX_FRAMES)
    return;
  if (next_word (words) != PERF_SAMPLE_REGS_ABI_64)
    {
      /* A thread that ends, or begins another program, has no registers any more of what called the kernel. */
      if (chain->n == chain->n_kernel && chain->n > 0)
        chain->addresses[chain->n++] = LNS_CPU_CUT;
      return;
    }
  const uint64_t *values = next_words (words, n_registers);
  const uint64_t n_copied = next_word (words), *copied = next_words (words, n_copied / 8),
                 n_bytes = next_word (words); /* of those that were copied, it could read so many */
  LnsRegisters registers;
  if (values == NULL || copied == NULL || n_bytes > n_copied ||
      !lns_registers_from_perf (records->events->machine, records->events->registers, values,
                                n_registers, &registers))
    return;
  if (atomic_load (&records->is_hurried))
    {
      if (chain->n < LNS_CPU_MAX_FRAMES)
        chain->addresses[chain->n++] = LNS_CPU_CUT;
      return;
    }
  const LnsStackCopy stack = { (const uint8_t *)copied, n_bytes,
                               registers.values[records->events->machine->stack_pointer] };
  const size_t n_followed = chain->n - chain->n_kernel;
  memcpy (followed, own, n_followed * sizeof *followed);
  chain->n = chain->n_kernel + lns_stacks_unwind (records->stacks, (int32_t)pid, &registers, &stack,
                                                  followed, n_followed, own,
                                                  LNS_CPU_MAX_FRAMES - chain->n_kernel);
}

static void
take_sample (LnsCpuRecords *records,
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
  const unsigned each = records->n_samples_of_a_chain;
  chain.n = chain.n_kernel = 0;
  if (each < 2 || records->n_samples++ % each == 0)
    {
      if (records->events->has_chains)
        take_chain (&words, &chain);
      if (records->stacks != NULL)
        unwind (records, ids->pid, &words, &chain);
    }
  /* Where the program was interrupted is no return address, although it follows those of the kernel. */
  if (chain.n_kernel > 0 && chain.n > chain.n_kernel &&
      chain.addresses[chain.n_kernel] != LNS_CPU_CUT)
    chain.addresses[chain.n_kernel]++;
  if (chain.n == 0)
    chain.addresses[chain.n++] = ip;
  lns_cpu_hidden_sample (&records->hidden, relative->process, ids->tid, ids->cpu, ids->time_ns);
  lns_cpu_records_put (records, LNS_CPU_SAMPLE, relative->process, ids,
                       records->events->has_cycles ? period : 0, chain.addresses,
                       chain.n * sizeof *chain.addresses);
}

/* The bits of prev_state, which ps(1) shows as D and as T and t (__TASK_UNINTERRUPTIBLE, __TASK_STOPPED and __TASK_TRACED of
 * Linux's include/linux/sched.h). */
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED         (0x4 | 0x8)

/* A thread leaves its CPU. What else the kernel tells of it, that it does not run any more, follows on the same CPU. */
static void
note_state (LnsCpuRecords *records, const LnsCpuRecordIds *ids, int64_t state)
{
  const LnsCpuSwitch value = state & TASK_UNINTERRUPTIBLE ? LNS_CPU_OUT_UNINTERRUPTIBLE
                             : state & TASK_STOPPED       ? LNS_CPU_OUT_STOPPED
                                                          : LNS_CPU_OUT_INTERRUPTIBLE;
  lns_id_map_set_number (&records->leaving, ids->cpu, (uint64_t)ids->tid << 8 | (uint64_t)value);
}

/* How the thread of IDS left its CPU to wait. */
static LnsCpuSwitch
noted_state (const LnsCpuRecords *records, const LnsCpuRecordIds *ids)
{
  const uint64_t noted = lns_id_map_number (&records->leaving, ids->cpu);
  return noted != 0 && noted >> 8 == ids->tid ? (LnsCpuSwitch)(noted & 0xff) : LNS_CPU_OUT;
}

/* What the registers behind a record of a system call say. */
typedef struct
{
  uint64_t abi;             /* PERF_SAMPLE_REGS_ABI_…, of the program */
  uint64_t program_counter; /* behind the instruction that calls; 0: not known */
} Registers;

/* Reads the N_BYTES of registers at AT. */
static Registers
read_registers (const LnsCpuRecords *records, const uint8_t *at, size_t n_bytes)
{
  Registers registers = { 0 };
  if (records->events->registers == 0)
    return registers;
  if (n_bytes >= sizeof registers.abi)
    memcpy (&registers.abi, at, sizeof registers.abi);
  if (registers.abi == PERF_SAMPLE_REGS_ABI_64 && n_bytes >= sizeof registers)
    memcpy (&registers, at, sizeof registers);
  return registers;
}

/* Values of `own_calls` */
#define IN_OWN_CALL   UINT64_C (1)
#define DOES_OWN_WORK UINT64_C (2) /* between two marks of wire/own-calls.h */

static uint64_t
key_of (const LnsRelative *relative, const LnsCpuRecordIds *ids)
{
  return (uint64_t)relative->process << 32 | ids->tid;
}

static void
set_own_calls (LnsCpuRecords *records,
               const LnsRelative *relative,
               const LnsCpuRecordIds *ids,
               uint64_t value)
{
  if (value != 0)
    lns_id_map_set_number (&records->own_calls, key_of (relative, ids), value);
  else
    lns_id_map_take (&records->own_calls, key_of (relative, ids));
}

static uint64_t
own_calls_of (const LnsCpuRecords *records, const LnsRelative *relative, const LnsCpuRecordIds *ids)
{
  return lns_id_map_number (&records->own_calls, key_of (relative, ids));
}

/* A thread calls the kernel. What it does for Lanescope alone is left out. */
static void
take_call (LnsCpuRecords *records,
           const LnsRelative *relative,
           const LnsCpuRecordIds *ids,
           const LnsTracepointRecord *said,
           const Registers *registers)
{
  const uint64_t number = (uint32_t)said->fields[0], mark = (uint64_t)said->fields[1];
  const bool is_ours = lns_family_is_own_code (relative, registers->program_counter);
  const uint64_t before = own_calls_of (records, relative, ids);
  uint64_t work = before & DOES_OWN_WORK;
  if (is_ours && number == SYS_gettid && mark == LNS_WIRE_OWN_BEGIN)
    work = DOES_OWN_WORK;
  else if (is_ours && number == SYS_gettid && mark == LNS_WIRE_OWN_END)
    work = 0;
  const uint64_t now = work | (is_ours || work != 0 ? IN_OWN_CALL : 0);
  if (now != before)
    set_own_calls (records, relative, ids, now);
  if (now == 0)
    lns_cpu_records_put (records, LNS_CPU_SYSCALL_ENTER, relative->process, ids,
                         number | (registers->abi == PERF_SAMPLE_REGS_ABI_32 ? LNS_CPU_32_BITS : 0),
                         NULL, 0);
}

/* The call of a thread returns. */
static void
take_return (LnsCpuRecords *records,
             const LnsRelative *relative,
             const LnsCpuRecordIds *ids,
             const LnsTracepointRecord *said)
{
  const uint64_t before = own_calls_of (records, relative, ids);
  if (before & IN_OWN_CALL)
    set_own_calls (records, relative, ids, before & ~IN_OWN_CALL);
  else
    lns_cpu_records_put (records, LNS_CPU_SYSCALL_EXIT, relative->process, ids,
                         (uint32_t)said->fields[0], &said->fields[1], sizeof said->fields[1]);
}

static void
take_tracepoint (LnsCpuRecords *records,
                 const LnsRelative *relative,
                 const struct perf_event_header *record,
                 const LnsCpuRecordIds *ids)
{
  uint32_t n;
  Registers registers;
  LnsTracepointRecord said;
  const uint8_t *raw = (const uint8_t *)(record + 1) + 4 * sizeof (uint64_t);
  const size_t n_head = sizeof *record + 4 * sizeof (uint64_t) + sizeof n;
  if (record->size < n_head)
    return;
  memcpy (&n, raw, sizeof n);
  raw += sizeof n;
  if (n > record->size - n_head ||
      !lns_tracepoint_read (&records->events->tracepoints[ids->tracepoint], raw, n, &said))
    return;
  switch ((LnsTracepointKind)ids->tracepoint)
    {
    case LNS_TRACEPOINT_WAKING:
      lns_cpu_records_put (
          records, LNS_CPU_WAKING, relative->process, ids,
          (uint32_t)said.fields[0] | (said.is_interrupt ? LNS_CPU_BY_INTERRUPT : 0), NULL, 0);
      break;
    case LNS_TRACEPOINT_SWITCH:
      note_state (records, ids, said.fields[0]);
      break;
    case LNS_TRACEPOINT_SYSCALL_ENTER:
      registers = read_registers (records, raw + n, record->size - n_head - n);
      take_call (records, relative, ids, &said, &registers);
      break;
    case LNS_TRACEPOINT_SYSCALL_EXIT:
      take_return (records, relative, ids, &said);
      break;
    default:
      break;
    }
}

static void
take_switch (LnsCpuRecords *records,
             const LnsRelative *relative,
             const struct perf_event_header *record,
             const LnsCpuRecordIds *ids)
{
  const bool is_out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
  const LnsCpuSwitch value = !is_out ? LNS_CPU_IN
                             : record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
                                 ? LNS_CPU_PREEMPTED
                                 : noted_state (records, ids);
  if (is_out)
    lns_cpu_hidden_end (&records->hidden, ids->tid, ids->time_ns);
  else
    lns_cpu_hidden_begin (&records->hidden, relative->process, ids->tid, ids->cpu, ids->time_ns);
  lns_cpu_records_put (records, LNS_CPU_SWITCH, relative->process, ids, value, NULL, 0);
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

void
lns_cpu_records_map (LnsCpuRecords *records,
                     LnsRelative *relative,
                     const LnsCpuMapping *mapping,
                     const uint8_t identity[static LNS_FILE_IDENTITY_BYTES],
                     const LnsCpuRecordIds *ids)
{
  lns_family_note_code (relative, mapping->path, mapping->start, mapping->end);
  if (records->stacks != NULL)
    lns_stacks_map (records->stacks, relative->pid, mapping, identity);
  lns_cpu_records_put (records, LNS_CPU_MAP, relative->process, ids, 0, &mapping->start,
                       offsetof (LnsCpuMapping, path) - offsetof (LnsCpuMapping, start) +
                           strlen (mapping->path) + 1);
}

static void
take_mapping (LnsCpuRecords *records,
              LnsRelative *relative,
              const struct perf_event_header *record,
              const LnsCpuRecordIds *ids)
{
  const Mapped *mapped = (const Mapped *)record;
  LnsCpuMadeMapping made = { 0 };
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
  lns_cpu_records_map (records, relative, mapping, mapped->identity, ids);
  lns_family_map (&records->family, relative, path, ids->time_ns);
}

/* A PERF_RECORD_FORK or _EXIT. */
typedef struct
{
  struct perf_event_header header;
  uint32_t pid, parent_pid, tid, parent_tid;
  uint64_t time;
} Task;

static void
take_fork (LnsCpuRecords *records, const Task *task, const LnsCpuRecordIds *record_ids)
{
  LnsCpuRecordIds ids = *record_ids; /* which are the parent's */
  ids.pid = task->pid;
  if (task->pid == task->parent_pid)
    {
      LnsRelative *relative = lns_family_find (&records->family, (int32_t)task->pid, ids.time_ns);
      if (relative == NULL || relative->process == LNS_ID_NONE)
        return;
      relative->n_threads++;
      ids.tid = lns_family_own_tid (relative, task->tid);
      lns_cpu_records_put (records, LNS_CPU_FORK, relative->process, &ids, 0, NULL, 0);
      return;
    }
  const LnsRelative *parent =
      lns_family_find (&records->family, (int32_t)task->parent_pid, ids.time_ns);
  const uint64_t from = parent != NULL ? 1 + (uint64_t)parent->process : 0;
  if (records->stacks != NULL)
    lns_stacks_fork (records->stacks, (int32_t)task->pid, (int32_t)task->parent_pid);
  LnsRelative *relative = lns_family_fork (&records->family, (int32_t)task->pid,
                                           (int32_t)task->parent_pid, ids.time_ns);
  if (relative == NULL || relative->process == LNS_ID_NONE)
    return;
  ids.tid = lns_family_own_tid (relative, task->tid);
  lns_cpu_records_put (records, LNS_CPU_FORK, relative->process, &ids, from, NULL, 0);
}

static void
take_exit (LnsCpuRecords *records, const Task *task, const LnsCpuRecordIds *record_ids)
{
  LnsCpuRecordIds ids = *record_ids;
  LnsRelative *relative = lns_id_map_get (&records->family.relatives, task->pid);
  if (relative == NULL)
    return;
  ids.tid = lns_family_own_tid (relative, task->tid);
  lns_cpu_hidden_exit (&records->hidden, ids.tid, ids.time_ns);
  set_own_calls (records, relative, &ids, 0);
  lns_id_map_take (&relative->own_tids, task->tid);
  if (relative->is_unmapped && task->tid == task->pid)
    {
      if (relative->process != LNS_ID_NONE)
        lns_cpu_records_put (records, LNS_CPU_UNTOLD, relative->process, &ids, 0, NULL, 0);
      if (lns_family_note_untold (&records->family, relative))
        return;
    }
  /* Of a program that ran already, threads that began or ended while it was attached to may have been missed. */
  const bool is_miscounted = records->is_attached && relative->end_fd >= 0;
  const bool is_last = !is_miscounted && relative->n_threads <= 1 &&
                       (!records->is_attached || lns_process_is_ending (relative->pid));
  if (is_miscounted)
    relative->exited_ns = ids.time_ns;
  if (relative->process != LNS_ID_NONE)
    lns_cpu_records_put (records, LNS_CPU_EXIT, relative->process, &ids, is_last, NULL, 0);
  if (!is_last)
    {
      relative->n_threads -= relative->n_threads > 1;
      return;
    }
  if (records->stacks != NULL)
    lns_stacks_end (records->stacks, relative->pid);
  post (records); /* before the recorder hears of the end */
  lns_family_end (&records->family, relative, ids.time_ns);
}

/* A PERF_RECORD_COMM. */
typedef struct
{
  struct perf_event_header header;
  uint32_t pid, tid;
  char name[];
} Named;

static void
take_name (LnsCpuRecords *records,
           LnsRelative *relative,
           const Named *named,
           const LnsCpuRecordIds *ids)
{
  char name[32] = { 0 };
  const size_t n = named->header.size - sizeof *named;
  memcpy (name, named->name, strnlen (named->name, n < sizeof name - 1 ? n : sizeof name - 1));
  const bool is_exec = named->header.misc & PERF_RECORD_MISC_COMM_EXEC;
  const LnsCpuProgram program = !is_exec                ? LNS_CPU_SAME_PROGRAM
                                : records->has_switches ? LNS_CPU_NEW_PROGRAM_RUNS
                                                        : LNS_CPU_NEW_PROGRAM;
  const uint32_t before = relative->process;
  if (is_exec && records->stacks != NULL)
    lns_stacks_end (records->stacks, relative->pid);
  if (is_exec)
    lns_family_exec (&records->family, relative, name, ids->time_ns);
  if (is_exec && before != LNS_ID_NONE && before != relative->process)
    lns_cpu_records_put (records, LNS_CPU_EXIT, before, ids, 1, NULL, 0);
  if (relative->process == LNS_ID_NONE)
    return;
  if (is_exec) /* it may be paused, so that it is not known before the next record that this thread runs */
    lns_cpu_hidden_exit (&records->hidden, ids->tid, ids->time_ns);
  lns_cpu_records_put (records, LNS_CPU_NAME, relative->process, ids, program, name,
                       strlen (name) + 1);
}

static void
take_lost (LnsCpuRecords *records,
           const struct perf_event_header *record,
           const LnsCpuRecordIds *ids)
{
  const uint64_t *words = (const uint64_t *)(record + 1);
  const bool is_of_samples = record->type == PERF_RECORD_LOST_SAMPLES;
  const int64_t from_ns = ids->before_ns != INT64_MIN ? ids->before_ns : ids->time_ns;
  const LnsRelative *relative = lns_id_map_get (&records->family.relatives, ids->pid);
  lns_cpu_hidden_forget (&records->hidden);
  lns_id_map_clear (&records->own_calls); /* its ends may be among the lost */
  lns_cpu_records_put (records, LNS_CPU_LOST, relative != NULL ? relative->process : 0, ids,
                       is_of_samples ? words[0] : words[1], &from_ns, sizeof from_ns);
}

void
lns_cpu_records_take (void *data,
                      const struct perf_event_header *record,
                      const LnsCpuRecordIds *record_ids)
{
  LnsCpuRecords *records = data;
  LnsCpuRecordIds own_ids = *record_ids, *ids = &own_ids;
  if (records->is_attached && !lns_cpu_owners_admit (&records->owners, record, record_ids))
    return;
  switch (record->type)
    {
    case PERF_RECORD_FORK:
      take_fork (records, (const Task *)record, ids);
      return;
    case PERF_RECORD_EXIT:
      take_exit (records, (const Task *)record, ids);
      return;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
      take_lost (records, record, ids);
      return;
    default:
      break;
    }
  LnsRelative *relative = lns_family_find (&records->family, (int32_t)ids->pid, ids->time_ns);
  if (relative == NULL || relative->process == LNS_ID_NONE)
    return;
  ids->tid = lns_family_own_tid (relative, ids->tid);
  switch (record->type)
    {
    case PERF_RECORD_SAMPLE:
      if (ids->tracepoint >= 0)
        take_tracepoint (records, relative, record, ids);
      else
        take_sample (records, relative, record, ids);
      break;
    case PERF_RECORD_SWITCH:
      take_switch (records, relative, record, ids);
      break;
    case PERF_RECORD_MMAP2:
      take_mapping (records, relative, record, ids);
      break;
    case PERF_RECORD_COMM:
      take_name (records, relative, (const Named *)record, ids);
      break;
    default:
      break;
    }
}

void
lns_cpu_records_post (LnsCpuRecords *records, int64_t until_ns)
{
  lns_cpu_hidden_tell (&records->hidden, until_ns);
  if (records->n_dropped > 0)
    {
      const uint64_t n = records->n_dropped;
      records->n_dropped = 0;
      lns_cpu_records_put (records, LNS_CPU_LOST, 0, &(LnsCpuRecordIds){ .time_ns = until_ns }, n,
                           &until_ns, sizeof until_ns);
      if (records->n_dropped > 0)
        records->n_dropped += n - 1;
    }
  post (records);
}
