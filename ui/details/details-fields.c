/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/details-subject.h"

#include <glib/gi18n.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/format.h"
#include "ui/details/details-cuda.h"
#include "ui/details/details-system.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"

static void
clear_field (gpointer data)
{
  g_free (((LnsDetailsField *)data)->text);
}

/* The fields that only one kind of lane has, from the first kind to the last; NULL where there are none. */
static void (*const own_fields[]) (const LnsDetailsSubject *self) = {
  [LNS_LANE_CUDA_API] = lns_details_add_call,
  [LNS_LANE_CUDA_KERNEL] = lns_details_add_kernel,
  [LNS_LANE_CUDA_MEMCPY] = lns_details_add_copy,
  [LNS_LANE_CUDA_MEMSET] = lns_details_add_set,
  [LNS_LANE_CUDA_SYNC] = lns_details_add_sync,
  [LNS_LANE_CUDA_EVENT] = lns_details_add_work,
  [LNS_LANE_CUDA_GRAPH] = lns_details_add_work,
  [LNS_LANE_CUDA_GRAPH_NODE] = lns_details_add_work,
  [LNS_LANE_CUDA_OVERHEAD] = lns_details_add_work,
  [LNS_LANE_CUDA_MEMORY] = lns_details_add_memory_operation,
  [LNS_LANE_CUDA_POOL] = lns_details_add_memory_operation,
  [LNS_LANE_CUDA_FAULT] = lns_details_add_fault,
  [LNS_LANE_CUDA_JIT] = lns_details_add_work,
  [LNS_LANE_LIBRARY_CALL] = lns_details_add_call,
  [LNS_LANE_OS_CALL] = lns_details_add_os_call,
  [LNS_LANE_SCHED] = lns_details_add_scheduling,
  [LNS_LANE_CPU_SAMPLE] = lns_details_add_cpu_sample,
  [LNS_LANE_MPI_CALL] = lns_details_add_mpi_call,
  [LNS_LANE_NVTX_PROJECTED] = lns_details_add_projection,
  [LNS_LANE_CUDA_BACKTRACE] = NULL,
};
G_STATIC_ASSERT (G_N_ELEMENTS (own_fields) == LNS_N_LANE_KINDS);

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

static char *
category_text (LnsReport *report, uint32_t domain, uint32_t category)
{
  char number[16];
  g_autofree char *name = lns_event_text_category (report, domain, category);
  g_snprintf (number, sizeof number, "%u", category);
  return category == 0 || strcmp (name, number) == 0 ? g_steal_pointer (&name)
                                                     : g_strdup_printf ("%s (%s)", name, number);
}

static char *
payload_text (LnsReport *report,
              const LnsPayloadDecoder *decoder,
              uint32_t domain,
              LnsPayloadType type,
              uint64_t bits)
{
  char *bytes = NULL;
  size_t size_bytes = 0;
  FILE *stream = NULL;
  if (type == LNS_PAYLOAD_TYPED && decoder != NULL)
    stream = open_memstream (&bytes, &size_bytes);
  if (stream == NULL)
    return lns_event_text_payload (report, type, bits);

  size_t payload_bytes;
  const char *payload = lns_report_string (report, (uint32_t)bits, &payload_bytes);
  lns_payload_write (decoder, LNS_PAYLOAD_AS_TEXT, domain, payload, payload_bytes, stream);
  fclose (stream);
  while (size_bytes > 0 && bytes[size_bytes - 1] == '\n')
    size_bytes--;
  char *text = lns_display_text (bytes, size_bytes, FALSE);
  free (bytes);
  return text;
}

static char *
payload_type_text (LnsPayloadType type)
{
  return type == LNS_PAYLOAD_NONE ? NULL : g_strdup (lns_payload_type_name (type));
}

/* The columns that only some kinds have. */
static void
add_kind (GArray *fields,
          LnsReport *report,
          const LnsPayloadDecoder *decoder,
          uint32_t lane,
          const LnsTrack *track,
          const LnsEvent *event)
{
  LnsPayloadType type =
      (LnsPayloadType)lns_event_extra (report, lane, event, LNS_COLUMN_PAYLOAD_TYPE);
  uint64_t payload = lns_event_extra (report, lane, event, LNS_COLUMN_PAYLOAD);
  uint64_t color = lns_event_extra (report, lane, event, LNS_COLUMN_COLOR);
  uint64_t range_id = lns_event_extra (report, lane, event, LNS_COLUMN_RANGE_ID);
  uint32_t category = (uint32_t)lns_event_extra (report, lane, event, LNS_COLUMN_CATEGORY);

  _lns_details_add (fields, _ ("Category"), category_text (report, track->domain, category));
  _lns_details_add (fields, _ ("Payload"),
                    payload_text (report, decoder, track->domain, type, payload));
  _lns_details_add (fields, _ ("Payload type"), payload_type_text (type));
  if (color != 0)
    _lns_details_add (fields, _ ("Color"), g_strdup_printf ("#%08" PRIX64, color));
  if (range_id != 0)
    _lns_details_add (fields, _ ("Range id"), g_strdup_printf ("%" PRIu64, range_id));
  if (track->kind == LNS_TRACK_COUNTER || track->kind == LNS_TRACK_GPU_METRIC)
    _lns_details_add (
        fields, _ ("Value"),
        lns_event_text_payload (report, track->value_type,
                                lns_event_extra (report, lane, event, LNS_COLUMN_VALUE)));
}

void
lns_details_add_own_fields (GArray *fields, LnsReport *report, uint32_t lane, const LnsEvent *event)
{
  const LnsTrack *track = lns_event_track (report, lane);
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  if (track == NULL || lanes[lane].kind >= G_N_ELEMENTS (own_fields) ||
      own_fields[lanes[lane].kind] == NULL)
    return;
  own_fields[lanes[lane].kind](
      &(LnsDetailsSubject){ fields, report, lane, lanes[lane].kind, track, event });
}

GArray *
lns_details_fields_new (LnsReport *report,
                        const LnsPayloadDecoder *decoder,
                        uint32_t lane,
                        uint64_t ordinal,
                        const LnsEvent *event)
{
  GArray *fields = g_array_new (FALSE, FALSE, sizeof (LnsDetailsField));
  const LnsTrack *track = lns_event_track (report, lane);
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  g_array_set_clear_func (fields, clear_field);
  if (track == NULL)
    return fields;

  LnsLaneKind kind = lanes[lane].kind;
  uint32_t thread = lns_event_thread (report, lane, event);
  _lns_details_add (fields, _ ("Start"), lns_event_text_time (event->start_ns));
  if (kind != LNS_LANE_NVTX_MARK && kind != LNS_LANE_COUNTER && kind != LNS_LANE_CPU_SAMPLE)
    {
      _lns_details_add (fields, _ ("Duration"),
                        lns_event_text_duration (event->duration_ns, event->flags));
      if (!(event->flags & (LNS_EVENT_END_UNKNOWN | LNS_EVENT_OPEN_END)))
        _lns_details_add (fields, _ ("End"),
                          lns_event_text_time (event->start_ns + event->duration_ns));
    }
  _lns_details_add (fields, _ ("Kind"), g_strdup (lns_event_kind_name (kind)));
  if (track->domain != LNS_ID_NONE &&
      (track->device == LNS_ID_NONE || kind == LNS_LANE_NVTX_PROJECTED))
    _lns_details_add (fields, _ ("Domain"), lns_event_text_domain (report, track->domain));
  lns_details_add_own_fields (fields, report, lane, event);
  lns_details_add_call_chain (&(LnsDetailsSubject){ fields, report, lane, kind, track, event });
  add_kind (fields, report, decoder, lane, track, event);
  if (thread != LNS_ID_NONE)
    _lns_details_add (fields, _ ("Thread"), lns_event_text_thread (report, thread));
  if (lns_lane_kind_extra (kind, LNS_COLUMN_END_THREAD) >= 0)
    {
      uint32_t end_thread = (uint32_t)lns_event_extra (report, lane, event, LNS_COLUMN_END_THREAD);
      if (end_thread != thread)
        _lns_details_add (fields, _ ("Ended by"), lns_event_text_thread (report, end_thread));
    }
  _lns_details_add (fields, _ ("Process"), lns_event_text_process (report, track->process));
  if (kind == LNS_LANE_NVTX_PUSH_POP)
    _lns_details_add (fields, _ ("Depth"), g_strdup_printf ("%u", lanes[lane].ordinal));
  _lns_details_add (fields, _ ("Notes"), notes_text (event->flags));
  char number[LNS_FORMAT_SIZE];
  _lns_details_add (
      fields, _ ("Event"),
      g_strdup_printf (_ ("%s of lane %u"), lns_format_unsigned (ordinal, number), lane));
  return fields;
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
