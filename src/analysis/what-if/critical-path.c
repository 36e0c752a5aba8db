/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/what-if/critical-path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/sampled-function.h"
#include "src/analysis/graph/build.h"
#include "src/analysis/graph/replay.h"
#include "src/analysis/ordering.h"
#include "src/analysis/projection/cuda-keys.h"
#include "src/analysis/why/maker.h"
#include "src/base/call-text.h"
#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

/* Of a part the slack of so many pieces is looked at. */
#define N_SLACKS 1000

/* --- Finding ---------------------------------------------------------------------------------- */

/* The point of a thread or stream of GRAPH that is the last one by TO_NS, and later than all others: the end of the path. */
static uint32_t
end_by (const LnsGraph *graph, const int64_t *times, int64_t to_ns)
{
  uint32_t end = lns_graph_end (graph, times);

  if (times[end] <= to_ns)
    return end;
  end = 0;
  for (uint32_t i = 1; i < graph->n; i++)
    if (times[i] <= to_ns && times[i] >= times[end] &&
        graph->agents.items[lns_graph_label_of (graph, i)->agent].ends_run)
      end = i;
  return end;
}

/* Fills in the slack of the parts: by label, of the last N_SLACKS pieces that are not on the path. */
static void
find_slacks (const LnsCriticalRun *run, LnsCriticalPath *critical)
{
  const LnsGraph *graph = run->graph;
  const int64_t *latest = run->latest, *times = run->times;
  uint32_t *part_of = lns_calloc (graph->labels.n + 1, sizeof *part_of);
  int64_t *slacks = lns_calloc (critical->parts.n * N_SLACKS + 1, sizeof *slacks);
  size_t *n = lns_calloc (critical->parts.n + 1, sizeof *n);

  for (size_t i = 0; i < critical->parts.n; i++)
    part_of[critical->parts.items[i].label] = (uint32_t)i + 1;
  for (uint32_t i = 1; i < graph->n; i++)
    {
      const uint32_t part = part_of[graph->label[i]];
      if (part == 0 || latest[i] == INT64_MAX || latest[i] <= times[i] ||
          times[i] < critical->path.start_ns || times[i] > critical->path.end_ns)
        continue;
      slacks[(part - 1) * N_SLACKS + n[part - 1]++ % N_SLACKS] = latest[i] - times[i];
    }
  for (size_t i = 0; i < critical->parts.n; i++)
    {
      const size_t n_kept = n[i] < N_SLACKS ? n[i] : N_SLACKS;
      critical->parts.items[i].slack_ns = -1;
      if (n_kept == 0)
        continue;
      lns_select (&slacks[i * N_SLACKS], n_kept, n_kept / 2);
      critical->parts.items[i].slack_ns = slacks[i * N_SLACKS + n_kept / 2];
    }
  free (part_of);
  free (slacks);
  free (n);
}

LnsCriticalRun *
lns_critical_run_new (LnsReport *report, const atomic_bool *cancel, LnsError *error)
{
  LnsGraph *graph = lns_graph_build (report, NULL, 0, cancel, error);

  if (graph == NULL)
    return NULL;
  LnsCriticalRun *run = lns_calloc (1, sizeof *run);
  run->graph = graph;
  run->times = lns_calloc (graph->n, sizeof *run->times);
  run->latest = lns_calloc (graph->n, sizeof *run->latest);
  lns_graph_replay (graph, NULL, run->times);
  lns_graph_latest (graph, run->times, run->latest);
  return run;
}

size_t
lns_critical_run_bytes (const LnsCriticalRun *run)
{
  return lns_graph_points_bytes (run->graph) +
         run->graph->n * (sizeof *run->times + sizeof *run->latest);
}

void
lns_critical_run_forget (LnsCriticalRun *run)
{
  lns_graph_forget_points (run->graph);
  free (run->times);
  free (run->latest);
  run->times = run->latest = NULL;
}

void
lns_critical_run_free (LnsCriticalRun *run)
{
  if (run == NULL)
    return;
  lns_graph_free (run->graph);
  free (run->times);
  free (run->latest);
  free (run);
}

LnsCriticalPath *
lns_critical_path_find (
    const LnsCriticalRun *run, int64_t from_ns, int64_t to_ns, size_t n_longest, bool keeps_links)
{
  const LnsGraph *graph = run->graph;
  LnsCriticalPath *critical = lns_calloc (1, sizeof *critical);

  critical->graph = graph;
  const uint32_t end = end_by (graph, run->times, to_ns);
  if (from_ns < run->times[0])
    from_ns = run->times[0];
  const int64_t last_ns = run->times[end_by (graph, run->times, INT64_MAX)];
  if (last_ns > run->times[end] && to_ns > run->times[end])
    critical->rest_ns = lns_difference (to_ns < last_ns ? to_ns : last_ns, run->times[end]);
  if (to_ns > run->times[end])
    to_ns = run->times[end];
  lns_path_find (graph, run->times, end, from_ns, to_ns, n_longest, keeps_links, &critical->path);
  for (size_t i = 0; i < critical->path.parts.n; i++)
    {
      const LnsPathPart *part = &critical->path.parts.items[i];
      const LnsGraphLabel *label = &graph->labels.items[part->label];
      *lns_array_add (&critical->parts) = (LnsCriticalPart){
        .label = part->label, .n = part->n, .n_all = label->n, .ns = part->ns, .all_ns = label->ns
      };
    }
  find_slacks (run, critical);
  return critical;
}

void
lns_critical_path_free (LnsCriticalPath *critical)
{
  if (critical == NULL)
    return;
  lns_path_clear (&critical->path);
  lns_array_clear (&critical->parts);
  free (critical);
}

/* --- Names ------------------------------------------------------------------------------------ */

/* What pieces of KIND do: words of JSON. */
static const char *const kinds[LNS_N_PIECES] = {
  [LNS_PIECE_JOIN] = "start",    [LNS_PIECE_RUN] = "run",       [LNS_PIECE_CALL] = "call",
  [LNS_PIECE_SYNC] = "sync",     [LNS_PIECE_WAIT] = "wait",     [LNS_PIECE_OUTSIDE] = "outside",
  [LNS_PIECE_NO_CPU] = "no-cpu", [LNS_PIECE_MPI] = "mpi",       [LNS_PIECE_UNKNOWN] = "unknown",
  [LNS_PIECE_QUEUED] = "queued", [LNS_PIECE_KERNEL] = "kernel", [LNS_PIECE_COPY] = "copy",
  [LNS_PIECE_SET] = "set",       [LNS_PIECE_GRAPH] = "graph",   [LNS_PIECE_HOST] = "host",
};

const char *
lns_critical_path_name (LnsReport *report, const LnsGraphLabel *label)
{
  if (label->kind == LNS_PIECE_COPY)
    return lns_call_text_copy (label->more & 0xff);
  return lns_report_string (report, label->name, NULL);
}

char *
lns_critical_path_who (LnsReport *report, const LnsGraph *graph, const LnsGraphLabel *label)
{
  const LnsGraphAgent *agent = &graph->agents.items[label->agent];
  uint32_t n_threads, n_devices, n_streams;
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  const LnsCudaDevice *devices = lns_report_devices (report, &n_devices);
  const LnsCudaStream *streams = lns_report_streams (report, &n_streams);

  if (agent->thread < n_threads)
    {
      const char *name = lns_report_string (report, threads[agent->thread].name, NULL);
      return *name != '\0' ? lns_asprintf (_ ("thread %d “%s”"), threads[agent->thread].tid, name)
                           : lns_asprintf (_ ("thread %d"), threads[agent->thread].tid);
    }
  if (agent->device < n_devices && agent->stream < n_streams)
    return lns_asprintf (_ ("GPU %" PRIu32 ", stream %" PRIu32), devices[agent->device].number,
                         streams[agent->stream].number);
  return agent->stream < n_streams
             ? lns_asprintf (_ ("stream %" PRIu32), streams[agent->stream].number)
             : lns_strdup ("GPU");
}

char *
lns_critical_path_what (const LnsGraph *graph, const LnsGraphLabel *label, const char *name)
{
  switch (label->kind)
    {
    case LNS_PIECE_JOIN:
      return lns_strdup (_ ("starts"));
    case LNS_PIECE_RUN:
      return *name != '\0'       ? lns_strdup (name)
             : graph->has_states ? lns_strdup (_ ("runs"))
                                 : lns_strdup (_ ("in no recorded call"));
    case LNS_PIECE_CALL:
    case LNS_PIECE_SYNC:
      {
        char *call =
                 lns_asprintf ("%.*s", (int)lns_cuda_call_name_size (name, strlen (name)), name),
             *what = label->kind == LNS_PIECE_SYNC ? lns_asprintf (_ ("returns from %s"), call)
                     : *call != '\0'               ? lns_strdup (call)
                                                   : lns_strdup (kinds[label->kind]);
        free (call);
        return what;
      }
    case LNS_PIECE_WAIT:
      return *name != '\0' ? lns_asprintf (_ ("waits in %s"), name) : lns_strdup (_ ("waits"));
    case LNS_PIECE_OUTSIDE:
      return *name != '\0'       ? lns_asprintf (_ ("waits in %s"), name)
             : graph->has_wakers ? lns_strdup (_ ("waits for a time or a device"))
                                 : lns_strdup (_ ("waits"));
    case LNS_PIECE_NO_CPU:
      return lns_strdup (_ ("has no CPU"));
    case LNS_PIECE_UNKNOWN:
      return lns_strdup (_ ("not recorded"));
    case LNS_PIECE_QUEUED:
      return lns_strdup (_ ("from launch to start"));
    case LNS_PIECE_GRAPH:
      return *name != '\0' ? lns_strdup (name) : lns_strdup (_ ("CUDA graph"));
    case LNS_PIECE_HOST:
      return *name != '\0' ? lns_strdup (name) : lns_strdup (_ ("host function"));
    default:
      return *name != '\0' ? lns_strdup (name) : lns_strdup (kinds[label->kind]);
    }
}

/* --- Writing ---------------------------------------------------------------------------------- */

static double
share_of (int64_t ns, const LnsPath *path)
{
  const int64_t all_ns = path->end_ns - path->start_ns;
  return all_ns > 0 ? (double)ns / (double)all_ns : 0;
}

void
lns_critical_path_shares (const LnsCriticalPath *critical,
                          int64_t *ret_gpu_ns,
                          int64_t *ret_thread_ns)
{
  *ret_gpu_ns = *ret_thread_ns = 0;
  for (size_t i = 0; i < critical->parts.n; i++)
    {
      const LnsCriticalPart *part = &critical->parts.items[i];
      const LnsGraphLabel *label = &critical->graph->labels.items[part->label];
      const bool is_thread = critical->graph->agents.items[label->agent].thread != LNS_ID_NONE;
      *ret_gpu_ns += label->kind >= LNS_PIECE_KERNEL ? part->ns : 0;
      *ret_thread_ns += is_thread ? part->ns : 0;
    }
}

char *
lns_critical_path_sentence (LnsReport *report, const LnsCriticalPath *critical)
{
  const LnsPath *path = &critical->path;
  int64_t gpu_ns, thread_ns;
  char all[LNS_WHY_NS_SIZE];

  if (critical->parts.n == 0 && critical->graph->labels.n > 0)
    return lns_strdup (
        _ ("In this time, there is no critical path: nothing that is recorded ends in it."));
  if (critical->parts.n == 0)
    return lns_strdup (_ ("The report has no critical path: it does not tell what threads and GPUs "
                          "did."));
  lns_critical_path_shares (critical, &gpu_ns, &thread_ns);
  const LnsGraphLabel *first = &critical->graph->labels.items[critical->parts.items[0].label];
  char *name = first->kind == LNS_PIECE_KERNEL
                   ? _lns_why_name (report, first->name)
                   : lns_strdup (lns_critical_path_name (report, first)),
       *what = lns_critical_path_what (critical->graph, first, name),
       *who = lns_critical_path_who (report, critical->graph, first);
  const double largest = 100 * share_of (critical->parts.items[0].ns, path);
  _lns_why_ns (path->end_ns - path->start_ns, all);
  char *sentence =
      critical->graph->n_operations > 0
          ? lns_asprintf (_ ("The critical path takes %s, %.0f %% of it on GPUs; its largest part, "
                             "%.0f %%, is %s: %s."),
                          all, 100 * share_of (gpu_ns, path), largest, who, what)
          : lns_asprintf (_ ("The critical path takes %s; its largest part, %.0f %%, is %s: %s."),
                          all, largest, who, what);
  free (name);
  free (what);
  free (who);
  return sentence;
}

/* Writes TEXT in WIDTH columns to the right. */
static void
put_right (const char *text, int width, FILE *stream)
{
  int n = 0;

  for (const char *c = text; *c != '\0'; c++)
    n += ((unsigned char)*c & 0xc0) != 0x80;
  fprintf (stream, "%*s%s", width > n ? width - n : 0, "", text);
}

/* Names of kernels are cut to so many bytes. */
#define MOST_NAME 60

static void
put_part (LnsReport *report, const LnsCriticalPath *critical, size_t i, FILE *stream)
{
  const LnsCriticalPart *part = &critical->parts.items[i];
  const LnsGraphLabel *label = &critical->graph->labels.items[part->label];
  char *who = lns_critical_path_who (report, critical->graph, label),
       *what =
           lns_critical_path_what (critical->graph, label, lns_critical_path_name (report, label));
  char ns[LNS_WHY_NS_SIZE], share[32];

  snprintf (share, sizeof share, "%.1f %%", 100 * share_of (part->ns, &critical->path));
  put_right (_lns_why_ns (part->ns, ns), 10, stream);
  put_right (share, 9, stream);
  fprintf (stream, "%8" PRIu64 "×  %s: %.*s%s", part->n, who, MOST_NAME, what,
           strlen (what) > MOST_NAME ? "…" : "");
  if (part->slack_ns > 0)
    fprintf (stream, _ ("  (the others could each take %s longer)"),
             _lns_why_ns (part->slack_ns, ns));
  putc ('\n', stream);
  free (who);
  free (what);
}

static void
put_link (LnsReport *report, const LnsCriticalPath *critical, size_t i, FILE *stream)
{
  const LnsPathLink *link = &critical->path.longest.items[i];
  const LnsGraphLabel *label = &critical->graph->labels.items[link->label];
  char *who = lns_critical_path_who (report, critical->graph, label),
       *what =
           lns_critical_path_what (critical->graph, label, lns_critical_path_name (report, label));
  char ns[LNS_WHY_NS_SIZE], at[LNS_WHY_NS_SIZE];

  put_right (_lns_why_ns (link->end_ns - link->start_ns, ns), 10, stream);
  fprintf (stream, _ (" at %s  %s: %.*s"), _lns_why_ns (link->start_ns, at), who, MOST_NAME, what);
  if (link->is_unknown)
    fputs (_ ("  (reason not recorded)"), stream);
  else if (link->is_inferred)
    fputs (_ ("  (inferred from timing)"), stream);
  putc ('\n', stream);
  free (who);
  free (what);
}

void
lns_critical_path_write_text (LnsReport *report,
                              const LnsCriticalPath *critical,
                              size_t top,
                              FILE *stream)
{
  const LnsPath *path = &critical->path;

  for (size_t i = 0; i < critical->parts.n && (top == 0 || i < top); i++)
    put_part (report, critical, i, stream);
  if (path->longest.n > 0)
    fputs (_ ("Longest links:\n"), stream);
  for (size_t i = 0; i < path->longest.n; i++)
    put_link (report, critical, i, stream);
  if (share_of (critical->rest_ns, path) >= 0.01)
    {
      char rest[LNS_WHY_NS_SIZE];
      fprintf (stream,
               _ ("It ends %s before this time does: nothing that is recorded ends in between.\n"),
               _lns_why_ns (critical->rest_ns, rest));
    }
  if (share_of (path->inferred_ns, path) >= 0.001)
    fprintf (stream, _ ("Timing alone tells what %.1f %% of the critical path waited for.\n"),
             100 * share_of (path->inferred_ns, path));
  if (share_of (path->unknown_ns, path) >= 0.001)
    fprintf (stream, _ ("%.1f %% of the critical path is not known.\n"),
             100 * share_of (path->unknown_ns, path));
}

static void
put_string (const char *text, FILE *stream)
{
  lns_json_write_string (stream, text, strlen (text));
}

/* Writes who and what LABEL is as members of an object. */
static void
put_label (LnsReport *report, const LnsGraph *graph, const LnsGraphLabel *label, FILE *stream)
{
  uint32_t n_threads, n_devices, n_streams;
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  const LnsCudaDevice *devices = lns_report_devices (report, &n_devices);
  const LnsCudaStream *streams = lns_report_streams (report, &n_streams);
  const LnsGraphAgent *agent = &graph->agents.items[label->agent];

  fprintf (stream, "{\"kind\":\"%s\",\"name\":", kinds[label->kind]);
  put_string (lns_critical_path_name (report, label), stream);
  if (agent->thread < n_threads)
    fprintf (stream, ",\"tid\":%d", threads[agent->thread].tid);
  if (agent->device < n_devices)
    fprintf (stream, ",\"device\":%" PRIu32, devices[agent->device].number);
  if (agent->stream < n_streams)
    fprintf (stream, ",\"stream\":%" PRIu32, streams[agent->stream].number);
}

void
lns_critical_path_write_json (LnsReport *report, const LnsCriticalPath *critical, FILE *stream)
{
  const LnsPath *path = &critical->path;

  fprintf (stream, "{\"start\":%" PRId64 ",\"end\":%" PRId64 ",\"sentence\":", path->start_ns,
           path->end_ns);
  const bool was_english = lns_text_in_english (true);
  char *sentence = lns_critical_path_sentence (report, critical);
  lns_text_in_english (was_english);
  put_string (sentence, stream);
  free (sentence);
  fprintf (stream, ",\"links\":%" PRIu64 ",\"inferred_ns\":%" PRId64 ",\"unknown_ns\":%" PRId64,
           path->n, path->inferred_ns, path->unknown_ns);
  fputs (",\n \"parts\":[", stream);
  for (size_t i = 0; i < critical->parts.n; i++)
    {
      const LnsCriticalPart *part = &critical->parts.items[i];
      fputs (i > 0 ? ",\n  " : "\n  ", stream);
      put_label (report, critical->graph, &critical->graph->labels.items[part->label], stream);
      fprintf (stream,
               ",\"count\":%" PRIu64 ",\"ns\":%" PRId64 ",\"all\":%" PRIu64 ",\"all_ns\":%" PRId64
               ",\"slack_ns\":",
               part->n, part->ns, part->n_all, part->all_ns);
      if (part->slack_ns >= 0)
        fprintf (stream, "%" PRId64 "}", part->slack_ns);
      else
        fputs ("null}", stream);
    }
  fputs ("],\n \"longest\":[", stream);
  for (size_t i = 0; i < path->longest.n; i++)
    {
      const LnsPathLink *link = &path->longest.items[i];
      fputs (i > 0 ? ",\n  " : "\n  ", stream);
      put_label (report, critical->graph, &critical->graph->labels.items[link->label], stream);
      fprintf (stream,
               ",\"start\":%" PRId64 ",\"end\":%" PRId64 ",\"is_inferred\":%s,\"is_unknown\":%s}",
               link->start_ns, link->end_ns, link->is_inferred ? "true" : "false",
               link->is_unknown ? "true" : "false");
    }
  fputs ("]}\n", stream);
}
