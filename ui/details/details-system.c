/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/details-system.h"

#include <glib/gi18n.h>
#include <inttypes.h>
#include <stdlib.h>

#include "src/base/format.h"
#include "src/tables/call-chain.h"
#include "src/tables/enums.h"
#include "ui/details/details-subject.h"
#include "ui/model/event-text.h"

static void
add_signed (const LnsDetailsSubject *self, const char *title, LnsColumnId column)
{
  _lns_details_add (self->fields, title,
                    g_strdup_printf ("%" PRId64, (int64_t)_lns_details_value (self, column)));
}

/* What the reference's enumeration TABLE calls the value, or its number. */
static void
add_enum (const LnsDetailsSubject *self, const char *title, const char *table, LnsColumnId column)
{
  const int64_t id = (int64_t)_lns_details_value (self, column);
  for (unsigned i = 0; i < LNS_N_ENUMS; i++)
    for (unsigned v = 0; g_str_equal (lns_enums[i].name, table) && v < lns_enums[i].n_values; v++)
      if (lns_enums[i].values[v].id == id)
        {
          _lns_details_add (self->fields, title, g_strdup (lns_enums[i].values[v].label));
          return;
        }
  add_signed (self, title, column);
}

void
lns_details_add_os_call (const LnsDetailsSubject *self)
{
  add_signed (self, _ ("Returned"), LNS_COLUMN_RETURN_VALUE);
}

void
lns_details_add_scheduling (const LnsDetailsSubject *self)
{
  const bool is_in = _lns_details_value (self, LNS_COLUMN_SCHED_IN) != 0;
  _lns_details_add (self->fields, _ ("Change"),
                    g_strdup (is_in ? _ ("The thread got a CPU") : _ ("The thread left its CPU")));
  add_signed (self, _ ("CPU"), LNS_COLUMN_CPU);
  if (!is_in)
    add_enum (self, _ ("State"), "ENUM_SAMPLING_THREAD_STATE", LNS_COLUMN_THREAD_STATE);
}

void
lns_details_add_cpu_sample (const LnsDetailsSubject *self)
{
  add_signed (self, _ ("CPU"), LNS_COLUMN_CPU);
  add_enum (self, _ ("State"), "ENUM_SAMPLING_THREAD_STATE", LNS_COLUMN_THREAD_STATE);
  _lns_details_add_number (self, _ ("Cycles"), LNS_COLUMN_CYCLES);
}

void
lns_details_add_mpi_call (const LnsDetailsSubject *self)
{
  const uint64_t class = _lns_details_value (self, LNS_COLUMN_EVENT_CLASS);
  if (class == LNS_MPI_P2P)
    {
      add_signed (self, _ ("Other rank"), LNS_COLUMN_PEER_RANK);
      add_signed (self, _ ("Tag"), LNS_COLUMN_TAG);
    }
  else if (class == LNS_MPI_COLLECTIVE)
    add_signed (self, _ ("Root rank"), LNS_COLUMN_PEER_RANK);
  _lns_details_add_number (self, _ ("Bytes"), LNS_COLUMN_BYTES);
  _lns_details_add_number (self, _ ("Bytes received"), LNS_COLUMN_RECEIVED_BYTES);
  if (_lns_details_value (self, LNS_COLUMN_COMMUNICATOR) != 0)
    _lns_details_add (
        self->fields, _ ("Communicator"),
        g_strdup_printf ("0x%" PRIx64, _lns_details_value (self, LNS_COLUMN_COMMUNICATOR)));
  if (_lns_details_value (self, LNS_COLUMN_REQUEST) != 0)
    _lns_details_add (
        self->fields, _ ("Request"),
        g_strdup_printf ("0x%" PRIx64, _lns_details_value (self, LNS_COLUMN_REQUEST)));
}

/* The chain of the event, or of the lane of backtraces of its thread that tells those of CUDA calls. Returns false
 * where there is none. */
static bool
find_call_chain (const LnsDetailsSubject *self, int64_t *ret_id)
{
  uint32_t n_lanes, n_tracks;
  const LnsLane *lanes = lns_report_lanes (self->report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (self->report, &n_tracks);
  const uint32_t thread = self->track->thread;
  const uint64_t correlation = _lns_details_value (self, LNS_COLUMN_CORRELATION);
  *ret_id = (int64_t)_lns_details_value (self, LNS_COLUMN_CALL_CHAIN);
  if (self->kind != LNS_LANE_CUDA_API || *ret_id != 0 || correlation == 0)
    return *ret_id != 0 || self->kind == LNS_LANE_CPU_SAMPLE ||
           self->kind == LNS_LANE_CUDA_BACKTRACE;
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

/* "function (module)" a line, the innermost first. */
void
lns_details_add_call_chain (const LnsDetailsSubject *self)
{
  const char *table = lns_call_chain_table (self->kind);
  int64_t id;
  unsigned n = 0;
  if (table == NULL || !find_call_chain (self, &id))
    return;
  LnsCallFrame *frames = lns_call_chain_read (self->report, table, id, &n);
  GString *text = g_string_new (NULL);
  for (unsigned i = 0; i < n; i++)
    {
      g_autofree char *symbol = lns_event_text_string (self->report, frames[i].symbol, true);
      g_autofree char *module = lns_event_text_string (self->report, frames[i].module, true);
      g_string_append_printf (text, i > 0 ? "\n%s" : "%s", symbol);
      if (*module != '\0')
        g_string_append_printf (text, " (%s)", module);
    }
  free (frames);
  _lns_details_add (self->fields, _ ("Call chain"), g_string_free (text, FALSE));
}
