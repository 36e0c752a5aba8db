/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Do the rows of a table lie in order? Most do, or those of each track do: then they are read as they
 * lie, which is twice as fast as sorting them. */

#include <stdlib.h>

#include "src/base/lns-hash.h"
#include "src/import/lns-import-private.h"

#define SLOTS    4096 /* of tracks; those that share one may make the table look unordered        */
#define KEYS_MAX 8

typedef struct
{
  int64_t start_ns, end_ns;
  bool is_used;
} Last;

typedef struct
{
  unsigned n_keys;
  void (*merge) (int64_t *keys);
  bool is_ordered;
  Last lasts[SLOTS];
} Look;

static bool
look_cb (void *data, const LnsKeptValue *values)
{
  Look *look = data;
  int64_t start_ns, end_ns, keys[KEYS_MAX];

  if (!_lns_import_time (&values[0], &start_ns))
    return true;
  if (!_lns_import_time (&values[1], &end_ns))
    end_ns = INT64_MAX;
  for (unsigned i = 0; i < look->n_keys; i++)
    keys[i] = _lns_import_number (&values[2 + i]);
  if (look->merge != NULL)
    look->merge (keys);
  Last *last = &look->lasts[lns_hash (keys, look->n_keys * sizeof *keys) % SLOTS];
  look->is_ordered = !last->is_used || start_ns > last->start_ns ||
                     (start_ns == last->start_ns && end_ns <= last->end_ns);
  *last = (Last){ start_ns, end_ns, true };
  return look->is_ordered;
}

bool
_lns_import_order (LnsImport *import,
                   LnsForeignTable *table,
                   const char *start,
                   const char *end,
                   const char *const *keys,
                   unsigned n_keys,
                   void (*merge) (int64_t *keys),
                   const char **ret_order)
{
  const char *columns[2 + KEYS_MAX] = { start, end };
  Look *look = calloc (1, sizeof *look);

  *ret_order = NULL;
  if (!lns_foreign_has_column (table, start))
    {
      free (look);
      return true;
    }
  if (look == NULL)
    return lns_error_set (import->error, LNS_ERROR_NO_MEMORY, 0, "not enough memory to import");
  /* Mostly all rows lie in order; then those of each track do.                                    */
  bool is_ordered;
  if (!lns_foreign_is_ordered (import->foreign, table, start, end, &is_ordered, import->error) ||
      is_ordered)
    {
      free (look);
      return import->error->domain == LNS_ERROR_NONE;
    }
  look->n_keys = n_keys < KEYS_MAX ? n_keys : KEYS_MAX;
  look->merge = merge;
  look->is_ordered = true;
  for (unsigned i = 0; i < look->n_keys; i++)
    columns[2 + i] = keys[i];
  bool good = lns_foreign_read (import->foreign, table, columns, 2 + look->n_keys, NULL, look_cb,
                                look, import->error);
  if (!good && !look->is_ordered)
    {
      good = true;
      /* The columns that are asked for first are c0 and c1.                                       */
      *ret_order =
          lns_foreign_has_column (table, end) ? "ORDER BY 1, 2 IS NOT NULL, 2 DESC" : "ORDER BY 1";
    }
  free (look);
  return good;
}
