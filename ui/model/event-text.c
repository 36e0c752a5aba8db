/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/event-text.h"

#include <glib/gi18n.h>
#include <inttypes.h>
#include <string.h>

#include "src/analysis/projection/cuda-keys.h"
#include "src/base/format.h"
#include "src/base/kernel-text.h"
#include "ui/model/display-text.h"
#include "ui/model/lane-look.h"

#define NOTHING "—"

const char *
lns_event_short_name (LnsNames names, const char *name, size_t *size_bytes)
{
  if (names == LNS_NAMES_KERNELS)
    return lns_kernel_text_short (name, size_bytes);
  if (names == LNS_NAMES_CALLS)
    *size_bytes = lns_cuda_call_name_size (name, *size_bytes);
  return name;
}

/* How many bytes of NAME are the namespaces that it begins with: up to the last "::" before what is in brackets or apart. */
static size_t
namespaces_size (const char *name, size_t size_bytes)
{
  size_t end = 0;
  for (size_t i = 0; i + 2 < size_bytes && strchr ("<( [{\"'", name[i]) == NULL; i++)
    if (name[i] == ':' && name[i + 1] == ':')
      end = i + 2;
  return end;
}

const char *
lns_event_bar_name (LnsNames names, const char *name, size_t *size_bytes)
{
  name = lns_event_short_name (names, name, size_bytes);
  size_t drop = 0;
  if (names == LNS_NAMES_OWN)
    drop = namespaces_size (name, *size_bytes);
  else if (names == LNS_NAMES_CALLS && *size_bytes > 2 && memcmp (name, "cu", 2) == 0)
    drop = *size_bytes > 4 && memcmp (name, "cuda", 4) == 0 ? 4 : 2;
  if (drop == 0 || (names == LNS_NAMES_CALLS && !g_ascii_isupper (name[drop])))
    return name;
  *size_bytes -= drop;
  return name + drop;
}

const char *
lns_event_kind_name (LnsLaneKind kind)
{
  const char *name = lns_lane_look (kind)->name;
  return name != NULL ? _ (name) : NULL;
}

const char *
lns_thread_state_name (LnsThreadState state)
{
  static const char *const names[LNS_N_STATES] = {
    [LNS_STATE_NONE] = N_ ("Not there"),    [LNS_STATE_RUNNING] = N_ ("Running"),
    [LNS_STATE_RUNNABLE] = N_ ("Runnable"), [LNS_STATE_BLOCKED] = N_ ("Blocked"),
    [LNS_STATE_OFF] = N_ ("Not running"),   [LNS_STATE_UNINTERRUPTIBLE] = N_ ("Uninterruptible"),
    [LNS_STATE_UNKNOWN] = N_ ("Not known"),
  };
  return _ (names[state]);
}

char *
lns_event_text_string (LnsReport *report, uint32_t id, bool one_line)
{
  size_t size_bytes;
  const char *bytes = lns_report_string (report, id, &size_bytes);
  return lns_display_text (bytes, size_bytes, one_line);
}

const char *
lns_event_text_nameless (LnsReport *report, uint32_t lane)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  const LnsLaneKind kind = lane < n ? lanes[lane].kind : LNS_LANE_NONE;

  switch (kind)
    {
    case LNS_LANE_CPU_SAMPLE:
    case LNS_LANE_PYTHON_SAMPLE:
    case LNS_LANE_CUDA_GRAPH:
      return _ (lns_lane_look (kind)->name);
    default:
      return _ ("(no name)");
    }
}

LnsNames
lns_event_names (LnsLaneKind kind)
{
  return kind == LNS_LANE_CUDA_KERNEL ? LNS_NAMES_KERNELS
         : kind == LNS_LANE_CUDA_API  ? LNS_NAMES_CALLS
                                      : LNS_NAMES_OWN;
}

char *
lns_event_text_name (LnsReport *report, uint32_t lane, uint32_t id)
{
  size_t size_bytes;
  const char *whole = lns_report_string (report, id, &size_bytes);
  const char *name = lns_event_short_name (
      lns_event_names (lns_report_lanes (report, NULL)[lane].kind), whole, &size_bytes);

  return size_bytes > 0 ? lns_display_text (name, size_bytes, TRUE)
                        : g_strdup (lns_event_text_nameless (report, lane));
}

char *
lns_event_text_part (LnsReport *report, const LnsSpanPart *part)
{
  uint32_t n_devices;
  const LnsCudaDevice *devices = lns_report_devices (report, &n_devices);

  switch (part->sort)
    {
    case LNS_SPAN_PART_DEVICE:
      return part->share.device < n_devices
                 ? g_strdup_printf (_ ("GPU %u busy"), devices[part->share.device].number)
                 : g_strdup (_ ("GPU busy"));
    case LNS_SPAN_PART_THREAD:
      {
        g_autofree char *thread =
            lns_event_text_thread_or (report, part->share.thread, _ ("Thread"));
        return g_strdup_printf (_ ("%s on CPU"), thread);
      }
    case LNS_SPAN_PART_NAME:
      break;
    }
  return lns_event_text_name (report, part->lane, part->name);
}

char *
lns_event_text_process (LnsReport *report, uint32_t process)
{
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);
  if (process >= n)
    return g_strdup (NOTHING);
  g_autofree char *name = lns_event_text_string (report, processes[process].name, true);
  const char *slash = strrchr (name, '/'); /* other profilers tell the whole path of the program */
  return lns_display_numbered (slash != NULL ? slash + 1 : name, processes[process].pid);
}

char *
lns_event_text_thread (LnsReport *report, uint32_t thread)
{
  return lns_event_text_thread_or (report, thread, "");
}

char *
lns_event_text_thread_or (LnsReport *report, uint32_t thread, const char *nameless)
{
  uint32_t n, n_processes;
  const LnsThread *threads = lns_report_threads (report, &n);
  const LnsProcess *processes = lns_report_processes (report, &n_processes);
  if (thread >= n)
    return g_strdup (NOTHING);
  const LnsThread *it = &threads[thread];
  const LnsProcess *process = it->process < n_processes ? &processes[it->process] : NULL;
  g_autofree char *name = lns_event_text_string (report, it->name, true);
  g_autofree char *of_process =
      lns_event_text_string (report, process != NULL ? process->name : 0, true);
  /* A thread that is called as its process is has no name of its own, and would read like it. */
  const bool has_name = *name != '\0' && strcmp (name, of_process) != 0;
  const bool is_main = process != NULL && it->tid != 0 && it->tid == process->pid;
  return lns_display_numbered (has_name  ? name
                               : is_main ? _ ("main")
                                         : nameless,
                               it->tid != 0 ? it->tid : it->target_tid);
}

char *
lns_event_text_stream (LnsReport *report, const LnsTrack *track)
{
  uint32_t n, n_contexts;
  const LnsCudaStream *streams = lns_report_streams (report, &n);
  const LnsCudaContext *contexts = lns_report_contexts (report, &n_contexts);
  if (track->stream >= n)
    return g_strdup (NOTHING);
  const LnsCudaStream *it = &streams[track->stream];
  if (it->number == UINT32_MAX || (it->number == 0 && track->kind == LNS_TRACK_CUDA_SYNC))
    return g_strdup (_ ("whole context"));
  bool is_null = it->context < n_contexts && contexts[it->context].null_stream == it->number;
  g_autofree char *name = lns_event_text_string (report, it->name, true);
  return *name != '\0' ? g_strdup_printf ("%u (%s)", it->number, name)
         : is_null     ? g_strdup_printf (_ ("%u (default)"), it->number)
                       : g_strdup_printf ("%u", it->number);
}

char *
lns_event_text_domain (LnsReport *report, uint32_t domain)
{
  uint32_t n;
  const LnsDomain *domains = lns_report_domains (report, &n);
  if (domain >= n)
    return g_strdup (NOTHING);
  const LnsDomain *it = &domains[domain];
  return it->name != 0     ? lns_event_text_string (report, it->name, true)
         : it->number == 0 ? g_strdup (_ ("default"))
                           : g_strdup_printf (_ ("domain %" PRIu64), it->number);
}

const char *
lns_event_category_name (LnsReport *report, const char *name)
{
  static const struct
  {
    const char *category, *label;
  } labels[] = { { "cpu_op", N_ ("Operators") },
                 { "python_function", N_ ("Python functions") },
                 { "user_annotation", N_ ("Annotations") },
                 { "gpu_user_annotation", N_ ("Annotations on the GPU") } };

  for (gsize i = 0; lns_report_meta (report, "imported_from") != NULL && i < G_N_ELEMENTS (labels);
       i++)
    if (strcmp (name, labels[i].category) == 0)
      return _ (labels[i].label);
  return NULL;
}

char *
lns_event_text_category (LnsReport *report, uint32_t domain, uint32_t category)
{
  uint32_t n;
  const LnsCategory *categories = lns_report_categories (report, &n);
  if (category == 0)
    return g_strdup ("");
  /* A later name replaces an earlier one. */
  for (uint32_t i = n; i > 0; i--)
    if (categories[i - 1].domain == domain && categories[i - 1].category == category)
      return lns_event_text_string (report, categories[i - 1].name, true);
  return g_strdup_printf ("%u", category);
}

char *
lns_event_text_payload (LnsReport *report, LnsPayloadType type, uint64_t bits)
{
  char number[MAX (G_ASCII_DTOSTR_BUF_SIZE, LNS_FORMAT_SIZE)];
  double value;
  float single;
  size_t size_bytes;

  switch (type)
    {
    case LNS_PAYLOAD_UINT64:
    case LNS_PAYLOAD_UINT32:
      return g_strdup_printf ("%" PRIu64, bits);
    case LNS_PAYLOAD_INT64:
      return g_strdup_printf ("%" PRId64, (int64_t)bits);
    case LNS_PAYLOAD_INT32:
      return g_strdup_printf ("%" PRId32, (int32_t)bits);
    case LNS_PAYLOAD_DOUBLE:
      memcpy (&value, &bits, sizeof value);
      return g_strdup (lns_format_with_point (g_ascii_dtostr (number, sizeof number, value)));
    case LNS_PAYLOAD_FLOAT:
      memcpy (&single, &bits, sizeof single);
      return g_strdup (lns_format_real (single, 9, number));
    case LNS_PAYLOAD_TYPED:
      lns_report_string (report, (uint32_t)bits, &size_bytes);
      return g_strdup_printf (ngettext ("%zu byte", "%zu bytes", size_bytes), size_bytes);
    case LNS_PAYLOAD_JSON:
      return lns_event_text_string (report, (uint32_t)bits, false);
    case LNS_PAYLOAD_NONE:
      break;
    }
  return g_strdup ("");
}

char *
lns_event_text_time (int64_t time_ns)
{
  char seconds[LNS_FORMAT_SIZE], rest[16];
  uint64_t magnitude = time_ns < 0 ? -(uint64_t)time_ns : (uint64_t)time_ns;
  g_snprintf (rest, sizeof rest, ".%09u", (unsigned)(magnitude % 1000000000));
  return g_strdup_printf ("%s%s%s s", time_ns < 0 ? "−" : "",
                          lns_format_unsigned (magnitude / 1000000000, seconds),
                          lns_format_with_point (rest));
}

char *
lns_event_text_duration (int64_t duration_ns, uint32_t flags)
{
  char text[LNS_FORMAT_SIZE];
  if (flags & LNS_EVENT_END_UNKNOWN)
    return g_strdup (_ ("not known"));
  lns_format_duration_exact (duration_ns, text);
  return flags & LNS_EVENT_OPEN_END ? g_strdup_printf (_ ("%s so far"), text) : g_strdup (text);
}

const LnsTrack *
lns_event_track (LnsReport *report, uint32_t lane)
{
  uint32_t n_lanes, n_tracks;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  return lane < n_lanes && lanes[lane].track < n_tracks ? &tracks[lanes[lane].track] : NULL;
}

uint64_t
lns_event_extra (LnsReport *report, uint32_t lane, const LnsEvent *event, LnsColumnId id)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  int index = lane < n ? lns_lane_kind_extra (lanes[lane].kind, id) : -1;
  return index >= 0 ? event->extra[index] : 0;
}

uint32_t
lns_event_thread (LnsReport *report, uint32_t lane, const LnsEvent *event)
{
  const LnsLane *lanes = lns_report_lanes (report, NULL);
  const LnsTrack *track = lns_event_track (report, lane);
  if (track == NULL)
    return LNS_ID_NONE;
  int index = lns_lane_kind_extra (lanes[lane].kind, LNS_COLUMN_THREAD);
  return index >= 0 ? (uint32_t)event->extra[index] : track->thread;
}
