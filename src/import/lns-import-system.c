/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What names GPU metrics and CPU samples: rows of other tables, which are kept
 * as they are too. */

#include "src/import/lns-import-private.h"

/* Of so many samples at most the innermost function becomes the name: the map takes 40 bytes each. */
#define LEAVES_MAX 2000000

/* What tells metrics apart. */
typedef struct
{
  int64_t type, metric;
} MetricKey;

static bool
metric_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  const MetricKey key = { _lns_import_number (&values[0]), _lns_import_number (&values[1]) };

  lns_string_table_intern (import->metrics, &key, sizeof key,
                           _lns_import_text (import, &values[2]));
  return true;
}

bool
_lns_import_metric_names (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "typeId", "metricId", "metricName" };

  return lns_foreign_read (import->foreign, table, columns, 3, NULL, metric_cb, import,
                           import->error);
}

void
_lns_import_name_metric (LnsImport *import, LnsTrack *track)
{
  const MetricKey key = { (int64_t)track->number, track->metric };

  track->name = lns_string_table_intern (import->metrics, &key, sizeof key, 0);
  track->process = LNS_ID_NONE;
  for (uint32_t i = 0; i < import->n_devices && track->device == LNS_ID_NONE; i++)
    if (import->device_list[i].number == (track->number & 0xFF))
      {
        track->device = i;
        track->process = import->device_list[i].process;
      }
}

typedef struct
{
  LnsImport *import;
  uint32_t n;
} Leaves;

static bool
leaf_cb (void *data, const LnsKeptValue *values)
{
  Leaves *leaves = data;
  LnsImport *import = leaves->import;
  const int64_t id = _lns_import_number (&values[0]);

  if (_lns_import_number (&values[2]) == 0 && leaves->n++ < LEAVES_MAX)
    lns_string_table_intern (import->leaves, &id, sizeof id,
                             _lns_import_string (import, &values[1]));
  return true;
}

bool
_lns_import_leaves (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "id", "symbol", "stackDepth" };
  Leaves leaves = { .import = import };

  return lns_foreign_read (import->foreign, table, columns, 3, NULL, leaf_cb, &leaves,
                           import->error);
}
