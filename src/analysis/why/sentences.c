/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What findings are called and said. */

#include <ctype.h>
#include <math.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/why/maker.h"
#include "src/analysis/why/why.h"
#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

/* From this share of its span on a GPU that is busy with kernels is well, */
#define HEALTHY 0.9

/* So much time from the first to the last work is told of where the start takes most. */
#define LEAST_WORK_NS INT64_C (100000000)

/* What took less was not slow. */
#define SLOW_NS INT64_C (10000000)

const char *
_lns_why_ns (int64_t ns, char ret_text[LNS_WHY_NS_SIZE])
{
  static const char *const units[] = { "ns", "µs", "ms", "s" };
  double value = fabs ((double)ns);
  unsigned unit = 0;

  while (unit < 3 && value >= (unit == 2 ? 600 : 999.5))
    {
      value /= 1000;
      unit++;
    }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  snprintf (ret_text, LNS_WHY_NS_SIZE, "%s%.*f %s", ns < 0 ? "−" : "", decimals, value,
            units[unit]);
  return ret_text;
}

/* --- Names ------------------------------------------------------------------------------------ */

/* NAME without what the C library puts before its functions inside, "fsync" for "__GI_fsync", and without what all kernels return. */
static const char *
plain_name (const char *name)
{
  static const char *const inner[] = { "__GI___libc_", "__GI___", "__GI_", "__libc_", "void " };

  for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
    if (strncmp (name, inner[i], strlen (inner[i])) == 0)
      return name + strlen (inner[i]);
  return name;
}

/* Writes the string ID, shortened, without the numbers at its end if it stands for MANY. */
static void
put_name (LnsReport *report, uint32_t id, bool many, FILE *stream)
{
  const char *name = plain_name (lns_report_string (report, id, NULL));
  size_t n = strlen (name);
  const size_t most = 48;

  /* "aten::add, seq = 17", "forward (blocks.3)": what names one of many begins behind the name. */
  const size_t named = strcspn (name, ",(");
  if (many && named > 2 && named < n && strpbrk (name + named, "0123456789") != NULL)
    n = named;
  while (many && n > 1 && (isdigit ((unsigned char)name[n - 1]) || strchr (" #_-", name[n - 1])))
    n--;
  /* Of a long name of C++ the arguments are left out. */
  const size_t plain = 1 + strcspn (name + (n > 0), "<(");
  const bool is_cut = n > most, has_arguments = is_cut && plain < most;
  if (has_arguments)
    n = plain;
  else if (is_cut)
    for (n = most - 1; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80; n--)
      ;
  for (size_t i = 0; i < n; i++)
    fputc ((unsigned char)name[i] < 0x20 || name[i] == 0x7f ? '?' : name[i], stream);
  if (is_cut)
    fputs (!has_arguments ? "…" : name[n] == '<' ? "<…>" : "(…)", stream);
}

char *
_lns_why_name (LnsReport *report, uint32_t id)
{
  char *text;
  size_t size;
  FILE *stream = lns_memory_stream (&text, &size);

  put_name (report, id, false, stream);
  lns_memory_stream_end (stream);
  return text;
}

/* Writes the name of a CUDA call without its version. */
static void
put_call (LnsReport *report, uint32_t id, FILE *stream)
{
  const char *name = lns_report_string (report, id, NULL);
  const char *version = strstr (name, "_v");

  if (strncmp (name, "cu", 2) == 0 && version != NULL && isdigit ((unsigned char)version[2]))
    fwrite (name, 1, (size_t)(version - name), stream);
  else
    put_name (report, id, false, stream);
}

/* Writes "thread 4711 “loader”", or "process 4712 “gzip”" if it is not of the process OWN. A thread that is called as its
 * process is has no name of its own. */
static void
put_thread (LnsTables *tables, uint32_t thread, uint32_t own, FILE *stream)
{
  LnsReport *report = lns_tables_report (tables);
  uint32_t n, n_processes;
  const LnsThread *threads = lns_report_threads (report, &n);
  const LnsProcess *processes = lns_report_processes (report, &n_processes);

  if (thread >= n)
    {
      fputs (_ ("a thread"), stream);
      return;
    }
  const LnsThread *self = &threads[thread];
  char number[16];
  snprintf (number, sizeof number, "%d", self->tid);
  if (self->name != 0 && strstr (lns_report_string (report, self->name, NULL), number) != NULL)
    {
      put_name (report, self->name, false, stream);
      return;
    }
  if (own != LNS_ID_NONE && self->process != own && self->process < n_processes)
    {
      fprintf (stream, _ ("process %d “"), processes[self->process].pid);
      put_name (report, processes[self->process].name, false, stream);
      fputs (_ ("”"), stream);
      return;
    }
  fprintf (stream, _ ("thread %d"), self->tid);
  const uint32_t of_process = self->process < n_processes ? processes[self->process].name : 0;
  if (self->name != 0 && strcmp (lns_report_string (report, self->name, NULL),
                                 lns_report_string (report, of_process, NULL)) != 0)
    {
      fputs (_ (" “"), stream);
      put_name (report, self->name, false, stream);
      fputs (_ ("”"), stream);
    }
}

/* The process of THREAD, or LNS_ID_NONE. */
static uint32_t
process_of (LnsReport *report, uint32_t thread)
{
  uint32_t n;
  const LnsThread *threads = lns_report_threads (report, &n);
  return thread < n ? threads[thread].process : LNS_ID_NONE;
}

/* Another process than that of THREAD, if there is one and THREAD is the first one of its own, so that its process is what it
 * is known by; else LNS_ID_NONE. */
static uint32_t
foreign_to (LnsReport *report, uint32_t thread)
{
  uint32_t n, n_processes;
  const LnsThread *threads = lns_report_threads (report, &n);
  const LnsProcess *processes = lns_report_processes (report, &n_processes);

  if (thread >= n || n_processes < 2 || threads[thread].process >= n_processes ||
      processes[threads[thread].process].pid != threads[thread].tid)
    return LNS_ID_NONE;
  return threads[thread].process == 0 ? 1 : 0;
}

/* Whether the process of THREAD has others: what is said of THREAD is not so of the process. */
static bool
has_companions (LnsReport *report, uint32_t thread)
{
  uint32_t n;
  const LnsThread *threads = lns_report_threads (report, &n);

  for (uint32_t i = 0; i < n; i++)
    if (i != thread && threads[i].process == threads[thread].process)
      return true;
  return false;
}

/* Writes the thread that a ledger is of: of several processes, as its process, or the main thread of that. */
static void
put_ledger_thread (LnsTables *tables, uint32_t thread, FILE *stream)
{
  LnsReport *report = lns_tables_report (tables);
  const uint32_t foreign = foreign_to (report, thread);
  char *text;
  size_t size;

  if (foreign == LNS_ID_NONE || !has_companions (report, thread))
    {
      put_thread (tables, thread, foreign, stream);
      return;
    }
  FILE *name = lns_memory_stream (&text, &size);
  put_thread (tables, thread, foreign, name);
  lns_memory_stream_end (name);
  /* Translators: of a process: "the main thread of process 4711 “train”" */
  fprintf (stream, _ ("the main thread of %s"), text);
  free (text);
}

char *
lns_why_subject (LnsTables *tables, const LnsLedger *ledger)
{
  LnsReport *report = lns_tables_report (tables);
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);
  char *text;
  size_t size;

  if (ledger->is_device)
    return ledger->device < n ? lns_asprintf (_ ("GPU %u"), devices[ledger->device].number)
                              : lns_strdup (_ ("The GPU"));
  FILE *stream = lns_memory_stream (&text, &size);
  put_ledger_thread (tables, ledger->thread, stream);
  lns_memory_stream_end (stream);
  text[0] = (char)toupper ((unsigned char)text[0]);
  return text;
}

/* Writes the name of a function of Python: "evaluate" for "main.<locals>.evaluate". */
static void
put_python (LnsReport *report, uint32_t id, FILE *stream)
{
  static const char local[] = ".<locals>.";
  const char *name = lns_report_string (report, id, NULL), *at;

  while ((at = strstr (name, local)) != NULL)
    name = at + sizeof local - 1;
  fputs (name, stream);
}

/* Writes "train > augment (train.py:12)": the function of OCCUPATION, as far as it is known, and WITH_SOURCE where that is. */
static void
put_code (LnsReport *report, const LnsOccupation *occupation, bool with_source, FILE *stream)
{
  if (occupation->caller != 0)
    {
      put_python (report, occupation->caller, stream);
      fputs (" > ", stream);
    }
  if (occupation->import != 0)
    {
      char module[200];
      const char *path = lns_report_string (report, occupation->import, NULL);
      _lns_why_python_module (path, module, sizeof module);
      if (*path == '<') /* the importer itself: many modules */
        fputs (_ ("imports"), stream);
      else
        fprintf (stream, "import %s", module);
    }
  else if (occupation->is_python)
    put_python (report, occupation->function, stream);
  else
    put_name (report, occupation->function, false, stream);
  if (!with_source || occupation->file == 0)
    return;
  const char *path = lns_report_string (report, occupation->file, NULL),
             *slash = strrchr (path, '/');
  fprintf (stream, " (%s", slash != NULL ? slash + 1 : path);
  if (occupation->line > 0)
    fprintf (stream, ":%" PRIu32, occupation->line);
  fputs (")", stream);
}

/* Writes what OCCUPATION was in: “decode”, in read; or nothing. Returns whether it wrote anything. */
static bool
put_occupation (LnsReport *report, const LnsOccupation *occupation, FILE *stream)
{
  if (occupation->range != 0)
    {
      fputs (_ ("“"), stream);
      put_name (report, occupation->range, false, stream);
      fputs (_ ("”"), stream);
    }
  else if (occupation->call != 0)
    put_call (report, occupation->call, stream);
  else if (occupation->function != 0)
    put_code (report, occupation, true, stream);
  else
    return false;
  return true;
}

char *
_lns_why_subject_of (LnsTables *tables, const LnsWhyFinding *finding)
{
  LnsReport *report = lns_tables_report (tables);
  char *text;
  size_t size;
  FILE *stream = lns_memory_stream (&text, &size);
  const LnsOccupation *own = &finding->own;
  const char *before = "";

  if (own->range != 0)
    {
      put_name (report, own->range, finding->is_many_ranges, stream);
      before = " > ";
    }
  if (own->call != 0)
    {
      fputs (before, stream);
      put_call (report, own->call, stream);
      before = " > ";
    }
  if (own->function != 0)
    {
      fputs (before, stream);
      put_code (report, own, false, stream);
      before = " > ";
    }
  for (unsigned i = 0; i < finding->n_waits; i++)
    {
      char *inner;
      size_t inner_size;
      FILE *inner_stream = lns_memory_stream (&inner, &inner_size);
      const bool any = put_occupation (report, &finding->waits[i], inner_stream);
      lns_memory_stream_end (inner_stream);
      if (i > 0)
        fputs (_ (", by "), stream);
      else
        fprintf (stream, "%s%s", *before != '\0' ? ", " : "",
                 finding->cause == LNS_CAUSE_CPU_CONTENTION ? _ ("taken by ") : _ ("woken by "));
      put_thread (tables, finding->waits[i].thread, process_of (report, own->thread), stream);
      if (any)
        fprintf (stream, _ (" in %s"), inner);
      free (inner);
    }
  lns_memory_stream_end (stream);
  return text;
}

char *
lns_why_step_name (LnsTables *tables, const LnsWhy *why)
{
  char *text;
  size_t size;
  FILE *stream = lns_memory_stream (&text, &size);

  put_name (lns_tables_report (tables), why->steps.name, !why->steps.is_kernel, stream);
  lns_memory_stream_end (stream);
  return text;
}

/* --- Labels ----------------------------------------------------------------------------------- */

char *
lns_why_finding_sql (const LnsWhy *why, const LnsWhyFinding *finding)
{
  return lns_asprintf (finding->group != 0
                           ? "SELECT sum(\"end\" - start) FROM LNS_GAPS WHERE finding = %zu"
                           : "SELECT sum(ns) FROM LNS_COSTS WHERE finding = %zu",
                       (size_t)(finding - why->findings.items) + 1);
}

const char *
lns_why_cause_label (LnsCause cause)
{
  static const char *const labels[LNS_N_CAUSES] = {
    [LNS_CAUSE_LOCK_WAIT] = N_ ("waits for a thread"),
    [LNS_CAUSE_IO_WAIT] = N_ ("waits for data"),
    [LNS_CAUSE_SLEEP] = N_ ("sleeps"),
    [LNS_CAUSE_CPU_CONTENTION] = N_ ("has no CPU"),
    [LNS_CAUSE_CPU_WORK] = N_ ("computes"),
    [LNS_CAUSE_GPU_SYNC] = N_ ("waits for the GPU"),
    [LNS_CAUSE_LAUNCH_RATE] = N_ ("launches slowly"),
    [LNS_CAUSE_ALLOCATION] = N_ ("allocates memory"),
    [LNS_CAUSE_MODULE_LOAD] = N_ ("loads code"),
    [LNS_CAUSE_DRIVER] = N_ ("is in the driver"),
    [LNS_CAUSE_START_UP] = N_ ("starts"),
    [LNS_CAUSE_TEAR_DOWN] = N_ ("ends"),
    [LNS_CAUSE_COLLECTIVE_WAIT] = N_ ("waits for other ranks"),
    [LNS_CAUSE_DEPENDENCY] = N_ ("waits for other work"),
    [LNS_CAUSE_PROFILER] = N_ ("is being recorded"),
    [LNS_CAUSE_NOT_RECORDED] = N_ ("not recorded"),
    [LNS_CAUSE_UNKNOWN] = N_ ("not known"),
  };
  return cause < LNS_N_CAUSES && labels[cause] != NULL ? labels[cause] : "";
}

/* The name of THREAD, or of its process where it has none of its own. */
static uint32_t
name_of_thread (LnsReport *report, uint32_t thread)
{
  uint32_t n, n_processes;
  const LnsThread *threads = lns_report_threads (report, &n);
  const LnsProcess *processes = lns_report_processes (report, &n_processes);

  if (thread >= n)
    return 0;
  return threads[thread].name != 0               ? threads[thread].name
         : threads[thread].process < n_processes ? processes[threads[thread].process].name
                                                 : 0;
}

/* The name of the process of THREAD, or 0. */
static uint32_t
name_of_process (LnsReport *report, uint32_t thread)
{
  uint32_t n_processes;
  const LnsProcess *processes = lns_report_processes (report, &n_processes);
  const uint32_t process = process_of (report, thread);

  return process < n_processes ? processes[process].name : 0;
}

char *
lns_why_label (LnsTables *tables, const LnsWhyFinding *finding)
{
  LnsReport *report = lns_tables_report (tables);
  const LnsOccupation *own = &finding->own;
  const uint32_t awaited =
      finding->n_waits > 0 && finding->cause != LNS_CAUSE_CPU_CONTENTION
          ? name_of_thread (report, finding->waits[finding->n_waits - 1].thread)
          : 0;
  char *text;
  size_t size;
  FILE *stream = lns_memory_stream (&text, &size);

  if (finding->is_for_python)
    fputs (_ ("waits for the GIL"), stream);
  else if (awaited != 0)
    {
      fputs (_ ("waits for "), stream);
      put_name (report, awaited, false, stream);
    }
  else if (finding->cause == LNS_CAUSE_CPU_WORK && finding->confidence == LNS_CONFIDENCE_GUESS)
    fputs (_ ("computes or waits"), stream);
  else
    fputs (_ (lns_why_cause_label (finding->cause)), stream);
  const bool has_place = finding->cause == LNS_CAUSE_CPU_WORK ||
                         finding->cause == LNS_CAUSE_START_UP ||
                         finding->cause == LNS_CAUSE_TEAR_DOWN ||
                         finding->cause == LNS_CAUSE_UNKNOWN || finding->cause == LNS_CAUSE_IO_WAIT;
  if (own->call != 0 &&
      (finding->cause == LNS_CAUSE_IO_WAIT || finding->cause == LNS_CAUSE_DRIVER ||
       finding->cause == LNS_CAUSE_ALLOCATION))
    {
      fputs (_ (": "), stream);
      put_call (report, own->call, stream);
    }
  else if (has_place && (own->range != 0 || own->function != 0))
    {
      fputs (_ (": "), stream);
      if (own->range != 0)
        put_name (report, own->range, finding->is_many_ranges, stream);
      else
        put_code (report, own, false, stream);
    }
  lns_memory_stream_end (stream);
  return text;
}

/* --- Sentences -------------------------------------------------------------------------------- */

/* Writes " (“fetch”)" if there is a range. */
static void
put_range (LnsReport *report, const LnsWhyFinding *finding, FILE *stream)
{
  if (finding->own.range == 0)
    return;
  fputs (_ (" (“"), stream);
  put_name (report, finding->own.range, finding->is_many_ranges, stream);
  fputs (_ ("”)"), stream);
}

/* Writes " in read (“fetch”)", as far as they are known. */
static void
put_place (LnsReport *report, const LnsWhyFinding *finding, FILE *stream)
{
  if (finding->own.call != 0)
    {
      fputs (_ (" in "), stream);
      put_call (report, finding->own.call, stream);
      if (finding->is_many_calls)
        fputs (_ (" and other calls"), stream);
      put_range (report, finding, stream);
    }
  else if (finding->own.range != 0)
    {
      fputs (_ (" in “"), stream);
      put_name (report, finding->own.range, finding->is_many_ranges, stream);
      fputs (_ ("”"), stream);
    }
}

/* Writes " in stream 7" for the lane of an operation of a GPU. */
static void
put_stream (LnsReport *report, uint32_t lane, FILE *stream)
{
  uint32_t n;
  const LnsCudaStream *streams = lns_report_streams (report, &n);
  const LnsTrack *track = lns_track_of (report, lane);

  if (track->stream < n)
    fprintf (stream, _ (" in stream %u"), (unsigned)streams[track->stream].number);
}

/* The finding that a few steps are slow, if most of the time of FINDING is why; else NULL. */
static const LnsWhyFinding *
slow_steps_of (const LnsWhy *why, const LnsWhyFinding *finding)
{
  for (size_t i = 0; i < why->findings.n; i++)
    {
      const LnsWhyFinding *slow = &why->findings.items[i];
      if (_lns_why_is_told_by (slow, finding))
        return slow;
    }
  return NULL;
}

/* Writes how often: in how many steps, or how many times. */
static void
put_count (const LnsWhy *why, const LnsWhyFinding *finding, FILE *stream)
{
  const LnsWhyFinding *slow = slow_steps_of (why, finding);
  char number[LNS_FORMAT_SIZE];

  if (slow != NULL)
    fprintf (stream, _ (", most in %ju of %zu steps"), (uintmax_t)slow->n_steps, why->steps.n);
  else if (why->steps.n > 1 && finding->n_steps == why->steps.n)
    fprintf (stream, _ (" in all %zu steps"), why->steps.n);
  else if (why->steps.n > 0 && finding->n_steps * 2 >= why->steps.n)
    fprintf (stream, _ (" in %ju of %zu steps"), (uintmax_t)finding->n_steps, why->steps.n);
  else if (finding->count > 1)
    fprintf (stream, _ (", %s times"), lns_format_unsigned (finding->count, number));
}

/* Whether FINDING is a call that writes. */
static bool
is_output (LnsReport *report, const LnsWhyFinding *finding)
{
  return lns_call_class_of_text (LNS_LANE_OS_CALL, lns_report_string (report, finding->own.call,
                                                                      NULL)) == LNS_CALL_OUTPUT;
}

/* Whether all that is told of where FINDING's thread was, or the one that it waited for, is a function of Python's interpreter. */
static bool
is_in_interpreter (LnsReport *report, const LnsWhyFinding *finding)
{
  static const char *const functions[] = { "_PyEval", "PyEval", "_PyObject", "PyObject",
                                           "_PyFunction" };
  const LnsOccupation *it =
      finding->n_waits > 0 ? &finding->waits[finding->n_waits - 1] : &finding->own;
  const char *name = lns_report_string (report, it->function, NULL);

  if (it->range != 0 || it->call != 0)
    return false;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (strncmp (name, functions[i], strlen (functions[i])) == 0)
      return true;
  /* "python3.12+0x172500": an interpreter without symbols. */
  const char *base = strncmp (name, "lib", 3) == 0 ? name + 3 : name;
  return strncmp (base, "python3", strlen ("python3")) == 0 && strstr (base, "+0x") != NULL;
}

/* Whether the launches of FINDING are of graphs. */
static bool
launches_graphs (LnsReport *report, const LnsWhyFinding *finding)
{
  return strstr (lns_report_string (report, finding->own.call, NULL), "GraphLaunch") != NULL;
}

/* What helps against FINDING. Static. */
static const char *
advice_of (LnsReport *report, const LnsWhy *why, const LnsWhyFinding *finding)
{
  const bool has_gpu =
      finding->ledger < why->ledgers.n && why->ledgers.items[finding->ledger].is_device;

  if (is_in_interpreter (report, finding))
    return _ ("record with --python-sampling=true, which names the function of Python");
  if (finding->cause == LNS_CAUSE_LAUNCH_RATE && launches_graphs (report, finding))
    return _ ("put more work into each graph, or launch the next one while this one runs");
  if (finding->cause == LNS_CAUSE_LAUNCH_RATE && finding->own.call != 0)
    return _ ("copy in fewer, larger pieces");
  if (finding->cause == LNS_CAUSE_LOCK_WAIT && finding->n_waits == 0)
    return _ ("record who ends the wait: thread scheduling as root, or -t osrt of all threads");
  if (finding->cause == LNS_CAUSE_IO_WAIT && finding->n_waits > 0)
    return _ (lns_cause_advice (LNS_CAUSE_LOCK_WAIT));
  if (finding->cause == LNS_CAUSE_IO_WAIT && is_output (report, finding))
    return _ ("write less often, in larger pieces, or from another thread");
  if (finding->is_for_python)
    return _ (
        "have the other thread's work done in another process, or in code that releases the lock");
  if (finding->cause == LNS_CAUSE_IO_WAIT && finding->own.call == 0)
    return _ ("see what it reads or writes there: read ahead, or write less often");
  if (finding->cause == LNS_CAUSE_CPU_WORK && finding->own.is_fault && !finding->own.is_minor)
    return _ ("use memory again that is there, or larger pages: each new page costs a fault");
  if (finding->cause == LNS_CAUSE_CPU_WORK && !has_gpu && finding->own.is_python)
    return _ ("make this work less, or share it out among processes");
  if (finding->cause == LNS_CAUSE_CPU_WORK && !has_gpu)
    return _ ("make this work less, or share it out among threads");
  /* Between what is queued there is always a little; it weighs where there is much of it. */
  const bool is_between = finding->cause == LNS_CAUSE_DRIVER && finding->own.call == 0;
  const char *advice = lns_cause_advice (is_between ? LNS_CAUSE_LAUNCH_RATE : finding->cause);
  return *advice != '\0' ? _ (advice) : advice;
}

/* What the accused thread did, around how long: "waited 353 ms in sem_wait". */
typedef struct
{
  const char *before, *after;
} Deed;

static Deed
deed_of (LnsReport *report, const LnsWhyFinding *finding, bool is_device)
{
  switch (finding->cause)
    {
    case LNS_CAUSE_LOCK_WAIT:
      return (Deed){ _ ("waited"), finding->own.call == 0 && finding->n_waits == 0
                                       ? _ (" for another thread")
                                       : "" };
    case LNS_CAUSE_IO_WAIT:
      return (Deed){ _ ("waited"), finding->own.call == 0 ? _ (" in the kernel") : "" };
    case LNS_CAUSE_SLEEP:
      return (Deed){ _ ("slept"), "" };
    case LNS_CAUSE_CPU_CONTENTION:
      return (Deed){ _ ("had no CPU for"), "" };
    case LNS_CAUSE_ALLOCATION:
    case LNS_CAUSE_DRIVER:
      return finding->own.call != 0 ? (Deed){ _ ("spent"), "" }
             : finding->cause == LNS_CAUSE_DRIVER
                 ? (Deed){ _ ("spent"), _ (" in calls of CUDA") }
                 : (Deed){ _ ("allocated or freed memory for"), "" };
    case LNS_CAUSE_GPU_SYNC:
      if (!is_device)
        return (Deed){ _ ("waited"), _ (" for the GPU") };
      return (Deed){ _ ("had nothing queued for"), finding->own.call != 0
                                                       ? _ (", waiting for the GPU")
                                                       : _ (" after waiting for the GPU") };
    case LNS_CAUSE_LAUNCH_RATE:
      return (Deed){ launches_graphs (report, finding)
                         ? _ ("launched graphs more slowly than the GPU ran them for")
                     : finding->own.call != 0
                         ? _ ("queued copies more slowly than the GPU ran them for")
                         : _ ("launched more slowly than the GPU worked for"),
                     "" };
    case LNS_CAUSE_MODULE_LOAD:
      return (Deed){ _ ("loaded code for"), "" };
    case LNS_CAUSE_COLLECTIVE_WAIT:
      return (Deed){ _ ("waited"), _ (" for other ranks") };
    case LNS_CAUSE_CPU_WORK:
      return (Deed){ finding->confidence != LNS_CONFIDENCE_GUESS ? _ ("computed for")
                     : finding->own.range != 0 || finding->own.call != 0
                         ? _ ("spent")
                         : _ ("was in no recorded call for"),
                     "" };
    case LNS_CAUSE_PROFILER:
      return (Deed){ _ ("was held up"), _ (" by the recording itself") };
    default:
      return (Deed){ _ ("spent"), "" };
    }
}

/* Writes what the accused thread did for NS. If it is what LEDGER is about, it is "it" where the words are IN_VERDICT, which has named it. */
static void
put_deed (LnsTables *tables,
          const LnsLedger *ledger,
          const LnsWhyFinding *finding,
          int64_t all_ns,
          bool in_verdict,
          FILE *stream)
{
  LnsReport *report = lns_tables_report (tables);
  const Deed deed = deed_of (report, finding, ledger->is_device);
  char ns[LNS_WHY_NS_SIZE];

  if (finding->n_threads > 1)
    {
      fprintf (stream, _ ("%u threads like “"), finding->n_threads);
      put_name (report, name_of_thread (report, finding->own.thread), false, stream);
      fputs (_ ("”"), stream);
    }
  else if (ledger->is_device || ledger->thread != finding->own.thread)
    put_thread (tables, finding->own.thread, ledger->process, stream);
  else if (in_verdict)
    fputs (_ ("it"), stream);
  else
    put_ledger_thread (tables, ledger->thread, stream);
  fprintf (stream, _ (" %s %s%s"), deed.before, _lns_why_ns (all_ns, ns), deed.after);
  if (all_ns == finding->ns)
    put_place (report, finding, stream);
}

/* Writes the function in which FINDING computed most, where that is known. */
static void
put_function (LnsReport *report, const LnsWhyFinding *finding, FILE *stream)
{
  if (finding->own.function == 0 ||
      (finding->cause != LNS_CAUSE_CPU_WORK && (finding->own.range != 0 || finding->n_waits > 0)))
    return;
  fputs (finding->own.is_minor   ? _ (", most often in ")
         : finding->own.is_fault ? _ (", mostly in page faults of ")
                                 : _ (", mostly in "),
         stream);
  put_code (report, &finding->own, true, stream);
}

/* Writes for whom the accused thread waited in the end, and what that one did. */
static void
put_waits (LnsTables *tables, const LnsWhyFinding *finding, FILE *stream)
{
  LnsReport *report = lns_tables_report (tables);
  char *text;
  size_t size;

  if (finding->is_taken_by_others)
    fputs (_ (", while other programs ran there"), stream);
  if (finding->n_waits == 0 && finding->is_for_python)
    fputs (_ (", for Python's interpreter lock (GIL)"), stream);
  else if (finding->n_waits == 0 && finding->cause == LNS_CAUSE_LOCK_WAIT)
    fputs (_ ("; who ended the wait was not recorded"), stream);
  if (finding->n_waits == 0)
    return;
  if (finding->cause == LNS_CAUSE_CPU_CONTENTION)
    {
      fputs (finding->n_rivals > 1 ? _ (", behind ") : _ (", while "), stream);
      put_thread (tables, finding->waits[0].thread, process_of (report, finding->own.thread),
                  stream);
      fputs (finding->n_rivals > 1 ? _ (" and others") : _ (" ran there"), stream);
      return;
    }
  const LnsOccupation *last = &finding->waits[finding->n_waits - 1];
  FILE *inner = lns_memory_stream (&text, &size);
  const bool any = put_occupation (report, last, inner);
  lns_memory_stream_end (inner);
  fputs (finding->is_for_python && finding->n_waits == 1
             ? _ (", for Python's interpreter lock (GIL), held by ")
         : finding->n_waits > 1 ? _ (", finally for ")
                                : _ (", for "),
         stream);
  if (finding->is_many_awaited)
    {
      fputs (_ ("processes like “"), stream);
      put_name (report, name_of_process (report, last->thread), false, stream);
      fputs (_ ("”"), stream);
    }
  else
    put_thread (tables, last->thread, process_of (report, finding->own.thread), stream);
  if (any)
    fprintf (stream, finding->waits_on ? _ (", which waited in turn in %s") : _ (" in %s"), text);
  free (text);
}

/* Writes what the time of FINDING was spent in, where that is known. */
static void
put_most (LnsReport *report, const LnsWhyFinding *finding, FILE *stream)
{
  char ns[LNS_WHY_NS_SIZE];

  if (finding->own.call == 0 && finding->own.range == 0 && finding->own.function == 0)
    return;
  if (finding->own_ns >= finding->ns / 2)
    fputs (_ (", most of it"), stream);
  else
    fprintf (stream, _ (", %s of it"), _lns_why_ns (finding->own_ns, ns));
  put_place (report, finding, stream);
  if (finding->own.call == 0 && finding->own.function != 0)
    {
      fputs (finding->own.range != 0 ? _ (", in ") : _ (" in "), stream);
      put_code (report, &finding->own, true, stream);
    }
}

/* How long the thread of FINDING lost to the same cause, wherever it was; of causes whose sentence says so without a place. */
static int64_t
lost_anywhere (const LnsWhy *why, const LnsWhyFinding *finding)
{
  int64_t ns = 0;

  if (finding->cause != LNS_CAUSE_LOCK_WAIT && finding->cause != LNS_CAUSE_IO_WAIT &&
      (finding->cause != LNS_CAUSE_CPU_WORK || finding->confidence == LNS_CONFIDENCE_GUESS))
    return finding->ns;
  for (size_t i = 0; i < why->findings.n; i++)
    {
      const LnsWhyFinding *other = &why->findings.items[i];
      if (other->cause == finding->cause && other->ledger == finding->ledger && other->group != 0 &&
          other->own.thread == finding->own.thread && other->confidence == finding->confidence)
        ns += other->ns;
    }
  return ns;
}

/* The clause that says what FINDING is, without a capital and without a point; IN_VERDICT of all that its thread lost to the
 * cause, if that is far more. To be freed. */
static char *
make_clause (LnsTables *tables, const LnsWhy *why, const LnsWhyFinding *finding, bool in_verdict)
{
  LnsReport *report = lns_tables_report (tables);
  char *text, ns[LNS_WHY_NS_SIZE], number[LNS_FORMAT_SIZE];
  size_t size;
  FILE *stream = lns_memory_stream (&text, &size);

  int64_t all_ns =
      in_verdict && finding->own.thread != LNS_ID_NONE ? lost_anywhere (why, finding) : 0;
  if ((double)all_ns < 1.5 * (double)finding->ns)
    all_ns = finding->ns;
  _lns_why_ns (finding->ns, ns);
  switch (finding->cause)
    {
    case LNS_CAUSE_START_UP:
      fprintf (stream, _ ("the first GPU work began only after %s"), ns);
      put_most (report, finding, stream);
      break;
    case LNS_CAUSE_TEAR_DOWN:
      fprintf (stream, _ ("%s passed after the last GPU work"), ns);
      put_most (report, finding, stream);
      break;
    case LNS_CAUSE_DRIVER:
      if (finding->own.call == 0)
        {
          fprintf (stream, _ ("between kernels and copies that were queued %s passed, in %s gaps"),
                   ns, lns_format_unsigned (finding->count, number));
          break;
        }
      put_deed (tables, &why->ledgers.items[finding->ledger], finding, finding->ns, in_verdict,
                stream);
      put_count (why, finding, stream);
      break;
    case LNS_CAUSE_DEPENDENCY:
      if (finding->own.call == 0 || finding->longest.lane == LNS_ID_NONE)
        {
          fprintf (stream, _ ("work that was queued waited %s for something else"), ns);
          break;
        }
      fputs (_ ("kernels like "), stream);
      put_name (report, finding->own.call, false, stream);
      put_range (report, finding, stream);
      fputs (_ (" were queued"), stream);
      put_stream (report, finding->longest.lane, stream);
      fprintf (stream, _ (" and waited %s for other work"), ns);
      break;
    case LNS_CAUSE_NOT_RECORDED:
      fprintf (stream, _ ("what the program did in %s of idle time was not recorded"), ns);
      break;
    case LNS_CAUSE_UNKNOWN:
      fprintf (stream, _ ("for %s no cause is known"), ns);
      put_function (report, finding, stream);
      break;
    case LNS_CAUSE_PAGEABLE_COPY:
      fprintf (stream, _ ("%s copies of pageable memory"),
               lns_format_unsigned (finding->count, number));
      put_place (report, finding, stream);
      fprintf (stream, _ (" ran %s with no kernel beside them"), ns);
      break;
    case LNS_CAUSE_COPY_BOUND:
      fprintf (stream, _ ("%s copies"), lns_format_unsigned (finding->count, number));
      put_place (report, finding, stream);
      fprintf (stream, _ (" ran %s with no kernel beside them"), ns);
      break;
    case LNS_CAUSE_UNDER_FILLED:
      fputs (_ ("kernels like "), stream);
      put_name (report, finding->own.call, false, stream);
      fprintf (stream,
               _ (" have fewer blocks than the GPU has multiprocessors, which wastes %s of it"),
               ns);
      break;
    case LNS_CAUSE_SLOW_CLOCKS:
      fputs (_ ("kernels like "), stream);
      put_name (report, finding->own.call, false, stream);
      fprintf (stream, _ (" took %s longer while clocks were low ("), ns);
      put_name (report, finding->own.function, false, stream);
      fputs (")", stream);
      break;
    case LNS_CAUSE_COLLECTIVE_WAIT:
      if (finding->group != 0)
        {
          put_deed (tables, &why->ledgers.items[finding->ledger], finding, finding->ns, in_verdict,
                    stream);
          put_count (why, finding, stream);
        }
      else
        {
          fprintf (stream, _ ("%s collectives like "),
                   lns_format_unsigned (finding->count, number));
          put_name (report, finding->own.call, false, stream);
          fprintf (stream, _ (" waited %s for the last GPU"), ns);
        }
      put_waits (tables, finding, stream);
      break;
    case LNS_CAUSE_SLOW_STEP:
      fprintf (stream, _ ("%ju of %zu steps took %s longer than the median, mostly "),
               (uintmax_t)finding->count, why->steps.n, ns);
      if (finding->part != LNS_CAUSE_UNKNOWN && finding->own.thread != LNS_ID_NONE)
        {
          LnsWhyFinding part = *finding;
          part.cause = finding->part;
          part.ns = finding->part_ns;
          fputs (_ ("as "), stream);
          put_deed (tables, &why->ledgers.items[finding->ledger], &part, part.ns, in_verdict,
                    stream);
          if (part.own.range == 0)
            put_function (report, &part, stream);
        }
      else if (finding->part != LNS_CAUSE_UNKNOWN)
        fprintf (stream, _ ("in %s"), lns_cause_name (finding->part));
      else if (finding->own.call != 0)
        {
          fputs (_ ("in kernels like "), stream);
          put_name (report, finding->own.call, false, stream);
        }
      else
        fputs (_ ("in GPU work"), stream);
      break;
    default:
      put_deed (tables, &why->ledgers.items[finding->ledger], finding, all_ns, in_verdict, stream);
      put_count (why, finding, stream);
      if (all_ns > finding->ns)
        {
          fprintf (stream, _ (", %s of it"), ns);
          put_place (report, finding, stream);
        }
      put_function (report, finding, stream);
      put_waits (tables, finding, stream);
      if (finding->cause == LNS_CAUSE_CPU_WORK && finding->confidence == LNS_CONFIDENCE_GUESS)
        fputs (_ ("; whether it computed or waited was not recorded"), stream);
    }
  lns_memory_stream_end (stream);
  return text;
}

/* What can be changed where the most is lost before and after all work, or NULL. */
static const LnsWhyFinding *
second_finding (const LnsWhy *why)
{
  const LnsWhyFinding *found = _lns_why_in_work (why);
  return found != NULL && found->share >= LNS_WHY_WORTH ? found : NULL;
}

/* The finding of CAUSE of the first finding's ledger, or NULL. */
static const LnsWhyFinding *
finding_of (const LnsWhy *why, LnsCause cause)
{
  for (size_t i = 0; i < why->findings.n; i++)
    if (why->findings.items[i].cause == cause &&
        why->findings.items[i].ledger == why->findings.items[0].ledger)
      return &why->findings.items[i];
  return NULL;
}

static double
percent (int64_t part_ns, int64_t whole_ns)
{
  return whole_ns > 0 ? 100 * (double)part_ns / (double)whole_ns : 0;
}

/* Writes the beginning of the verdict on LEDGER. */
static void
put_lead (LnsTables *tables,
          LnsWhy *why,
          const LnsLedger *ledger,
          const LnsWhyFinding *finding,
          FILE *stream)
{
  const int64_t span_ns = _lns_why_judged_ns (why, ledger);
  char *subject = lns_why_subject (tables, ledger), time[LNS_WHY_NS_SIZE], ns[128];
  const int64_t ran_ns = ledger->cause_ns[LNS_CAUSE_CPU_WORK],
                unknown_ns = _lns_why_unknown_ns (ledger);

  if (why->omissions.n > 0)
    snprintf (ns, sizeof ns, _ ("%s that were kept"), _lns_why_ns (span_ns, time));
  else
    _lns_why_ns (span_ns, ns);
  const bool is_idle =
      finding != NULL && (finding->group != 0 || (finding->cause == LNS_CAUSE_SLOW_STEP &&
                                                  finding->part != LNS_CAUSE_UNKNOWN));
  if (ledger->is_device && is_idle)
    fprintf (stream, _ ("%s was idle %.0f %% of %s"), subject,
             percent (span_ns - ledger->busy_ns, span_ns), ns);
  else if (ledger->is_device)
    fprintf (stream, _ ("%s was busy %.0f %% of %s"), subject, percent (ledger->busy_ns, span_ns),
             ns);
  else if (finding != NULL && finding->cause == LNS_CAUSE_CPU_WORK &&
           finding->confidence == LNS_CONFIDENCE_GUESS)
    {
      fprintf (stream, _ ("Of %s "), ns);
      put_ledger_thread (tables, ledger->thread, stream);
    }
  else if (finding != NULL && finding->cause == LNS_CAUSE_SLOW_STEP &&
           finding->confidence == LNS_CONFIDENCE_GUESS)
    {
      /* Whether it waited was not recorded. */
      fprintf (stream, _ ("In %s of "), ns);
      put_ledger_thread (tables, ledger->thread, stream);
    }
  else if (finding != NULL && finding->cause == LNS_CAUSE_CPU_WORK)
    fprintf (stream, _ ("%s was on a CPU %.0f %% of %s"), subject, percent (ran_ns, span_ns), ns);
  else
    fprintf (stream, _ ("%s waited %.0f %% of %s"), subject,
             percent (span_ns - ran_ns - unknown_ns, span_ns), ns);
  if (why->is_about_work)
    fputs (_ (" between its first and last work"), stream);
  why->lead_size = (size_t)ftell (stream);
  free (subject);
}

/* Writes what another thread did while it is not known what the one that is judged waited for. */
static void
put_meanwhile (LnsTables *tables, const LnsWhy *why, FILE *stream)
{
  LnsReport *report = lns_tables_report (tables);
  char *text;
  size_t size;

  if (why->meanwhile.thread == LNS_ID_NONE)
    return;
  FILE *inner = lns_memory_stream (&text, &size);
  const bool any = put_occupation (report, &why->meanwhile, inner);
  lns_memory_stream_end (inner);
  fputs (_ (" Meanwhile, "), stream);
  put_thread (tables, why->meanwhile.thread, process_of (report, why->meanwhile.thread), stream);
  fprintf (stream, any ? _ (" was in %s.") : _ (" ran."), text);
  free (text);
}

/* Makes the verdict where nothing is accused. */
static char *
make_calm_verdict (LnsTables *tables, LnsWhy *why)
{
  LnsReport *report = lns_tables_report (tables);
  char *text, ns[LNS_WHY_NS_SIZE];
  size_t size;

  if (why->ledgers.n == 0)
    return lns_strdup (why->abstained.n > 0
                           ? why->abstained.items[0].reason
                           : _ ("The report does not record where the time went."));
  FILE *stream = lns_memory_stream (&text, &size);
  const LnsLedger *ledger = &why->ledgers.items[0];
  const int64_t span_ns = _lns_why_judged_ns (why, ledger);
  const int64_t unknown_ns = _lns_why_unknown_ns (ledger);
  const LnsWhyFinding *blocked = finding_of (why, LNS_CAUSE_UNKNOWN);
  if (unknown_ns > span_ns / 10 && blocked != NULL && blocked->own.function != 0 &&
      blocked->ns > unknown_ns / 2)
    {
      if (ledger->is_device)
        {
          put_lead (tables, why, ledger, blocked, stream);
          fputs (_ (": "), stream);
          put_thread (tables, blocked->own.thread, process_of (report, blocked->own.thread),
                      stream);
        }
      else
        {
          char *subject = lns_why_subject (tables, ledger);
          fputs (subject, stream);
          free (subject);
        }
      fprintf (stream, _ (" was blocked for %s"), _lns_why_ns (blocked->ns, ns));
      if (!ledger->is_device)
        fprintf (stream, _ (" of %s"), _lns_why_ns (span_ns, ns));
      put_function (report, blocked, stream);
      fputs (_ ("; what it waited for was not recorded."), stream);
      put_meanwhile (tables, why, stream);
    }
  else if (unknown_ns > span_ns / 10)
    {
      char *subject = lns_why_subject (tables, ledger), whole[LNS_WHY_NS_SIZE];
      fprintf (stream, _ ("%s: what happened in %s of %s was not recorded."), subject,
               _lns_why_ns (unknown_ns, ns), _lns_why_ns (span_ns, whole));
      put_meanwhile (tables, why, stream);
      free (subject);
    }
  else
    {
      put_lead (tables, why, ledger, NULL, stream);
      if (ledger->kernel != 0 && ledger->kernel_ns >= ledger->busy_ns / 30)
        {
          fputs (_ (": kernels like "), stream);
          put_name (report, ledger->kernel, false, stream);
          fprintf (stream, _ (" took %s"), _lns_why_ns (ledger->kernel_ns, ns));
        }
      if (ledger->is_device && ledger->kernels_ns < ledger->busy_ns / 2)
        fprintf (stream, _ (", %.0f %% of that with copies alone"),
                 percent (ledger->busy_ns - ledger->kernels_ns, ledger->busy_ns));
      if (ledger->n_missing > ledger->n_launches / 20)
        fprintf (stream, _ ("; of %zu of %zu launches no work was recorded."), ledger->n_missing,
                 ledger->n_launches);
      else if (unknown_ns > span_ns / 33)
        fprintf (stream, _ ("; what happened in %s was not recorded."),
                 _lns_why_ns (unknown_ns, ns));
      else
        fputs (ledger->is_device && why->ledgers.n == 1 && ledger->kernel != 0 &&
                       lns_is_collective (lns_report_string (report, ledger->kernel, NULL))
                   ? _ ("; whether they waited for other GPUs was not recorded.")
               : ledger->is_device && (double)ledger->kernels_ns >= HEALTHY * (double)span_ns
                   ? _ ("; nothing kept it waiting.")
                   : _ ("; no cause stands out."),
               stream);
    }
  lns_memory_stream_end (stream);
  return text;
}

/* Writes what the thread computed whose ledger FINDING is of. */
static void
put_own_work (LnsReport *report, const LnsWhyFinding *finding, FILE *stream)
{
  char ns[LNS_WHY_NS_SIZE], number[LNS_FORMAT_SIZE];
  const bool is_known = finding->own.range != 0 || finding->own.function != 0;

  if (finding->confidence == LNS_CONFIDENCE_GUESS)
    {
      fprintf (stream, _ (" was %s"), _lns_why_ns (finding->ns, ns));
      put_place (report, finding, stream);
      if (finding->count > 1)
        fprintf (stream, _ (", %s times"), lns_format_unsigned (finding->count, number));
      fputs (_ ("; whether it computed or waited was not recorded."), stream);
    }
  else if (!is_known)
    fputs (_ ("; in which function was not recorded."), stream);
  else
    {
      fprintf (stream, _ (": %s"), _lns_why_ns (finding->ns, ns));
      put_range (report, finding, stream);
      put_function (report, finding, stream);
      fputs (_ ("."), stream);
    }
}

/* Whether what happened is not known for most of the time that the verdict is about. */
static bool
is_mostly_unknown (const LnsWhy *why)
{
  const LnsLedger *ledger = &why->ledgers.items[0];

  return _lns_why_unknown_ns (ledger) > _lns_why_judged_ns (why, ledger) / 2;
}

/* ADVICE, a sentence, as what is to be done next: "record with -t osrt". To be freed. */
static char *
make_next (const char *advice)
{
  char *text = lns_strdup (advice);
  const char *const ends[] = { ".", _ (".") };
  const size_t n = strlen (text);

  text[0] = (char)tolower ((unsigned char)text[0]);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    {
      const size_t n_end = strlen (ends[i]);
      if (n > n_end && strcmp (text + n - n_end, ends[i]) == 0)
        {
          text[n - n_end] = '\0';
          break;
        }
    }
  return text;
}

void
_lns_why_write_sentences (LnsTables *tables, LnsWhy *why, bool in_language)
{
  const bool was_english = lns_text_in_english (!in_language);
  for (size_t i = 0; i < why->findings.n; i++)
    {
      LnsWhyFinding *finding = &why->findings.items[i];
      char *clause = make_clause (tables, why, finding, false);
      finding->sentence =
          lns_asprintf (_ ("%c%s."), toupper ((unsigned char)clause[0]), clause + 1);
      free (clause);
      finding->advice = advice_of (lns_tables_report (tables), why, finding);
    }
  const LnsWhyFinding *first = _lns_why_main (why);
  const LnsLedger *ledger = first != NULL ? &why->ledgers.items[first->ledger] : NULL;
  if (first == NULL)
    {
      why->verdict = make_calm_verdict (tables, why);
      if (why->abstained.n > 0)
        why->next = make_next (why->abstained.items[0].advice);
      why->is_unknown = why->ledgers.n > 0 && why->abstained.n > 0 && is_mostly_unknown (why) &&
                        why->span.end_ns - why->span.start_ns >= SLOW_NS;
      lns_text_in_english (was_english);
      return;
    }
  char *text, ns[LNS_WHY_NS_SIZE];
  size_t size;
  FILE *stream = lns_memory_stream (&text, &size);
  put_lead (tables, why, ledger, first, stream);
  char *clause = make_clause (tables, why, first, true);
  if (!ledger->is_device && first->cause == LNS_CAUSE_CPU_WORK)
    put_own_work (lns_tables_report (tables), first, stream);
  else
    fprintf (stream, _ (": %s."), clause);
  free (clause);
  const LnsWhyFinding *second =
      first->cause == LNS_CAUSE_START_UP || first->cause == LNS_CAUSE_TEAR_DOWN
          ? second_finding (why)
          : NULL;
  if (second != NULL)
    {
      char *beside = make_clause (tables, why, second, true);
      fprintf (stream, _ (" Besides: %s."), beside);
      free (beside);
    }
  const LnsSpan work = _lns_why_work_span (ledger);
  if (second == NULL && ledger->is_device && !why->is_about_work &&
      (first->cause == LNS_CAUSE_START_UP || first->cause == LNS_CAUSE_TEAR_DOWN) &&
      work.end_ns - work.start_ns >= LEAST_WORK_NS)
    fprintf (stream, _ (" From its first to its last work it was busy %.0f %%."),
             percent (ledger->busy_ns, work.end_ns - work.start_ns));
  const LnsWhyFinding *start = why->is_about_work ? finding_of (why, LNS_CAUSE_START_UP) : NULL;
  if (start != NULL)
    {
      fprintf (stream, _ (" Before that, %s passed"), _lns_why_ns (start->ns, ns));
      put_most (lns_tables_report (tables), start, stream);
      fputs (_ ("."), stream);
    }
  lns_memory_stream_end (stream);
  why->verdict = text;
  why->is_slow = why->span.end_ns - why->span.start_ns >= SLOW_NS;
  why->next = lns_strdup (second != NULL ? second->advice : first->advice);
  lns_text_in_english (was_english);
}
