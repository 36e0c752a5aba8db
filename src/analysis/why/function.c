/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* In which function a thread was, by samples of it. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/thread-states.h"
#include "src/analysis/why/maker.h"
#include "src/store/read/call-walk.h"
#include "src/tables/call-chain.h"
#include "src/tables/lanes.h"

#define MAX_SAMPLES      20000
#define BLOCKED          7 /* ENUM_SAMPLING_THREAD_STATE */
#define MAX_KEPT_SAMPLES 64

/* A function of Python is told if it is on the stack in this share of the samples, the innermost that is. */
#define SHARE 0.6

/* The same for modules that are imported: a program imports one after the other, and most is still to be true. */
#define IMPORT_SHARE 0.5

/* A function of native code has most of the time if it is innermost in this share of the samples. */
#define LEAST_MOST 0.5

/* A thread that begins to wait so soon after a sample in the kernel waits in what it asked for there. Fewer such samples tell nothing. */
#define NEAR_NS    100000
#define LEAST_NEAR 5

/* --- Samples ---------------------------------------------------------------------------------- */

/* How many samples there are of each place, by 1 + the node of the call chain, or by the chain's number in a table. */
typedef struct
{
  LnsIdMap counts;
  bool is_kept; /* the chains are in the table KEPT, which an import keeps                       */
  const char *kept;
} Samples;

/* Which samples count: of a thread that waits, or that does not. */
typedef enum
{
  ANY,
  RUNNING,
  WAITING
} Which;

/* Adds the samples of LANE from START_NS to END_NS. Samples of Python tell whether the thread waited; of CPUs, that it ran. */
static bool
count_samples (LnsWhyMaker *maker,
               uint32_t lane,
               int64_t start_ns,
               int64_t end_ns,
               Which which,
               Samples *samples,
               LnsError *error)
{
  const LnsLaneKind kind = lns_report_lanes (maker->report, NULL)[lane].kind;
  const int chain = lns_lane_kind_extra (kind, LNS_COLUMN_CALL_CHAIN);
  uint32_t n_nodes;
  lns_report_call_nodes (maker->report, &n_nodes);
  samples->kept = lns_call_chain_table (kind);
  /* Each sample of an import has a chain of its own, which is looked up in a table: some tell enough. */
  samples->is_kept = n_nodes == 0 && samples->kept != NULL;
  const unsigned most = samples->is_kept ? MAX_KEPT_SAMPLES : MAX_SAMPLES;
  const int state =
      kind == LNS_LANE_PYTHON_SAMPLE ? lns_lane_kind_extra (kind, LNS_COLUMN_THREAD_STATE) : -1;
  LnsLaneCursor cursor = { .report = maker->report,
                           .lane = lane,
                           .columns = LNS_COLUMN_BIT (LNS_COLUMN_CALL_CHAIN) |
                                      LNS_COLUMN_BIT (LNS_COLUMN_THREAD_STATE) };
  bool good = lns_lane_cursor_seek (&cursor, start_ns, error);

  for (unsigned n = 0; good && n < most && lns_lane_cursor_has (&cursor) &&
                       lns_lane_cursor_start (&cursor) < end_ns;
       n++)
    {
      const uint64_t node = lns_chunk_extra (cursor.chunk, chain, cursor.i);
      const bool waits = state >= 0 && lns_chunk_extra (cursor.chunk, state, cursor.i) == BLOCKED;
      if (node != 0 && (which == ANY || state < 0 || waits == (which == WAITING)))
        lns_id_map_set_number (&samples->counts, node,
                               1 + lns_id_map_number (&samples->counts, node));
      good = lns_lane_cursor_next (&cursor, error);
    }
  lns_lane_cursor_clear (&cursor);
  return good;
}

/* The samples of KIND of THREAD in the N stretches at PARTS. */
static bool
take_samples (LnsWhyMaker *maker,
              uint32_t thread,
              LnsLaneKind kind,
              const LnsPart *parts,
              unsigned n,
              Which which,
              Samples *ret_samples,
              LnsError *error)
{
  size_t n_lanes;
  const uint32_t *lanes = lns_thread_facts_lanes (maker->facts, thread, kind, &n_lanes);
  bool good = true;

  *ret_samples = (Samples){ 0 };
  for (size_t i = 0; good && i < n_lanes; i++)
    for (unsigned k = 0; good && k < n; k++)
      good = count_samples (maker, lanes[i], parts[k].start_ns, parts[k].end_ns, which, ret_samples,
                            error);
  return good;
}

static void
add (LnsIdMap *counts, uint64_t key, uint64_t n)
{
  lns_id_map_set_number (counts, key, n + lns_id_map_number (counts, key));
}

/* The key that COUNTS has most of, or 0. */
static uint64_t
most_counted (const LnsIdMap *counts)
{
  uint64_t most = 0, found = 0;

  for (size_t i = 0; i < counts->n_places; i++)
    {
      const uint64_t n = (uintptr_t)counts->entries[i].value;
      if (n > most || (n == most && n > 0 && counts->entries[i].key < found))
        {
          most = n;
          found = counts->entries[i].key;
        }
    }
  return found;
}

/* --- Native code ------------------------------------------------------------------------------ */

/* The innermost function of the program in the chain that ends with NODE; in the kernel, the one that asked it. 0 = none. */
static uint32_t
function_at (LnsReport *report, uint32_t node)
{
  uint32_t n_modules, first = 0;
  const LnsModule *modules = lns_report_modules (report, &n_modules);
  LnsCallWalk walk = lns_call_walk (report, node);
  const LnsStackFrame *frame;

  while ((frame = lns_call_walk_next (&walk)) != NULL)
    {
      if (first == 0)
        first = frame->symbol;
      if (frame->symbol != 0 &&
          (frame->module >= n_modules || modules[frame->module].kind != LNS_MODULE_KERNEL))
        return frame->symbol;
    }
  return first;
}

/* The same for chain ID of the table TABLE that an import keeps. */
static uint32_t
function_of_kept (LnsReport *report, const char *table, int64_t id)
{
  unsigned n;
  LnsCallFrame *frames = lns_call_chain_read (report, table, id, &n);
  uint32_t found = n > 0 ? frames[0].symbol : 0;

  for (unsigned i = 0; i < n; i++)
    {
      /* "[kernel.kallsyms]" */
      const char *module = lns_report_string (report, frames[i].module, NULL);
      if (frames[i].symbol != 0 && *module != '[')
        {
          found = frames[i].symbol;
          break;
        }
    }
  free (frames);
  return found;
}

/* Whether the kernel gives the thread a page of memory in the chain that ends with NODE: "asm_exc_page_fault", "do_page_fault". */
static bool
is_page_fault (LnsReport *report, uint32_t node)
{
  uint32_t n_modules;
  const LnsModule *modules = lns_report_modules (report, &n_modules);
  LnsCallWalk walk = lns_call_walk (report, node);
  const LnsStackFrame *frame;

  while ((frame = lns_call_walk_next (&walk)) != NULL && frame->module < n_modules &&
         modules[frame->module].kind == LNS_MODULE_KERNEL)
    if (strstr (lns_report_string (report, frame->symbol, NULL), "page_fault") != NULL)
      return true;
  return false;
}

/* Fills in the function that was innermost most often, or 0: also where only its address is known, which tells nobody anything. */
static void
tell_innermost (LnsReport *report, const Samples *samples, LnsOccupation *occupation)
{
  LnsIdMap counts = { 0 }, faults = { 0 };
  uint64_t n_all = 0;

  for (size_t i = 0; i < samples->counts.n_places; i++)
    {
      const LnsIdMapEntry *entry = &samples->counts.entries[i];
      const uint64_t n = (uintptr_t)entry->value;
      n_all += n;
      const uint32_t symbol = n == 0 ? 0
                              : samples->is_kept
                                  ? function_of_kept (report, samples->kept, (int64_t)entry->key)
                                  : function_at (report, (uint32_t)(entry->key - 1));
      if (symbol == 0)
        continue;
      add (&counts, symbol, n);
      if (!samples->is_kept && is_page_fault (report, (uint32_t)(entry->key - 1)))
        add (&faults, symbol, n);
    }
  const uint32_t found = (uint32_t)most_counted (&counts);
  const double n_found = (double)lns_id_map_number (&counts, found);
  if (found != 0 && strncmp (lns_report_string (report, found, NULL), "0x", 2) != 0)
    {
      occupation->function = found;
      occupation->is_fault = (double)lns_id_map_number (&faults, found) >= SHARE * n_found;
      occupation->is_minor = n_found < LEAST_MOST * (double)n_all;
    }
  lns_id_map_clear (&faults);
  lns_id_map_clear (&counts);
}

/* --- Waits in the kernel ----------------------------------------------------------------------- */

/* The function that asked the kernel for what it does in the chain that ends with NODE, and above it its caller in another module:
 * caller << 32 | function. 0: the thread is not in the kernel, or its name is not known. */
static uint64_t
asker_at (LnsReport *report, uint32_t node)
{
  uint32_t n_modules, function = 0, module = 0;
  const LnsModule *modules = lns_report_modules (report, &n_modules);
  LnsCallWalk walk = lns_call_walk (report, node);
  const LnsStackFrame *frame = lns_call_walk_next (&walk);

  if (frame == NULL || frame->module >= n_modules ||
      modules[frame->module].kind != LNS_MODULE_KERNEL)
    return 0;
  for (; frame != NULL; frame = lns_call_walk_next (&walk))
    if (frame->symbol == 0 || frame->module >= n_modules ||
        modules[frame->module].kind == LNS_MODULE_KERNEL)
      continue;
    else if (function == 0)
      {
        function = frame->symbol;
        module = frame->module;
      }
    else if (frame->module != module)
      /* "dd+0x5ae0" tells nobody anything. */
      return strstr (lns_report_string (report, frame->symbol, NULL), "+0x") != NULL
                 ? function
                 : (uint64_t)frame->symbol << 32 | function;
  return function;
}

/* Whether the thread of LANE, of scheduling, begins to wait for a disk soon after TIME_NS. */
static bool
waits_soon (
    LnsReport *report, uint32_t lane, int64_t time_ns, bool *ret_waits_soon, LnsError *error)
{
  LnsThreadSpan span;

  *ret_waits_soon = false;
  if (!lns_thread_span_at (report, lane, time_ns, &span, error))
    return false;
  if (span.state != LNS_STATE_RUNNING || span.end_ns - time_ns > NEAR_NS)
    return true;
  if (!lns_thread_span_at (report, lane, span.end_ns, &span, error))
    return false;
  *ret_waits_soon = span.state == LNS_STATE_UNINTERRUPTIBLE;
  return true;
}

/* Counts who asked for what the samples of LANE in SPAN are in the kernel for, where the thread of STATES soon waits for it. */
static bool
count_askers (LnsWhyMaker *maker,
              uint32_t lane,
              uint32_t states,
              const LnsSpan *span,
              LnsIdMap *counts,
              uint64_t *n_near,
              LnsError *error)
{
  const LnsLaneKind kind = lns_report_lanes (maker->report, NULL)[lane].kind;
  const int chain = lns_lane_kind_extra (kind, LNS_COLUMN_CALL_CHAIN);
  LnsLaneCursor cursor = { .report = maker->report,
                           .lane = lane,
                           .columns = LNS_COLUMN_BIT (LNS_COLUMN_CALL_CHAIN) };
  bool good = lns_lane_cursor_seek (&cursor, span->start_ns, error);

  for (unsigned n = 0; good && n < MAX_SAMPLES && lns_lane_cursor_has (&cursor) &&
                       lns_lane_cursor_start (&cursor) < span->end_ns;
       n++)
    {
      const uint64_t node = lns_chunk_extra (cursor.chunk, chain, cursor.i);
      const uint64_t asker = node != 0 ? asker_at (maker->report, (uint32_t)(node - 1)) : 0;
      bool is_near = false;
      if (asker != 0)
        good = waits_soon (maker->report, states, lns_lane_cursor_start (&cursor), &is_near, error);
      if (is_near)
        {
          ++*n_near;
          add (counts, asker, 1);
        }
      good = good && lns_lane_cursor_next (&cursor, error);
    }
  lns_lane_cursor_clear (&cursor);
  return good;
}

bool
_lns_why_find_asker (LnsWhyMaker *maker,
                     uint32_t thread,
                     const LnsSpan *span,
                     LnsOccupation *occupation,
                     LnsError *error)
{
  size_t n_lanes, n_states;
  uint32_t n_nodes;
  /* The lanes are those of one kind, until the next call. */
  const uint32_t *lanes = lns_thread_facts_lanes (maker->facts, thread, LNS_LANE_SCHED, &n_states);
  const uint32_t states = n_states > 0 ? lanes[0] : LNS_ID_NONE;
  LnsIdMap counts = { 0 };
  uint64_t n_near = 0;
  bool good = true;

  lns_report_call_nodes (maker->report, &n_nodes);
  if (n_nodes == 0 || states == LNS_ID_NONE)
    return true;
  lanes = lns_thread_facts_lanes (maker->facts, thread, LNS_LANE_CPU_SAMPLE, &n_lanes);
  for (size_t i = 0; good && i < n_lanes; i++)
    good = count_askers (maker, lanes[i], states, span, &counts, &n_near, error);
  const uint64_t most = most_counted (&counts);
  if (n_near >= LEAST_NEAR && (double)lns_id_map_number (&counts, most) >= SHARE * (double)n_near)
    {
      occupation->function = (uint32_t)most;
      occupation->caller = (uint32_t)(most >> 32);
    }
  lns_id_map_clear (&counts);
  return good;
}

/* --- Python ----------------------------------------------------------------------------------- */

/* Whether FRAME has a name that tells: not "compute.<locals>.<genexpr>", "<module>" or "[outer functions left out]". */
static bool
is_named (LnsReport *report, const LnsStackFrame *frame)
{
  const char *name = lns_report_string (report, frame->symbol, NULL), *dot = strrchr (name, '.');
  const char *last = dot != NULL ? dot + 1 : name;
  return *last != '\0' && *last != '<' && *name != '[';
}

/* Whether FRAME is of the program itself, rather than of a package or of Python. */
static bool
is_own (LnsReport *report, const LnsStackFrame *frame)
{
  const char *file = lns_report_string (report, frame->file, NULL);
  /* "<string>" is what `python -c` runs, "<frozen importlib._bootstrap>" is Python's. */
  return frame->file != 0 && *file != '\0' && strncmp (file, "<frozen", strlen ("<frozen")) != 0 &&
         strstr (file, "-packages/") == NULL && strstr (file, "/lib/python3") == NULL &&
         strstr (file, "/lib64/python3") == NULL;
}

/* Whether FRAME is what a module does when it is imported. */
static bool
is_import (LnsReport *report, const LnsStackFrame *frame)
{
  return frame->file != 0 && !is_own (report, frame) &&
         strcmp (lns_report_string (report, frame->symbol, NULL), "<module>") == 0;
}

/* Whether FRAME is of what imports modules: "<frozen importlib._bootstrap>". */
static bool
is_importer (LnsReport *report, const LnsStackFrame *frame)
{
  return strncmp (lns_report_string (report, frame->file, NULL), "<frozen importlib",
                  strlen ("<frozen importlib")) == 0;
}

/* What FRAME is counted as: its function, by its name and its source, as every file has a "<module>", and classes of many files
 * a "run"; or the module that is imported, by its source. */
static uint64_t
key_of (LnsReport *report, const LnsStackFrame *frame)
{
  return (uint64_t)frame->file << 32 | (is_import (report, frame) ? 0 : frame->symbol);
}

/* How many samples have each function on the stack, by key_of (); and how many there are. */
static uint64_t
count_on_stacks (LnsReport *report, const Samples *samples, LnsIdMap *ret_counts)
{
  LnsIdMap last = { 0 }; /* by the key: the entry that it was counted for, as one may call itself */
  uint64_t n_all = 0;

  for (size_t i = 0; i < samples->counts.n_places; i++)
    {
      const LnsIdMapEntry *entry = &samples->counts.entries[i];
      const uint64_t n = (uintptr_t)entry->value;
      const LnsStackFrame *frame;
      if (n == 0)
        continue;
      n_all += n;
      LnsCallWalk walk = lns_call_walk (report, (uint32_t)(entry->key - 1));
      while ((frame = lns_call_walk_next (&walk)) != NULL)
        {
          const uint64_t key = key_of (report, frame);
          if (key == 0 || lns_id_map_number (&last, key) == i + 1)
            continue;
          lns_id_map_set_number (&last, key, i + 1);
          add (ret_counts, key, n);
        }
    }
  lns_id_map_clear (&last);
  return n_all;
}

/* Whether so many of N_ALL samples have FRAME on the stack, by COUNTS, that it tells where the thread was. */
static bool
is_frequent (LnsReport *report, const LnsStackFrame *frame, const LnsIdMap *counts, double n_all)
{
  const double share = is_import (report, frame) ? IMPORT_SHARE : SHARE;
  return (double)lns_id_map_number (counts, key_of (report, frame)) >= share * n_all;
}

/* The chain of SAMPLES on which most frequent functions are, and of these the most sampled one; LNS_ID_NONE if there is none. */
static uint32_t
typical_chain (LnsReport *report, const Samples *samples, const LnsIdMap *counts, double n_all)
{
  uint32_t found = LNS_ID_NONE;
  uint64_t most = 0;
  unsigned deepest = 0;

  for (size_t i = 0; i < samples->counts.n_places; i++)
    {
      const LnsIdMapEntry *entry = &samples->counts.entries[i];
      const uint64_t n = (uintptr_t)entry->value;
      const LnsStackFrame *frame;
      unsigned depth = 0;
      if (n == 0)
        continue;
      LnsCallWalk walk = lns_call_walk (report, (uint32_t)(entry->key - 1));
      while ((frame = lns_call_walk_next (&walk)) != NULL)
        depth += is_frequent (report, frame, counts, n_all);
      if (depth < deepest || (depth == deepest && n <= most))
        continue;
      deepest = depth;
      most = n;
      found = (uint32_t)(entry->key - 1);
    }
  return found;
}

/* Fills in the innermost function of Python that most of SAMPLES have on the stack, or the module that they import there; and the
 * innermost function around it that is the program's own, if it is not, or else the next such one. */
static void
tell_python (LnsReport *report, const Samples *samples, LnsOccupation *occupation)
{
  LnsIdMap counts = { 0 };
  const double n_all = (double)count_on_stacks (report, samples, &counts);
  LnsCallWalk walk = lns_call_walk (report, typical_chain (report, samples, &counts, n_all));
  const LnsStackFrame *frame, *inner = NULL, *unnamed = NULL;

  while (occupation->caller == 0 && (frame = lns_call_walk_next (&walk)) != NULL)
    {
      const bool imports = is_import (report, frame);
      if (!is_frequent (report, frame, &counts, n_all))
        continue;
      if (unnamed == NULL && is_own (report, frame))
        unnamed = frame; /* what the program does outside of functions */
      if (inner == NULL && !imports && !is_named (report, frame))
        continue;
      if (inner == NULL || (imports && is_importer (report, inner)))
        {
          inner = frame;
          occupation->is_python = true;
          occupation->import = imports || is_importer (report, frame) ? frame->file : 0;
          occupation->function = frame->symbol;
        }
      else if (is_own (report, frame) && is_named (report, frame) && frame->symbol != inner->symbol)
        occupation->caller = frame->symbol;
      if (is_own (report, frame) && occupation->file == 0)
        {
          occupation->file = frame->file;
          occupation->line = frame->line;
        }
    }
  if (inner == NULL && unnamed != NULL)
    {
      occupation->is_python = true;
      occupation->function = unnamed->symbol;
      occupation->file = unnamed->file;
      occupation->line = unnamed->line;
    }
  lns_id_map_clear (&counts);
}

void
_lns_why_python_module (const char *path, char *ret_module, size_t size)
{
  static const char *const roots[] = { "-packages/", "/lib-dynload/" };
  const char *from = strrchr (path, '/'), *at;
  size_t n = 0;

  from = from != NULL ? from + 1 : path;
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
    if ((at = strstr (path, roots[i])) != NULL)
      from = at + strlen (roots[i]);
  /* Python's own: "/usr/lib/python3.12/json/decoder.py". */
  if ((at = strstr (path, "/lib/python3")) != NULL && strstr (path, roots[0]) == NULL &&
      (at = strchr (at + strlen ("/lib/"), '/')) != NULL)
    from = at + 1;
  for (; *from != '\0' && n + 1 < size; from++)
    ret_module[n++] = *from == '/' ? '.' : *from;
  ret_module[n] = '\0';
  static const char *const ends[] = { ".py", ".__init__" };
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (n > strlen (ends[i]) && strcmp (ret_module + n - strlen (ends[i]), ends[i]) == 0)
      ret_module[n -= strlen (ends[i])] = '\0';
}

/* --- All of it -------------------------------------------------------------------------------- */

bool
_lns_why_find_function (LnsWhyMaker *maker,
                        uint32_t thread,
                        const LnsPart *parts,
                        unsigned n,
                        bool of_python,
                        bool ran,
                        LnsOccupation *occupation,
                        LnsError *error)
{
  const Which which = ran ? RUNNING : of_python ? WAITING : ANY;
  Samples samples;
  bool good =
      take_samples (maker, thread, LNS_LANE_PYTHON_SAMPLE, parts, n, which, &samples, error);

  occupation->function = occupation->caller = occupation->file = occupation->line = 0;
  occupation->import = 0;
  occupation->is_python = occupation->is_fault = occupation->is_minor = false;
  if (good && !samples.is_kept)
    tell_python (maker->report, &samples, occupation);
  if (good && occupation->function == 0)
    tell_innermost (maker->report, &samples, occupation);
  lns_id_map_clear (&samples.counts);
  if (!good || of_python || occupation->function != 0)
    return good;
  good = take_samples (maker, thread, LNS_LANE_CPU_SAMPLE, parts, n, which, &samples, error);
  if (good)
    tell_innermost (maker->report, &samples, occupation);
  lns_id_map_clear (&samples.counts);
  return good;
}
