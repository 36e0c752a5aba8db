/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/cpu/events.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A user without privileges may lock 129 pages for each CPU (kernel.perf_event_mlock_kb = 516), the ring and its head, and
 * what RLIMIT_MEMLOCK allows beyond that. Less is left where other programs of the user record, too. */
#define MOST_PAGES  128
#define LEAST_PAGES 4

/* With stacks or system calls, rings have more, but those of all CPUs no more than so many bytes. */
#define MOST_PAGES_OF_MANY 512
#define MOST_BYTES_OF_MANY ((size_t)256 << 20)

/* What is copied of a stack: 8 KiB hold the whole of 57 % of the stacks of a Python program that imports modules, 16 KiB of
 * 93 %, and 32 KiB of all; those of numpy's libraries are larger. The kernel copies no more than there is, so the most costs
 * a program no more time where stacks are small. But a ring must have room for the samples of 64 ms, at 1,000 a second, as
 * it is read every 20 ms, and a sample takes the whole size there. */
#define SMALL_STACK_BYTES 32768
#define LEAST_STACK_BYTES 1024
#define SAMPLES_OF_RING   64

/* The kernel's timers come no faster. */
#define LEAST_PERIOD_NS 10000

#define CPUS_PATH "/sys/devices/system/cpu/online"
#define RATE_PATH "/proc/sys/kernel/perf_event_max_sample_rate"

static int
perf_event_open (struct perf_event_attr *attr, pid_t pid, int cpu)
{
  return (int)syscall (SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* What all events have in common. Only what the program itself does is counted, which needs no privileges. */
static struct perf_event_attr
common (uint64_t config)
{
  return (struct perf_event_attr){
    .type = PERF_TYPE_SOFTWARE,
    .size = sizeof (struct perf_event_attr),
    .config = config,
    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
    .disabled = 1,
    .inherit = 1,
    .enable_on_exec = 1,
    .exclude_kernel = 1,
    .exclude_hv = 1,
    .sample_id_all = 1,
    .use_clockid = 1,
    .clockid = CLOCK_MONOTONIC,
  };
}

/* --- Descriptors ------------------------------------------------------------------------------ */

static LnsCpuFds
no_fds (void)
{
  LnsCpuFds fds = { .side = -1, .work = -1 };
  for (size_t kind = 0; kind < LNS_N_TRACEPOINTS; kind++)
    fds.tracepoints[kind] = -1;
  return fds;
}

static void
close_fd (int fd)
{
  if (fd >= 0)
    close (fd);
}

static void
close_fds (const LnsCpuFds *fds)
{
  for (size_t kind = 0; kind < LNS_N_TRACEPOINTS; kind++)
    close_fd (fds->tracepoints[kind]);
  close_fd (fds->work);
  close_fd (fds->side);
}

/* --- CPUs ------------------------------------------------------------------------------------- */

static bool
add_ring (LnsCpuEvents *events, uint32_t cpu)
{
  LnsCpuRing *ring = lns_array_try_add (&events->rings);
  if (ring != NULL)
    *ring = (LnsCpuRing){ .cpu = cpu, .fds = no_fds () };
  return ring != NULL;
}

/* Adds a ring for each CPU of a list like "0-3,8". */
static bool
add_rings (LnsCpuEvents *events)
{
  FILE *file = fopen (CPUS_PATH, "re");
  unsigned first, last;
  bool has_memory = true;
  while (file != NULL && has_memory && fscanf (file, "%u", &first) == 1)
    {
      last = first;
      if (fscanf (file, "-%u", &last) != 1)
        last = first;
      for (unsigned cpu = first; has_memory && cpu <= last; cpu++)
        has_memory = add_ring (events, cpu);
      if (fgetc (file) != ',')
        break;
    }
  if (file != NULL)
    fclose (file);
  const long n = sysconf (_SC_NPROCESSORS_ONLN);
  for (long cpu = 0; file == NULL && has_memory && cpu < n; cpu++)
    has_memory = add_ring (events, (uint32_t)cpu);
  return has_memory && events->rings.n > 0;
}

/* --- Events ----------------------------------------------------------------------------------- */

/* Has the event of ATTR begin with the next exec, or at once; IS_PAUSED: when it is told to. */
static void
choose_begin (struct perf_event_attr *attr, const LnsCpuEventsOptions *options, bool is_paused)
{
  attr->disabled = is_paused || !options->runs_already;
  attr->enable_on_exec = !is_paused && !options->runs_already;
}

/* Opens the event that tells of processes, threads and mappings. */
static int
open_side (const LnsCpuEventsOptions *options,
           pid_t pid,
           const LnsCpuRing *ring,
           size_t n_ring_bytes)
{
  struct perf_event_attr attr = common (PERF_COUNT_SW_DUMMY);
  choose_begin (&attr, options, false);
  attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
  attr.build_id = 1;
  attr.watermark = 1;
  attr.wakeup_watermark = (uint32_t)(n_ring_bytes / 2);
  const int fd = perf_event_open (&attr, pid, (int)ring->cpu);
  if (fd >= 0 || errno != EINVAL)
    return fd;
  attr.build_id = 0; /* before Linux 5.12 */
  return perf_event_open (&attr, pid, (int)ring->cpu);
}

static unsigned
max_rate (void)
{
  unsigned rate = 0;
  FILE *file = fopen (RATE_PATH, "re");
  if (file != NULL && fscanf (file, "%u", &rate) != 1)
    rate = 0;
  if (file != NULL)
    fclose (file);
  return rate;
}

/* Whether this process may look into the kernel: kernel.perf_event_paranoid is 1 at most, or it has CAP_PERFMON. */
static bool
may_see_kernel (const LnsCpuEvents *events, pid_t pid)
{
  struct perf_event_attr attr = common (PERF_COUNT_SW_CPU_CLOCK);
  attr.exclude_kernel = 0;
  const int fd = perf_event_open (&attr, pid, (int)events->rings.items[0].cpu);
  if (fd >= 0)
    close (fd);
  return fd >= 0;
}

/* How samples come: by cycles where the CPU counts them, which most virtual machines do not. Where the kernel is hidden, by CPU
 * time, unless a number of cycles was asked for: so many samples a second of cycles come whatever the kernel's part was. */
static void
choose_clock (LnsCpuEvents *events, const LnsCpuEventsOptions *options, pid_t pid)
{
  struct perf_event_attr attr = common (PERF_COUNT_HW_CPU_CYCLES);
  attr.type = PERF_TYPE_HARDWARE;
  const bool may_count = options->samples && (events->sees_kernel || options->period != 0);
  const int fd = may_count ? perf_event_open (&attr, pid, (int)events->rings.items[0].cpu) : -1;
  events->has_cycles = fd >= 0;
  if (fd >= 0)
    close (fd);
  const unsigned rate = max_rate ();
  events->hz = options->period != 0 ? 0 : options->hz;
  if (rate > 0 && events->hz > rate)
    events->hz = rate;
}

/* Notes which registers samples have: those that DWARF has a number for. */
static void
choose_registers (LnsCpuEvents *events)
{
  events->machine = lns_machine_here ();
  for (unsigned i = 0; events->machine != NULL && i < events->machine->n_from_perf; i++)
    if (events->machine->from_perf[i] < LNS_N_REGISTERS)
      events->registers |= UINT64_C (1) << i;
}

/* Opens the event that can be paused. */
static int
open_work (const LnsCpuEvents *events,
           const LnsCpuEventsOptions *options,
           pid_t pid,
           const LnsCpuRing *ring,
           bool is_paused)
{
  struct perf_event_attr attr = common (PERF_COUNT_SW_DUMMY);
  choose_begin (&attr, options, is_paused);
  attr.context_switch = options->switches;
  if (options->samples)
    {
      attr.type = events->has_cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
      attr.config = events->has_cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK;
      attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
      attr.freq = events->hz != 0;
      if (events->hz != 0)
        attr.sample_freq = events->hz;
      else
        attr.sample_period = options->period;
      attr.exclude_kernel = !events->sees_kernel;
      if (events->has_chains)
        attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
      attr.exclude_callchain_kernel = !events->sees_kernel;
      attr.exclude_callchain_user = (options->callers & LNS_CPU_FRAME_POINTERS) == 0;
      if (options->callers & LNS_CPU_STACKS)
        {
          attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
          attr.sample_regs_user = events->registers;
          attr.sample_stack_user = (uint32_t)events->n_stack_bytes;
        }
    }
  return perf_event_open (&attr, pid, (int)ring->cpu);
}

/* --- Rings ------------------------------------------------------------------------------------ */

static size_t
page_bytes (void)
{
  return (size_t)sysconf (_SC_PAGESIZE);
}

/* The most that is to be copied of a stack, where the ring has room for that. */
static size_t
wanted_stack_bytes (const LnsCpuEventsOptions *options)
{
  return options->stack_bytes != 0 ? options->stack_bytes : LNS_CPU_MOST_STACK_BYTES;
}

/* How many pages each ring should have. */
static size_t
wanted_pages (const LnsCpuEvents *events, const LnsCpuEventsOptions *options)
{
  size_t n = MOST_PAGES;
  if (options->ring_bytes != 0)
    {
      for (n = LEAST_PAGES; n * page_bytes () < options->ring_bytes;)
        n *= 2;
      return n;
    }
  /* A larger stack needs a larger ring, or its samples would have no room. */
  const bool has_stacks = options->samples && (options->callers & LNS_CPU_STACKS);
  const size_t most_of_many = has_stacks && wanted_stack_bytes (options) > SMALL_STACK_BYTES
                                  ? 2 * MOST_PAGES_OF_MANY
                                  : MOST_PAGES_OF_MANY;
  if (options->syscalls || has_stacks)
    while (2 * n <= most_of_many && 2 * n * page_bytes () * events->rings.n <= MOST_BYTES_OF_MANY)
      n *= 2;
  return n;
}

static void
unmap (const LnsCpuEvents *events, LnsCpuRing *ring)
{
  if (ring->page != NULL)
    munmap (ring->page, page_bytes () + events->n_ring_bytes);
  ring->page = NULL;
}

/* Maps rings of N_BYTES. Returns 0 or an errno. */
static int
map_rings (LnsCpuEvents *events, size_t n_bytes)
{
  events->n_ring_bytes = n_bytes;
  for (size_t i = 0; i < events->rings.n; i++)
    {
      LnsCpuRing *ring = &events->rings.items[i];
      void *page = mmap (NULL, page_bytes () + n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                         ring->fds.side, 0);
      if (page != MAP_FAILED)
        {
          ring->page = page;
          continue;
        }
      const int failed = errno;
      for (size_t at = 0; at < i; at++)
        unmap (events, &events->rings.items[at]);
      return failed;
    }
  return 0;
}

static void
close_ring (const LnsCpuEvents *events, LnsCpuRing *ring)
{
  unmap (events, ring);
  close_fds (&ring->fds);
}

/* Handles that an event of the CPU of ring I cannot be opened for the reason FAILED, an errno. A CPU that goes offline
 * meanwhile is left out. Returns 0 or FAILED. */
static int
leave_out (LnsCpuEvents *events, size_t i, int failed)
{
  if (failed != ENODEV || events->rings.n == 1)
    return failed;
  close_ring (events, &events->rings.items[i]);
  events->rings.items[i] = events->rings.items[--events->rings.n];
  return 0;
}

/* Opens what tells of processes on each CPU, for rings of N_RING_BYTES. Returns 0 or an errno. */
static int
open_sides (LnsCpuEvents *events,
            const LnsCpuEventsOptions *options,
            pid_t pid,
            size_t n_ring_bytes)
{
  int failed = 0;
  for (size_t i = 0; i < events->rings.n && failed == 0;)
    {
      LnsCpuRing *ring = &events->rings.items[i];
      ring->fds.side = open_side (options, pid, ring, n_ring_bytes);
      if (ring->fds.side >= 0)
        i++;
      else
        failed = leave_out (events, i, errno);
    }
  return failed;
}

/* Opens what can be paused, and has it write into the rings. Returns 0 or an errno. */
static int
open_works (LnsCpuEvents *events, const LnsCpuEventsOptions *options, pid_t pid, bool is_paused)
{
  int failed = 0;
  for (size_t i = 0; i < events->rings.n && failed == 0;)
    {
      LnsCpuRing *ring = &events->rings.items[i];
      ring->fds.work = open_work (events, options, pid, ring, is_paused);
      if (ring->fds.work >= 0 &&
          ioctl (ring->fds.work, PERF_EVENT_IOC_SET_OUTPUT, ring->fds.side) == 0)
        i++;
      else
        failed = leave_out (events, i, errno);
    }
  return failed;
}

/* The tracepoints that tell what OPTIONS ask for: 1 << LnsTracepointKind. */
static uint32_t
wanted_tracepoints (const LnsCpuEventsOptions *options)
{
  uint32_t kinds = 0;
  if (options->switches)
    kinds |= 1u << LNS_TRACEPOINT_WAKING | 1u << LNS_TRACEPOINT_SWITCH;
  if (options->syscalls)
    kinds |= 1u << LNS_TRACEPOINT_SYSCALL_ENTER | 1u << LNS_TRACEPOINT_SYSCALL_EXIT;
  return kinds;
}

/* The program counter of MACHINE, as a bit of perf's registers. */
static uint64_t
program_counter_of (const LnsMachine *machine)
{
  for (unsigned i = 0; i < machine->n_from_perf; i++)
    if (machine->from_perf[i] == machine->program_counter)
      return UINT64_C (1) << i;
  return 0;
}

/* Opens the event of the tracepoint KIND for PID on the CPU of RING, and has it write there. Returns -1 where that is not
 * allowed. */
static int
open_tracepoint (LnsCpuEvents *events,
                 const LnsCpuEventsOptions *options,
                 LnsTracepointKind kind,
                 pid_t pid,
                 const LnsCpuRing *ring,
                 bool is_paused)
{
  struct perf_event_attr attr = common (events->tracepoints[kind].id);
  uint64_t id;
  attr.type = PERF_TYPE_TRACEPOINT;
  choose_begin (&attr, options, is_paused);
  attr.exclude_kernel = 0;
  attr.sample_type |= PERF_SAMPLE_RAW;
  attr.sample_period = 1;
  if (kind == LNS_TRACEPOINT_SYSCALL_ENTER && events->registers != 0)
    {
      /* The word in front of the register says whether the program has 32 bits and its calls other numbers. */
      attr.sample_type |= PERF_SAMPLE_REGS_USER;
      attr.sample_regs_user = program_counter_of (events->machine);
    }
  const int fd = perf_event_open (&attr, pid, (int)ring->cpu);
  if (fd >= 0 && (ioctl (fd, PERF_EVENT_IOC_ID, &id) != 0 ||
                  ioctl (fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fds.side) != 0))
    {
      close (fd);
      return -1;
    }
  if (fd >= 0)
    lns_id_map_set_number (&events->tracepoint_ids, id, 1 + (uint64_t)kind);
  return fd;
}

/* Opens the events of all tracepoints for PID, as far as that is allowed. What is missing is not recorded; the rest is. */
static void
open_tracepoints (LnsCpuEvents *events,
                  const LnsCpuEventsOptions *options,
                  pid_t pid,
                  const LnsCpuRing *ring,
                  bool is_paused,
                  LnsCpuFds *fds)
{
  for (LnsTracepointKind kind = 0; kind < LNS_N_TRACEPOINTS; kind++)
    if (events->tracepoints[kind].id != 0)
      fds->tracepoints[kind] = open_tracepoint (events, options, kind, pid, ring, is_paused);
}

int64_t
lns_cpu_events_hidden_ns (const LnsCpuEvents *events, const LnsCpuEventsOptions *options)
{
  /* As perf_swevent_init_hrtimer () and perf_swevent_hrtimer () of Linux's kernel/events/core.c have it. */
  const uint64_t period = events->hz != 0 ? UINT64_C (1000000000) / events->hz : options->period;
  if (!options->samples || !options->switches || events->sees_kernel || events->has_cycles)
    return 0;
  return period > LEAST_PERIOD_NS ? (int64_t)period : LEAST_PERIOD_NS;
}

bool
lns_cpu_events_have (const LnsCpuEvents *events, LnsTracepointKind kind)
{
  return events->rings.n > 0 && events->rings.items[0].fds.tracepoints[kind] >= 0;
}

/* How many bytes of a stack come with a sample: a multiple of 8, as the kernel demands. */
static size_t
choose_stack_bytes (const LnsCpuEventsOptions *options, size_t n_ring_bytes)
{
  size_t n_bytes = wanted_stack_bytes (options);
  while (n_bytes > LEAST_STACK_BYTES && n_bytes * SAMPLES_OF_RING > n_ring_bytes)
    n_bytes /= 2;
  return n_bytes & ~(size_t)7;
}

int
lns_cpu_events_open (LnsCpuEvents *events,
                     const LnsCpuEventsOptions *options,
                     pid_t pid,
                     bool is_paused,
                     LnsCpuEventsStep *ret_step)
{
  *events = (LnsCpuEvents){ 0 };
  *ret_step = LNS_CPU_EVENTS_OPEN;
  int failed = add_rings (events) ? 0 : ENOMEM;
  size_t n_pages = 0;
  if (failed == 0)
    {
      choose_registers (events);
      events->sees_kernel = options->samples && may_see_kernel (events, pid);
      choose_clock (events, options, pid);
      events->has_chains = options->callers & LNS_CPU_FRAME_POINTERS ||
                           (events->sees_kernel && options->callers != LNS_CPU_NO_CALLERS);
      n_pages = wanted_pages (events, options);
      failed = open_sides (events, options, pid, n_pages * page_bytes ());
    }
  if (failed == 0)
    {
      *ret_step = LNS_CPU_EVENTS_MAP;
      while ((failed = map_rings (events, n_pages * page_bytes ())) != 0 && n_pages > LEAST_PAGES)
        n_pages /= 2;
    }
  if (failed == 0)
    {
      *ret_step = LNS_CPU_EVENTS_OPEN;
      if (options->callers & LNS_CPU_STACKS)
        events->n_stack_bytes = choose_stack_bytes (options, events->n_ring_bytes);
      failed = open_works (events, options, pid, is_paused);
    }
  if (failed == 0)
    lns_tracepoints_find (wanted_tracepoints (options), events->tracepoints);
  for (size_t i = 0; failed == 0 && i < events->rings.n; i++)
    {
      LnsCpuRing *ring = &events->rings.items[i];
      open_tracepoints (events, options, pid, ring, is_paused, &ring->fds);
    }
  if (failed != 0)
    lns_cpu_events_close (events);
  return failed;
}

/* --- The end of tracepoints --------------------------------------------------------------------- */

/* Closes the descriptors from FIRST to LAST. */
static void
close_all (unsigned first, unsigned last)
{
  if (first <= last && close_range (first, last, 0) != 0)
    for (unsigned fd = first; fd <= last && fd < 1024; fd++) /* Linux before 5.9 */
      close ((int)fd);
}

static int
compare_fds (const void *a, const void *b)
{
  return *(const int *)a - *(const int *)b;
}

/* In a process forked of this one: has a process of its own hold the N FDS, and nothing else of ours, until END_FD is closed
 * by everybody else. */
static void
hold (int *fds, size_t n, int end_fd)
{
  unsigned next = 0;
  char byte;
  fds[n] = end_fd;
  qsort (fds, n + 1, sizeof *fds, compare_fds);
  for (size_t i = 0; i <= n; next = (unsigned)fds[i++] + 1)
    if (fds[i] > 0)
      close_all (next, (unsigned)fds[i] - 1);
  close_all (next, ~0u);
  if (fork () == 0)
    {
      setsid ();
      while (read (end_fd, &byte, 1) < 0 && errno == EINTR)
        ;
    }
  _exit (0);
}

/* Where the last event of a tracepoint is closed, the kernel waits for all CPUs, for some 40 ms. Starts a process that does
 * it, for which nobody waits: it holds the N FDS until *RET_END_FD is closed. *RET_END_FD is -1 if there is no such process. */
static void
close_later (int *fds, size_t n, int *ret_end_fd)
{
  int ends[2];
  *ret_end_fd = -1;
  if (n == 0 || pipe2 (ends, O_CLOEXEC) != 0)
    return;
  const pid_t child = fork ();
  if (child == 0)
    hold (fds, n, ends[0]);
  /* Whoever else of us waits for any child may have been faster. */
  while (child > 0 && waitpid (child, NULL, 0) < 0 && errno == EINTR)
    ;
  close (ends[0]);
  *ret_end_fd = ends[1];
}

/* Lists the descriptors of tracepoints of FDS behind the *N at LIST. */
static void
list_tracepoints_of (const LnsCpuFds *fds, int *list, size_t *n)
{
  for (size_t kind = 0; kind < LNS_N_TRACEPOINTS; kind++)
    if (fds->tracepoints[kind] >= 0)
      list[(*n)++] = fds->tracepoints[kind];
}

/* The descriptors of all events of tracepoints, with room for one more. Owned. */
static int *
list_tracepoints (const LnsCpuEvents *events, size_t *ret_n)
{
  int *list = calloc ((events->rings.n + events->more.n) * LNS_N_TRACEPOINTS + 1, sizeof *list);
  *ret_n = 0;
  for (size_t i = 0; list != NULL && i < events->rings.n; i++)
    list_tracepoints_of (&events->rings.items[i].fds, list, ret_n);
  for (size_t i = 0; list != NULL && i < events->more.n; i++)
    list_tracepoints_of (&events->more.items[i].fds, list, ret_n);
  return list;
}

/* Closes the sets from N on. */
static void
close_more (LnsCpuEvents *events, size_t n)
{
  for (size_t i = n; i < events->more.n; i++)
    close_fds (&events->more.items[i].fds);
  events->more.n = n;
}

void
lns_cpu_events_close (LnsCpuEvents *events)
{
  size_t n_tracepoints;
  int end_fd, *tracepoints = list_tracepoints (events, &n_tracepoints);
  close_later (tracepoints, n_tracepoints, &end_fd);
  free (tracepoints);
  close_more (events, 0);
  lns_array_clear (&events->more);
  for (size_t i = 0; i < events->rings.n; i++)
    close_ring (events, &events->rings.items[i]);
  lns_array_clear (&events->rings);
  lns_id_map_clear (&events->tracepoint_ids);
  close_fd (end_fd);
}

int
lns_cpu_events_add (LnsCpuEvents *events,
                    const LnsCpuEventsOptions *options,
                    pid_t tid,
                    bool is_paused)
{
  const size_t n_before = events->more.n;
  int failed = 0;
  for (size_t i = 0; i < events->rings.n && failed == 0; i++)
    {
      const LnsCpuRing *ring = &events->rings.items[i];
      LnsCpuEventSet *set = lns_array_try_add (&events->more);
      if (set == NULL)
        {
          failed = ENOMEM;
          break;
        }
      *set = (LnsCpuEventSet){ .ring = i, .fds = no_fds () };
      LnsCpuFds *fds = &set->fds;
      fds->side = open_side (options, tid, ring, events->n_ring_bytes);
      if (fds->side < 0 && errno == ENODEV)
        continue; /* the CPU went offline */
      if (fds->side < 0 || ioctl (fds->side, PERF_EVENT_IOC_SET_OUTPUT, ring->fds.side) != 0)
        failed = errno;
      if (failed == 0)
        fds->work = open_work (events, options, tid, ring, is_paused);
      if (failed == 0 &&
          (fds->work < 0 || ioctl (fds->work, PERF_EVENT_IOC_SET_OUTPUT, ring->fds.side) != 0))
        failed = errno;
      if (failed == 0)
        open_tracepoints (events, options, tid, ring, is_paused, fds);
    }
  if (failed != 0)
    close_more (events, n_before);
  return failed;
}

static void
take_id (int fd, void (*take) (void *data, uint64_t id), void *data)
{
  uint64_t id;
  if (fd >= 0 && ioctl (fd, PERF_EVENT_IOC_ID, &id) == 0)
    take (data, id);
}

void
lns_cpu_events_last_ids (const LnsCpuEvents *events,
                         void (*take) (void *data, uint64_t id),
                         void *data)
{
  const size_t n = events->rings.n;
  for (size_t i = 0; i < n; i++)
    {
      const LnsCpuRing *ring = &events->rings.items[i];
      const LnsCpuFds *fds =
          events->more.n >= n ? &events->more.items[events->more.n - n + i].fds : &ring->fds;
      take_id (fds->side, take, data);
      take_id (fds->work, take, data);
      for (size_t kind = 0; kind < LNS_N_TRACEPOINTS; kind++)
        take_id (fds->tracepoints[kind], take, data);
    }
}

static void
request_of (const LnsCpuFds *fds, unsigned long request)
{
  ioctl (fds->work, request, 0);
  for (size_t kind = 0; kind < LNS_N_TRACEPOINTS; kind++)
    if (fds->tracepoints[kind] >= 0)
      ioctl (fds->tracepoints[kind], request, 0);
}

void
lns_cpu_events_set_paused (const LnsCpuEvents *events, bool is_paused)
{
  const unsigned long request = is_paused ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE;
  for (size_t i = 0; i < events->rings.n; i++)
    request_of (&events->rings.items[i].fds, request);
  for (size_t i = 0; i < events->more.n; i++)
    request_of (&events->more.items[i].fds, request);
}
