/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/details-fields.h"

#include <glib/gi18n.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/thread-states.h"
#include "src/base/format.h"
#include "src/base/saturate.h"
#include "src/tables/call-chain.h"
#include "src/tables/enums.h"
#include "src/tables/kept-fields.h"
#include "ui/model/cuda-text.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"
#include "ui/model/linked-events.h"

/* The event whose fields are being written; all is borrowed. */
typedef struct
{
  GArray *fields; /* of LnsDetailsField */
  LnsReport *report;
  const LnsPayloadDecoder *decoder; /* or NULL */
  uint32_t lane;
  LnsLaneKind kind;
  const LnsTrack *track;
  const LnsEvent *event;
  int64_t time_ns; /* of the state of a thread */
  bool is_brief;   /* for a tooltip */
} Subject;

/* Adds a field, unless TEXT, which it takes, is NULL or empty. */
static void
add (const Subject *self, const char *title, char *text)
{
  LnsDetailsField field = { .title = title, .text = text };
  if (text == NULL || *text == '\0')
    g_free (text);
  else
    g_array_append_val (self->fields, field);
}

static uint64_t
value_of (const Subject *self, LnsColumnId column)
{
  return lns_event_extra (self->report, self->lane, self->event, column);
}

/* --- Texts of values: NULL or "" where there is nothing to say ------------------------------- */

static char *
number_text (const Subject *self, uint64_t value)
{
  char text[LNS_FORMAT_SIZE];
  return value != 0 ? g_strdup (lns_format_unsigned (value, text)) : NULL;
}

static char *
signed_text (const Subject *self, uint64_t value)
{
  return g_strdup_printf ("%" PRId64, (int64_t)value);
}

/* What a system call returned: a number, or an error. */
static char *
errno_text (const Subject *self, uint64_t value)
{
  const int64_t number = (int64_t)value;
  const char *name = number < 0 && number >= -4095 ? strerrorname_np ((int)-number) : NULL;
  return name != NULL ? g_strdup_printf ("%s (%" PRId64 ")", name, number)
                      : signed_text (self, value);
}

static char *
hex_text (const Subject *self, uint64_t value)
{
  return value != 0 ? g_strdup_printf ("0x%" PRIx64, value) : NULL;
}

/* "245,760 B (240.0 KiB)". */
static char *
bytes_text (const Subject *self, uint64_t size_bytes)
{
  char exact[LNS_FORMAT_SIZE], rounded[LNS_FORMAT_SIZE];
  lns_format_unsigned (size_bytes, exact);
  if (size_bytes < 1024)
    return g_strdup_printf ("%s B", exact);
  return g_strdup_printf ("%s B (%s)", exact, lns_format_bytes (size_bytes, rounded));
}

/* --- Where ----------------------------------------------------------------------------------- */

static char *
stream_text (const Subject *self, uint64_t value)
{
  uint32_t n;
  lns_report_streams (self->report, &n);
  return self->track->stream < n ? lns_event_text_stream (self->report, self->track) : NULL;
}

static char *
context_text (const Subject *self, uint64_t value)
{
  uint32_t n_streams, n_contexts;
  const LnsCudaStream *streams = lns_report_streams (self->report, &n_streams);
  const LnsCudaContext *contexts = lns_report_contexts (self->report, &n_contexts);
  const uint32_t stream = self->track->stream;
  return stream < n_streams && streams[stream].context < n_contexts
             ? g_strdup_printf ("%u", contexts[streams[stream].context].number)
             : NULL;
}

static const LnsCudaDevice *
device_of (const Subject *self)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (self->report, &n);
  return self->track->device < n ? &devices[self->track->device] : NULL;
}

static char *
device_text (const Subject *self, uint64_t value)
{
  const LnsCudaDevice *device = device_of (self);
  if (device == NULL)
    return NULL;
  g_autofree char *name = lns_event_text_string (self->report, device->name, true);
  g_autofree char *bus = lns_event_text_string (self->report, device->bus, true);
  return g_strdup_printf ("%u%s%s%s%s%s", device->number, *name != '\0' ? ": " : "", name,
                          *bus != '\0' ? " (" : "", bus, *bus != '\0' ? ")" : "");
}

/* --- CUDA calls ------------------------------------------------------------------------------ */

static char *
purpose_text (const Subject *self, uint64_t callback)
{
  size_t size_bytes;
  const char *name = lns_report_string (self->report, self->event->name, &size_bytes);
  return g_strdup (lns_cuda_call_kind_name (lns_cuda_call_kind (name, size_bytes)));
}

static char *
interface_text (const Subject *self, uint64_t callback)
{
  return g_strdup (callback >> 32 != 0 ? _ ("runtime") : _ ("driver"));
}

static char *
result_text (const Subject *self, uint64_t value)
{
  bool is_runtime = value_of (self, LNS_COLUMN_CALLBACK) >> 32 != 0;
  char *result = lns_cuda_result_text (self->track->kind, is_runtime, (int32_t)value);
  return result != NULL ? result : g_strdup (_ ("success"));
}

/* --- Kernels --------------------------------------------------------------------------------- */

static uint64_t
product (const uint32_t n[3])
{
  return (uint64_t)n[0] * n[1] * n[2];
}

/* "80 × 2 × 1 (160 UNITS)" */
static char *
shape_text (const uint32_t n[3], const char *units)
{
  char count[LNS_FORMAT_SIZE];
  lns_format_unsigned (product (n), count);
  return g_strdup_printf ("%u × %u × %u (%s %s)", n[0], n[1], n[2], count, units);
}

static const char *
blocks_of (uint64_t n)
{
  return ngettext ("block", "blocks", n);
}

/* What the launch asks of the GPU beside what one multiprocessor has. */
static void
add_occupancy (const Subject *self, const LnsCudaLaunch *launch)
{
  const LnsCudaDevice *device = device_of (self);
  if (device == NULL || device->threads_per_warp == 0)
    return;
  uint64_t warp = device->threads_per_warp, n_warps = (product (launch->block) + warp - 1) / warp;
  char text[LNS_FORMAT_SIZE], most[LNS_FORMAT_SIZE];
  lns_format_unsigned (n_warps, text);
  add (self, _ ("Warps per block"),
       g_strdup_printf (_ ("%s of the %s that a multiprocessor can hold"), text,
                        lns_format_unsigned (device->max_warps_per_sm, most)));
  if (device->n_multiprocessors > 0)
    {
      const double n_each = (double)product (launch->grid) / device->n_multiprocessors;
      add (self, _ ("Blocks per multiprocessor"),
           g_strdup (lns_format_fixed (n_each, n_each < 0.1 ? 3 : 1, text)));
    }
}

static void
add_launch (const Subject *self, const LnsCudaLaunch *launch)
{
  char stat[LNS_FORMAT_SIZE], dynamic[LNS_FORMAT_SIZE];
  if (launch->short_name != self->event->name)
    add (self, _ ("Short name"), lns_event_text_string (self->report, launch->short_name, true));
  /* Traces of other profilers may not tell them: no kernel has a grid of 0, or no registers. */
  if (product (launch->grid) > 0)
    {
      add (self, _ ("Grid"), shape_text (launch->grid, blocks_of (product (launch->grid))));
      add (self, _ ("Block"),
           shape_text (launch->block, ngettext ("thread", "threads", product (launch->block))));
    }
  if (product (launch->cluster) > 0)
    add (self, _ ("Cluster"), shape_text (launch->cluster, blocks_of (product (launch->cluster))));
  add_occupancy (self, launch);
  if (launch->registers > 0)
    add (self, _ ("Registers"), g_strdup_printf (_ ("%u per thread"), launch->registers));
  if (launch->registers > 0 || launch->static_shared_bytes + launch->dynamic_shared_bytes > 0)
    add (self, _ ("Shared memory"),
         g_strdup_printf (_ ("%s static and %s dynamic per block"),
                          lns_format_bytes (launch->static_shared_bytes, stat),
                          lns_format_bytes (launch->dynamic_shared_bytes, dynamic)));
  if (launch->local_bytes > 0)
    add (self, _ ("Local memory"),
         g_strdup_printf (_ ("%s per thread"), lns_format_bytes (launch->local_bytes, stat)));
}

/* --- Memory ---------------------------------------------------------------------------------- */

static char *
direction_text (const Subject *self, uint64_t kind)
{
  return g_strdup (lns_cuda_copy_kind_name ((uint32_t)kind));
}

/* Bytes a nanosecond are GB a second. */
static char *
throughput_text (const Subject *self, uint64_t size_bytes)
{
  char number[LNS_FORMAT_SIZE];
  if (size_bytes == 0 || self->event->duration_ns <= 0)
    return NULL;
  lns_format_fixed ((double)size_bytes / (double)self->event->duration_ns, 2, number);
  return g_strdup_printf ("%s GB/s", number);
}

static char *
memory_text (const Subject *self, uint64_t kinds)
{
  const char *to = lns_cuda_memory_kind_name (kinds >> 8 & 255);
  const char *from = lns_cuda_memory_kind_name (kinds & 255);
  return self->kind == LNS_LANE_CUDA_MEMCPY ? g_strdup_printf (_ ("from %s to %s"), from, to)
                                            : g_strdup (from);
}

static char *
peers_text (const Subject *self, uint64_t peers)
{
  return peers != 0 ? g_strdup_printf (_ ("GPU %u and GPU %u"), (unsigned)(peers & 255),
                                       (unsigned)(peers >> 32 & 255))
                    : NULL;
}

/* CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING has the GPUs as bits. */
#define THRASHING 5

/* CUPTI's id of the host is a number that no GPU has. */
static void
add_processor (GString *text, uint32_t id)
{
  if (text->len > 0)
    g_string_append (text, ", ");
  if (id < 1024)
    g_string_append_printf (text, _ ("GPU %u"), id);
  else
    g_string_append (text, _ ("CPU"));
}

static char *
processors_text (const Subject *self, uint64_t peers)
{
  GString *text = g_string_new (NULL);
  const uint64_t kind = value_of (self, LNS_COLUMN_OPERATION);
  for (uint32_t i = 0; i < 32 && kind == THRASHING; i++)
    if (peers >> i & 1)
      add_processor (text, i);
  if (kind != THRASHING)
    add_processor (text, (uint32_t)peers);
  if (kind > THRASHING + 1)
    add_processor (text, (uint32_t)(peers >> 32));
  return g_string_free (text, FALSE);
}

/* --- Context switches ------------------------------------------------------------------------ */

static char *
switch_text (const Subject *self, uint64_t tag)
{
  const char *label = lns_enum_label ("ENUM_GPU_CTX_SWITCH", (int64_t)tag);
  return label != NULL ? g_strdup (label) : signed_text (self, tag);
}

static char *
holder_text (const Subject *self, uint64_t place)
{
  return (uint32_t)place != 0 ? g_strdup_printf ("%u", (uint32_t)place) : NULL;
}

static char *
switched_text (const Subject *self, uint64_t place)
{
  return g_strdup_printf ("%u", (uint32_t)(place >> 32));
}

/* One more than it takes. */
static char *
latency_text (const Subject *self, uint64_t value)
{
  char text[LNS_FORMAT_SIZE];
  return value != 0 ? g_strdup (lns_format_duration_exact ((int64_t)(value - 1), text)) : NULL;
}

static char *
copies_text (const Subject *self, uint64_t n)
{
  return n > 1 ? number_text (self, n) : NULL;
}

static char *
operation_text (const Subject *self, uint64_t operation)
{
  bool is_pool = self->kind == LNS_LANE_CUDA_POOL;
  return g_strdup (lns_cuda_operation_name ((uint32_t)operation & 255, is_pool));
}

static char *
pool_text (const Subject *self, uint64_t size_bytes)
{
  return size_bytes != 0 ? bytes_text (self, size_bytes) : NULL;
}

/* CUPTI gives waits that are for no event CUPTI_SYNCHRONIZATION_INVALID_VALUE. Any number may be that of an event that was
 * recorded. */
static char *
cuda_event_text (const Subject *self, uint64_t id)
{
  char text[LNS_FORMAT_SIZE];
  const bool is_none = self->kind == LNS_LANE_CUDA_SYNC && id == UINT32_MAX;
  return is_none ? NULL : g_strdup (lns_format_unsigned (id, text));
}

/* What is waited for; NULL where that is not known. The event's name says how. */
static char *
sync_text (const Subject *self, uint64_t type)
{
  /* By CUpti_ActivitySynchronizationType. */
  static const char *const waited[] = { NULL, N_ ("Event"), N_ ("Event"), N_ ("Stream"),
                                        N_ ("Context") };
  return type < G_N_ELEMENTS (waited) && waited[type] != NULL ? g_strdup (_ (waited[type])) : NULL;
}

/* --- Ranges on the GPU ----------------------------------------------------------------------- */

/* The range itself was read when the projection was: it is in memory. */
static bool
find_range (const Subject *self, LnsEvent *ret_range)
{
  LnsEventId id = lns_projected_range (self->report, self->lane, self->event);
  return lns_report_event (self->report, id.lane, id.ordinal, ret_range, NULL);
}

static char *
range_start_text (const Subject *self, uint64_t value)
{
  LnsEvent range;
  return find_range (self, &range) ? lns_event_text_time (range.start_ns) : NULL;
}

static char *
range_duration_text (const Subject *self, uint64_t value)
{
  LnsEvent range;
  char text[LNS_FORMAT_SIZE];
  return find_range (self, &range) ? g_strdup (lns_format_duration_exact (range.duration_ns, text))
                                   : NULL;
}

/* --- Threads and MPI ------------------------------------------------------------------------- */

/* Of LnsPythonLock. */
static char *
gil_text (const Subject *self, uint64_t value)
{
  (void)self;
  switch (value)
    {
    case LNS_PYTHON_LOCK_HELD:
      return g_strdup (_ ("Held"));
    case LNS_PYTHON_LOCK_WAITED_FOR:
      return g_strdup (_ ("Waited for"));
    default:
      return NULL;
    }
}

/* What the thread does: read before, so that it is in memory. */
static bool
find_span (const Subject *self, LnsThreadSpan *ret_span)
{
  return lns_thread_span_described (self->report, self->lane, self->time_ns, ret_span);
}

static char *
state_text (const Subject *self, uint64_t state)
{
  const char *label = lns_enum_label ("ENUM_SAMPLING_THREAD_STATE", (int64_t)state);
  if (self->is_brief)
    return NULL; /* the title says so */
  if (self->kind == LNS_LANE_SCHED)
    return g_strdup (lns_thread_state_name (
        lns_thread_state_told (self->report, self->lane, self->event, self->time_ns)));
  return label != NULL ? g_strdup (label) : signed_text (self, state);
}

static char *
call_text (const Subject *self, uint64_t is_in)
{
  LnsThreadSpan span;
  return is_in == 0 && find_span (self, &span) && span.call_name != 0
             ? lns_event_text_string (self->report, span.call_name, true)
             : NULL;
}

/* What the call, or the one that the thread waits in, was about. */
static bool
find_subject (const Subject *self, LnsCallSubject *ret_subject)
{
  LnsThreadSpan span;
  LnsEvent call;
  if (self->kind == LNS_LANE_OS_CALL)
    return lns_call_subject_find (self->report, value_of (self, LNS_COLUMN_REMAINDER), ret_subject);
  return value_of (self, LNS_COLUMN_SCHED_IN) == 0 && find_span (self, &span) &&
         span.call_name != 0 &&
         lns_report_event (self->report, span.call_lane, span.call, &call, NULL) &&
         lns_call_subject_find (
             self->report,
             lns_event_extra (self->report, span.call_lane, &call, LNS_COLUMN_REMAINDER),
             ret_subject);
}

static char *
lock_text (const Subject *self, uint64_t value)
{
  LnsCallSubject subject;
  return find_subject (self, &subject) && subject.has_lock ? hex_text (self, subject.lock) : NULL;
}

static char *
lock_holder_text (const Subject *self, uint64_t value)
{
  LnsCallSubject subject;
  return find_subject (self, &subject) && subject.holder != LNS_ID_NONE
             ? lns_event_text_thread_or (self->report, subject.holder, _ ("Thread"))
             : NULL;
}

/* Who woke the thread, and how long before it ran; an interrupt has no name. */
static bool
find_waking (const Subject *self, LnsWaking *ret_waking)
{
  LnsEvent run;
  uint64_t ordinal;
  return lns_report_find (self->report, self->lane, self->event->start_ns, &ordinal, NULL) &&
         lns_waking_find (self->report, self->lane, ordinal, ret_waking, &run);
}

static char *
waker_text (const Subject *self, uint64_t value)
{
  LnsWaking waking;
  if (!find_waking (self, &waking))
    return NULL;
  return waking.thread != LNS_ID_NONE
             ? lns_event_text_thread_or (self->report, waking.thread, _ ("Thread"))
             : g_strdup (_ ("an interrupt, or a thread of another program"));
}

static char *
wakeup_latency_text (const Subject *self, uint64_t value)
{
  LnsWaking waking;
  char text[LNS_FORMAT_SIZE];
  return find_waking (self, &waking)
             ? g_strdup (lns_format_duration_exact (waking.latency_ns, text))
             : NULL;
}

static char *
file_text (const Subject *self, uint64_t value)
{
  LnsCallSubject subject;
  return find_subject (self, &subject) && subject.has_file
             ? lns_display_text (subject.path, subject.path_bytes, TRUE)
             : NULL;
}

static char *
file_bytes_text (const Subject *self, uint64_t value)
{
  LnsCallSubject subject;
  return find_subject (self, &subject) && subject.has_file ? bytes_text (self, subject.n_bytes)
                                                           : NULL;
}

static char *
pair_text (const Subject *self, uint64_t value)
{
  bool is_pair = value_of (self, LNS_COLUMN_EVENT_CLASS) == LNS_MPI_P2P;
  return is_pair ? signed_text (self, value) : NULL;
}

static char *
root_text (const Subject *self, uint64_t value)
{
  bool has_root = value_of (self, LNS_COLUMN_EVENT_CLASS) == LNS_MPI_COLLECTIVE;
  return has_root ? signed_text (self, value) : NULL;
}

/* Finds the call chain of the event or, for a CUDA call, that of the backtrace of its thread with the same correlation.
 * Returns false where there is none. */
static bool
find_call_chain (const Subject *self, int64_t *ret_id)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (self->report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (self->report, NULL);
  const uint32_t thread = self->track->thread;
  const uint64_t correlation = value_of (self, LNS_COLUMN_CORRELATION);
  if (self->kind != LNS_LANE_CUDA_API || *ret_id != 0 || correlation == 0)
    return *ret_id != 0 || self->kind == LNS_LANE_CPU_SAMPLE ||
           self->kind == LNS_LANE_PYTHON_SAMPLE || self->kind == LNS_LANE_CUDA_BACKTRACE;
  for (uint32_t i = 0; i < n_lanes; i++)
    {
      uint64_t ordinal;
      LnsEvent event;
      if (lanes[i].kind != LNS_LANE_CUDA_BACKTRACE || tracks[lanes[i].track].thread != thread ||
          !lns_report_find_correlation (self->report, i, correlation, 0, &ordinal, NULL) ||
          !lns_report_event (self->report, i, ordinal, &event, NULL))
        continue;
      *ret_id = (int64_t)lns_event_extra (self->report, i, &event, LNS_COLUMN_CALL_CHAIN);
      return true;
    }
  return false;
}

#define BRIEF_FRAMES 12

/* Where FRAME is: "module, file:line", or what is known of it; "" if nothing is. Names of files come without their folders, which
 * would fill the pane. */
static char *
frame_place (const Subject *self, const LnsCallFrame *frame)
{
  g_autofree char *path = lns_event_text_string (self->report, frame->module, true);
  g_autofree char *source = lns_event_text_string (self->report, frame->file, true);
  g_autofree char *module = *path != '\0' ? g_path_get_basename (path) : g_strdup ("");
  g_autofree char *file = *source != '\0' ? g_path_get_basename (source) : g_strdup ("");
  const char *comma = *module != '\0' && *file != '\0' ? ", " : "";
  if (*file != '\0' && frame->line > 0)
    return g_strdup_printf ("%s%s%s:%u", module, comma, file, frame->line);
  return g_strconcat (module, comma, file, NULL);
}

/* "function (module, file:line)" a line, the innermost first. */
static char *
call_chain_text (const Subject *self, uint64_t value)
{
  const char *table = lns_call_chain_table (self->kind);
  int64_t id = (int64_t)value;
  unsigned n = 0;
  if (table == NULL || !find_call_chain (self, &id))
    return NULL;
  LnsCallFrame *frames = lns_call_chain_read (self->report, table, id, &n);
  GString *text = g_string_new (self->is_brief && n > 0 ? "\n" : NULL);
  unsigned n_shown = self->is_brief ? MIN (n, BRIEF_FRAMES) : n;
  for (unsigned i = 0; i < n_shown; i++)
    {
      g_autofree char *symbol = lns_event_text_string (self->report, frames[i].symbol, true);
      g_autofree char *place = frame_place (self, &frames[i]);
      g_string_append_printf (text, i > 0 ? "\n%s" : "%s", symbol);
      if (*place != '\0')
        g_string_append_printf (text, " (%s)", place);
    }
  if (n > n_shown)
    g_string_append_printf (text, ngettext ("\n… %u more", "\n… %u more", n - n_shown),
                            n - n_shown);
  free (frames);
  return g_string_free (text, FALSE);
}

/* --- What the program said of the event ------------------------------------------------------ */

static char *
category_text (const Subject *self, uint64_t category)
{
  char number[16];
  g_autofree char *name =
      lns_event_text_category (self->report, self->track->domain, (uint32_t)category);
  g_snprintf (number, sizeof number, "%u", (uint32_t)category);
  return category == 0 || strcmp (name, number) == 0 ? g_steal_pointer (&name)
                                                     : g_strdup_printf ("%s (%s)", name, number);
}

static char *
payload_text (const Subject *self, uint64_t bits)
{
  const LnsPayloadType type = (LnsPayloadType)value_of (self, LNS_COLUMN_PAYLOAD_TYPE);
  char *bytes = NULL;
  size_t size_bytes = 0;
  FILE *stream = NULL;
  if (self->is_brief && (type == LNS_PAYLOAD_TYPED || type == LNS_PAYLOAD_JSON))
    return g_strdup (_ ("structured; select the event to see its fields"));
  if (type == LNS_PAYLOAD_TYPED && self->decoder != NULL)
    stream = open_memstream (&bytes, &size_bytes);
  if (stream == NULL)
    return lns_event_text_payload (self->report, type, bits);

  size_t payload_bytes;
  const char *payload = lns_report_string (self->report, (uint32_t)bits, &payload_bytes);
  lns_payload_write (self->decoder, LNS_PAYLOAD_AS_TEXT, self->track->domain, payload,
                     payload_bytes, stream);
  fclose (stream);
  while (size_bytes > 0 && bytes[size_bytes - 1] == '\n')
    size_bytes--;
  char *text = lns_display_text (bytes, size_bytes, FALSE);
  free (bytes);
  return text;
}

static char *
payload_type_text (const Subject *self, uint64_t type)
{
  return type != LNS_PAYLOAD_NONE ? g_strdup (lns_payload_type_name ((LnsPayloadType)type)) : NULL;
}

static char *
color_text (const Subject *self, uint64_t color)
{
  return color != 0 ? g_strdup_printf ("#%08" PRIX64, color) : NULL;
}

static char *
range_id_text (const Subject *self, uint64_t id)
{
  return id != 0 ? g_strdup_printf ("%" PRIu64, id) : NULL;
}

static char *
sample_text (const Subject *self, uint64_t bits)
{
  char *value = lns_event_text_payload (self->report, self->track->value_type, bits);
  if (self->track->unit == 0)
    return value;
  g_autofree char *number = value,
                  *unit = lns_event_text_string (self->report, self->track->unit, false);
  return g_strdup_printf ("%s %s", number, unit);
}

/* --- All fields ------------------------------------------------------------------------------ */

#define BIT(kind)  (1u << (kind))
#define UNIFIED    BIT (LNS_LANE_CUDA_UNIFIED)
#define MEMORY_OPS (BIT (LNS_LANE_CUDA_MEMORY) | BIT (LNS_LANE_CUDA_POOL))
#define TRANSFERS  (BIT (LNS_LANE_CUDA_MEMCPY) | BIT (LNS_LANE_CUDA_MEMSET))
G_STATIC_ASSERT (LNS_N_LANE_KINDS <= 32);

/* A field that some events have. */
typedef struct
{
  LnsColumnId column; /* events with this column have the field; 0: any event                  */
  uint32_t kinds;     /* bits: of these LnsLaneKinds; 0: of any                                */
  const char *title;
  char *(*text) (const Subject *self, uint64_t value); /* VALUE is that of the column          */
  bool is_link;                                        /* as in LnsDetailsField                */
  LnsLinkKind link;
} Field;

/* In the order they are read. */
static const Field own_fields[] = {
  { LNS_COLUMN_CALLBACK, BIT (LNS_LANE_CUDA_API), N_ ("Purpose"), purpose_text },
  { LNS_COLUMN_CALLBACK, BIT (LNS_LANE_CUDA_API), N_ ("Interface"), interface_text },
  { LNS_COLUMN_RETURN_VALUE, BIT (LNS_LANE_CUDA_API) | BIT (LNS_LANE_LIBRARY_CALL), N_ ("Result"),
    result_text },
  { LNS_COLUMN_RETURN_VALUE, BIT (LNS_LANE_OS_CALL), N_ ("Returned"), signed_text },
  { LNS_COLUMN_RETURN_VALUE, BIT (LNS_LANE_SYSTEM_CALL), N_ ("Returned"), errno_text },
  { LNS_COLUMN_CUDA_STREAM, 0, N_ ("Stream handle"), hex_text },
  { LNS_COLUMN_COPY_KIND, 0, N_ ("Direction"), direction_text },
  { LNS_COLUMN_SYNC_TYPE, 0, N_ ("Waits for"), sync_text },
  { LNS_COLUMN_OPERATION, MEMORY_OPS, N_ ("Operation"), operation_text },
  { LNS_COLUMN_OPERATION, BIT (LNS_LANE_GPU_SWITCH), N_ ("Change"), switch_text },
  { LNS_COLUMN_PLACE, BIT (LNS_LANE_GPU_SWITCH), N_ ("Process"), holder_text },
  { LNS_COLUMN_PLACE, BIT (LNS_LANE_GPU_SWITCH), N_ ("Context"), switched_text },
  { LNS_COLUMN_CPU, 0, N_ ("CPU"), signed_text },
  { LNS_COLUMN_THREAD_STATE, 0, N_ ("State"), state_text },
  { LNS_COLUMN_OPERATION, BIT (LNS_LANE_PYTHON_SAMPLE), N_ ("Interpreter lock (GIL)"), gil_text },
  { LNS_COLUMN_SCHED_IN, 0, N_ ("In call"), call_text },
  { 0, BIT (LNS_LANE_OS_CALL) | BIT (LNS_LANE_SCHED), N_ ("Lock"), lock_text },
  { 0, BIT (LNS_LANE_OS_CALL) | BIT (LNS_LANE_SCHED), N_ ("Held by"), lock_holder_text },
  { LNS_COLUMN_SCHED_IN, BIT (LNS_LANE_SCHED), N_ ("Woken by"), waker_text, true, LNS_LINK_WAKER },
  { LNS_COLUMN_SCHED_IN, BIT (LNS_LANE_SCHED), N_ ("Wakeup latency"), wakeup_latency_text },
  { 0, BIT (LNS_LANE_OS_CALL) | BIT (LNS_LANE_SCHED), N_ ("File"), file_text },
  { 0, BIT (LNS_LANE_OS_CALL) | BIT (LNS_LANE_SCHED), N_ ("Bytes"), file_bytes_text },
  { LNS_COLUMN_CYCLES, 0, N_ ("Cycles"), number_text },
  { LNS_COLUMN_PEER_RANK, 0, N_ ("Other rank"), pair_text },
  { LNS_COLUMN_TAG, 0, N_ ("Tag"), pair_text },
  { LNS_COLUMN_PEER_RANK, 0, N_ ("Root rank"), root_text },
  { LNS_COLUMN_BYTES, TRANSFERS | MEMORY_OPS, N_ ("Bytes"), bytes_text },
  { LNS_COLUMN_BYTES, UNIFIED, N_ ("Bytes"), pool_text },
  { LNS_COLUMN_BYTES, BIT (LNS_LANE_MPI_CALL), N_ ("Bytes"), number_text },
  { LNS_COLUMN_RECEIVED_BYTES, 0, N_ ("Bytes received"), number_text },
  { LNS_COLUMN_COMMUNICATOR, 0, N_ ("Communicator"), hex_text },
  { LNS_COLUMN_REQUEST, 0, N_ ("Request"), hex_text },
  { LNS_COLUMN_BYTES, TRANSFERS, N_ ("Throughput"), throughput_text },
  { LNS_COLUMN_SET_VALUE, 0, N_ ("Value"), signed_text },
  { LNS_COLUMN_MEMORY_KINDS, 0, N_ ("Memory"), memory_text },
  { LNS_COLUMN_PEERS, TRANSFERS, N_ ("Between"), peers_text },
  { LNS_COLUMN_PEERS, UNIFIED, N_ ("Processors"), processors_text },
  { LNS_COLUMN_COPY_COUNT, BIT (LNS_LANE_CUDA_MEMCPY), N_ ("Copies"), copies_text },
  { LNS_COLUMN_COPY_COUNT, BIT (LNS_LANE_NVTX_PROJECTED), N_ ("GPU operations"), number_text },
  { 0, BIT (LNS_LANE_NVTX_PROJECTED), N_ ("Start on the CPU"), range_start_text },
  { 0, BIT (LNS_LANE_NVTX_PROJECTED), N_ ("Duration on the CPU"), range_duration_text },
  { LNS_COLUMN_ADDRESS, 0, N_ ("Address"), hex_text },
  { LNS_COLUMN_POOL_SIZE, 0, N_ ("Pool"), pool_text },
  { LNS_COLUMN_FAULTS, 0, N_ ("Page faults"), number_text },
  { LNS_COLUMN_CUDA_EVENT, 0, N_ ("CUDA event"), cuda_event_text },
  { LNS_COLUMN_QUEUED, 0, N_ ("From queued to start"), latency_text },
  { LNS_COLUMN_SUBMITTED, 0, N_ ("From submitted to start"), latency_text },
  { LNS_COLUMN_GRAPH, 0, N_ ("Graph"), number_text },
  { LNS_COLUMN_GRAPH_EXEC, 0, N_ ("Executable graph"), number_text },
  { LNS_COLUMN_GRAPH_NODE, 0, N_ ("Graph node"), number_text },
  { 0, ~BIT (LNS_LANE_COUNTER), N_ ("Stream"), stream_text },
  { 0, ~BIT (LNS_LANE_COUNTER), N_ ("Context"), context_text },
  { 0, ~BIT (LNS_LANE_COUNTER), N_ ("GPU"), device_text },
  /* Projections keep the place of their range in that column. */
  { LNS_COLUMN_CORRELATION, ~(BIT (LNS_LANE_NVTX_PROJECTED) | BIT (LNS_LANE_CUDA_BACKTRACE)),
    N_ ("Correlation"), number_text },
};

static const Field call_chain[] = {
  { LNS_COLUMN_CALL_CHAIN, 0, N_ ("Call chain"), call_chain_text },
};

/* What the program said of the event. */
static const Field attributes[] = {
  { LNS_COLUMN_CATEGORY, 0, N_ ("Category"), category_text },
  { LNS_COLUMN_PAYLOAD, 0, N_ ("Payload"), payload_text },
};

static const Field more_fields[] = {
  { LNS_COLUMN_PAYLOAD_TYPE, 0, N_ ("Payload type"), payload_type_text },
  { LNS_COLUMN_COLOR, 0, N_ ("Color"), color_text },
  { LNS_COLUMN_RANGE_ID, 0, N_ ("Range id"), range_id_text },
  { LNS_COLUMN_VALUE, 0, N_ ("Value"), sample_text },
};

static void
add_fields (const Subject *self, const Field *fields, size_t n)
{
  for (size_t i = 0; i < n; i++)
    {
      const Field *it = &fields[i];
      const guint n_before = self->fields->len;
      bool has_column = it->column == 0 || lns_lane_kind_extra (self->kind, it->column) >= 0;
      if (has_column && (it->kinds == 0 || it->kinds & BIT (self->kind)))
        add (self, _ (it->title), it->text (self, value_of (self, it->column)));
      if (it->is_link && self->fields->len > n_before)
        {
          LnsDetailsField *field = &g_array_index (self->fields, LnsDetailsField, n_before);
          field->is_link = true;
          field->link = it->link;
        }
    }
}

static void
add_own_fields (const Subject *self)
{
  uint32_t n;
  const LnsCudaLaunch *launches = lns_report_launches (self->report, &n);
  if (lns_lane_kind_extra (self->kind, LNS_COLUMN_LAUNCH) >= 0 &&
      value_of (self, LNS_COLUMN_LAUNCH) < n)
    add_launch (self, &launches[value_of (self, LNS_COLUMN_LAUNCH)]);
  add_fields (self, own_fields, G_N_ELEMENTS (own_fields));
}

static void
clear_field (gpointer data)
{
  g_free (((LnsDetailsField *)data)->text);
}

/* A subject with an empty array of fields. Its track may be NULL: nothing can be said then. */
static Subject
subject_of (LnsReport *report, uint32_t lane, const LnsEvent *event, int64_t time_ns)
{
  const LnsTrack *track = lns_event_track (report, lane);
  Subject self = {
    .report = report, .lane = lane, .track = track, .event = event, .time_ns = time_ns
  };
  self.fields = g_array_new (FALSE, FALSE, sizeof (LnsDetailsField));
  g_array_set_clear_func (self.fields, clear_field);
  if (track != NULL)
    self.kind = MIN (lns_report_lanes (report, NULL)[lane].kind, LNS_N_LANE_KINDS);
  return self;
}

/* What the flags say that no other field does. */
static char *
notes_text (uint32_t flags)
{
  static const struct
  {
    uint32_t flag;
    const char *text;
  } notes[] = {
    { LNS_EVENT_OPEN_START, N_ ("It began before the recording.") },
    { LNS_EVENT_OPEN_END, N_ ("It had not ended when the recording ended.") },
    { LNS_EVENT_END_UNKNOWN, N_ ("Its end was lost.") },
    { LNS_EVENT_LOST_BEFORE, N_ ("Events before this one were lost.") },
    { LNS_EVENT_LATE, N_ ("It was recorded out of order.") },
    { LNS_EVENT_CLIPPED, N_ ("Its times were cut to fit the events around it.") },
  };
  GString *text = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (notes); i++)
    if (flags & notes[i].flag)
      g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", _ (notes[i].text));
  return g_string_free (text, FALSE);
}

GArray *
lns_details_brief_fields_new (LnsReport *report,
                              uint32_t lane,
                              const LnsEvent *event,
                              int64_t time_ns)
{
  Subject self = subject_of (report, lane, event, time_ns);
  self.is_brief = true;
  if (self.track == NULL)
    return self.fields;
  add_fields (&self, attributes, G_N_ELEMENTS (attributes));
  add_own_fields (&self);
  /* Where the thread was, or why it waits. */
  if (BIT (self.kind) &
      (BIT (LNS_LANE_CPU_SAMPLE) | BIT (LNS_LANE_PYTHON_SAMPLE) | BIT (LNS_LANE_OS_CALL)))
    add_fields (&self, call_chain, G_N_ELEMENTS (call_chain));
  add (&self, _ ("Notes"), notes_text (event->flags));
  return self.fields;
}

/* When the event was, or when the thread did what it is about. */
static void
add_times (const Subject *self)
{
  const LnsEvent *event = self->event;
  const LnsLaneKind kind = self->kind;
  int64_t start_ns = event->start_ns;
  int64_t duration_ns = lns_states_known_end (self->report, kind, event->flags, start_ns,
                                              lns_sum (start_ns, event->duration_ns)) -
                        start_ns;
  LnsThreadSpan span;
  const bool has_left = kind == LNS_LANE_SCHED && value_of (self, LNS_COLUMN_SCHED_IN) == 0;
  const bool has_span = kind == LNS_LANE_SCHED && find_span (self, &span);
  if (has_span)
    {
      start_ns = span.start_ns;
      duration_ns = span.end_ns - span.start_ns;
    }
  add (self, _ ("Start"), lns_event_text_time (start_ns));
  if (kind == LNS_LANE_NVTX_MARK || kind == LNS_LANE_COUNTER || kind == LNS_LANE_CPU_SAMPLE ||
      kind == LNS_LANE_PYTHON_SAMPLE || (has_left && !has_span))
    return;
  add (self, _ ("Duration"), lns_event_text_duration (duration_ns, event->flags));
  if (!(event->flags & (LNS_EVENT_END_UNKNOWN | LNS_EVENT_OPEN_END)))
    add (self, _ ("End"), lns_event_text_time (start_ns + duration_ns));
}

GArray *
lns_details_fields_new (LnsReport *report,
                        const LnsPayloadDecoder *decoder,
                        uint32_t lane,
                        uint64_t ordinal,
                        const LnsEvent *event,
                        int64_t time_ns)
{
  Subject self = subject_of (report, lane, event, time_ns);
  const LnsTrack *track = self.track;
  const LnsLaneKind kind = self.kind;
  char number[LNS_FORMAT_SIZE];
  if (track == NULL)
    return self.fields;

  self.decoder = decoder;
  uint32_t n, thread = lns_event_thread (report, lane, event);
  /* Names first, then times. */
  add (&self, _ ("Kind"), g_strdup (lns_event_kind_name (kind)));
  if (track->domain != LNS_ID_NONE &&
      (track->device == LNS_ID_NONE || kind == LNS_LANE_NVTX_PROJECTED))
    add (&self, _ ("Domain"), lns_event_text_domain (report, track->domain));
  if (thread != LNS_ID_NONE)
    add (&self, _ ("Thread"), lns_event_text_thread (report, thread));
  if (lns_lane_kind_extra (kind, LNS_COLUMN_END_THREAD) >= 0)
    {
      uint32_t end_thread = (uint32_t)value_of (&self, LNS_COLUMN_END_THREAD);
      if (end_thread != thread)
        add (&self, _ ("Ended by"), lns_event_text_thread_or (report, end_thread, _ ("Thread")));
    }
  const LnsThread *threads = lns_report_threads (report, &n);
  /* A CPU belongs to no process; who is on it does. */
  add (&self, _ ("Process"),
       lns_event_text_process (report, track->process == LNS_ID_NONE && thread < n
                                           ? threads[thread].process
                                           : track->process));
  add_times (&self);
  add_own_fields (&self);
  add_fields (&self, attributes, G_N_ELEMENTS (attributes));
  add_fields (&self, more_fields, G_N_ELEMENTS (more_fields));
  if (kind == LNS_LANE_NVTX_PUSH_POP)
    add (&self, _ ("Depth"), g_strdup_printf ("%u", lns_report_lanes (report, &n)[lane].ordinal));
  add (&self, _ ("Notes"), notes_text (event->flags));
  add (&self, _ ("Event"),
       g_strdup_printf (_ ("%s of lane %u"), lns_format_unsigned (ordinal, number), lane));
  add_fields (&self, call_chain, G_N_ELEMENTS (call_chain));
  return self.fields;
}

GBytes *
lns_details_fields_copy (LnsReport *report, const LnsEvent *event, const GArray *fields)
{
  size_t size_bytes;
  const char *name = lns_report_string (report, event->name, &size_bytes);
  g_autoptr (GString) text = g_string_new_len (name, (gssize)size_bytes);
  g_string_append_c (text, '\n');
  for (guint i = 0; i < fields->len; i++)
    {
      const LnsDetailsField *field = &g_array_index (fields, LnsDetailsField, i);
      bool many = strchr (field->text, '\n') != NULL;
      g_auto (GStrv) lines = g_strsplit (field->text, "\n", -1);
      g_string_append_printf (text, "%s:", field->title);
      for (char **line = lines; *line != NULL; line++)
        g_string_append_printf (text, many ? "\n  %s" : " %s", *line);
      g_string_append_c (text, '\n');
    }
  return g_string_free_to_bytes (g_steal_pointer (&text));
}
