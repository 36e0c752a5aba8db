/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Imports LNS_COUNTERS, a table of our own exports: samples of counters. */

#include <string.h>

#include "src/import/nsys/import-private.h"

static const char *const columns[] = {
  [LNS_COUNTERS_TIMESTAMP] = "timestamp", [LNS_COUNTERS_NAME_ID] = "nameId",
  [LNS_COUNTERS_NAME] = "name",           [LNS_COUNTERS_VALUE] = "value",
  [LNS_COUNTERS_UNIT] = "unit",           [LNS_COUNTERS_GLOBAL_PID] = "globalPid",
  [LNS_COUNTERS_DOMAIN_ID] = "domainId",  [LNS_COUNTERS_COUNTER_ID] = "counterId",
};
#define N_COLUMNS (sizeof columns / sizeof columns[0])

static bool
row_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  const LnsKeptValue *value = &values[LNS_COUNTERS_VALUE];
  LnsTrack track = {
    .kind = LNS_TRACK_COUNTER, .thread = LNS_ID_NONE, .device = LNS_ID_NONE, .stream = LNS_ID_NONE
  };
  LnsEvent event = { 0 };
  LnsImportPlace place;

  import->n_done++;
  if (!_lns_import_time (&values[LNS_COUNTERS_TIMESTAMP], &event.start_ns) ||
      (value->type != LNS_KEPT_INTEGER && value->type != LNS_KEPT_REAL))
    {
      import->n_bad++;
      return true;
    }
  track.process =
      _lns_import_process (import, _lns_import_number (&values[LNS_COUNTERS_GLOBAL_PID]));
  track.domain = _lns_import_domain (import, track.process,
                                     _lns_import_number (&values[LNS_COUNTERS_DOMAIN_ID]));
  track.name = _lns_import_text (import, &values[LNS_COUNTERS_NAME]);
  track.unit = _lns_import_text (import, &values[LNS_COUNTERS_UNIT]);
  track.number = (uint64_t)_lns_import_number (&values[LNS_COUNTERS_COUNTER_ID]);
  track.value_type = value->type == LNS_KEPT_REAL ? LNS_PAYLOAD_DOUBLE : LNS_PAYLOAD_INT64;
  /* The bits of either type.                                                                      */
  memcpy (&event.extra[lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_VALUE)], &value->integer,
          sizeof value->integer);
  event.extra[lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_THREAD)] = LNS_ID_NONE;
  if (!_lns_import_take_place (import, _lns_import_track (import, &track, LNS_LANE_COUNTER),
                               event.start_ns, &place))
    return true;
  return _lns_import_append (import, &place, &event);
}

bool
_lns_import_counters (LnsImport *import, LnsForeignTable *table)
{
  return lns_foreign_read (import->foreign, table, columns, N_COLUMNS, LNS_FOREIGN_BY_START, row_cb,
                           import, import->error);
}
