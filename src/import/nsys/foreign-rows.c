/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads rows in batches: a thread reads them and brings them into order, while the caller works on the batches before.
 * They come off the file's pages where that is possible. Otherwise SQLite passes them to an aggregate function: that
 * takes half the time of stepping through them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/buffer.h"
#include "src/base/memory.h"
#include "src/import/nsys/foreign-pages.h"
#include "src/import/nsys/foreign-record.h"
#include "src/import/nsys/foreign-sort.h"
#include "src/import/nsys/queue.h"

#define BATCH_BYTES ((size_t)64 * 1024)
#define COLUMNS_MAX 100

/* Rows: LnsForeignHead, the record, and what makes the next one aligned. */
typedef struct
{
  LnsBuffer bytes;
  uint32_t n_rows;
} Batch;

typedef struct LnsForeignReading LnsForeignReading;

/* Called with each row; false ends the reading. */
typedef bool (*AcceptFunc) (LnsForeignReading *reading, const LnsForeignRow *row);

struct LnsForeignReading
{
  LnsForeign *foreign;
  LnsForeignTable *table;
  const char *const *columns;
  unsigned n_columns;
  unsigned n_keys; /* by so many of them rows are ordered                                        */
  AcceptFunc accept;
  LnsRecordPlan plan, key_plan; /* of all values, and of the keys                                */
  LnsBuffer record;             /* of a row that SQLite hands over                               */
  LnsRowsLook look;
  LnsForeignSort *sort; /* NULL: as they lie                                                     */
  uint64_t n_rows;
  LnsError error; /* of the reader, until it has ended                                           */
  Batch batches[LNS_QUEUE_SLOTS];
  Batch *filling;
  LnsQueue queue;
  bool is_good; /* how the reader has ended                                                      */
};

/* ---- Which values are wanted ----------------------------------------------------------------- */

/* Plans the columns by which rows are ordered. */
static void
plan_key (LnsForeignReading *reading)
{
  LnsRecordPlan *plan = &reading->key_plan;

  *plan = reading->plan;
  plan->n_stored = 0;
  for (unsigned i = 0; i < reading->plan.n_stored; i++)
    if (plan->place[i] >= (int)reading->n_keys)
      plan->place[i] = -1;
    else if (plan->place[i] >= 0)
      plan->n_stored = i + 1;
}

/* The first N columns of records as they lie in the file. */
static void
plan_stored (LnsForeignReading *reading, unsigned n)
{
  const LnsForeignTable *table = reading->table;
  LnsRecordPlan *plan = &reading->plan;

  plan->n_stored = 0;
  for (unsigned i = 0; i < table->columns.n; i++)
    {
      const LnsForeignColumn *column = &table->columns.items[i];
      plan->place[i] = -1;
      plan->is_real[i] = column->is_real;
      plan->is_rowid[i] = column->is_rowid;
      for (unsigned k = 0; k < n; k++)
        if (strcasecmp (column->name, reading->columns[k]) == 0)
          {
            plan->place[i] = (int)k;
            plan->n_stored = i + 1;
          }
    }
  plan_key (reading);
}

/* The query for those of the first N columns that the table has, which are all that its records have. To be freed. */
static char *
plan_query (LnsForeignReading *reading, unsigned n)
{
  sqlite3_str *query = sqlite3_str_new (NULL);
  LnsRecordPlan *plan = &reading->plan;

  *plan = (LnsRecordPlan){ 0 };
  sqlite3_str_appendall (query, "SELECT lns_rows (");
  for (unsigned i = 0; i < n; i++)
    if (lns_foreign_use_column (reading->table, reading->columns[i]))
      {
        sqlite3_str_appendf (query, plan->n_stored > 0 ? ", \"%w\"" : "\"%w\"",
                             reading->columns[i]);
        plan->place[plan->n_stored++] = (int)i;
      }
  sqlite3_str_appendf (query, ") FROM \"%w\"", reading->table->name);
  plan_key (reading);
  return sqlite3_str_finish (query);
}

/* ---- From SQLite ----------------------------------------------------------------------------- */

static LnsKeptValue
value_of (sqlite3_value *value)
{
  LnsKeptValue kept = { .type = LNS_KEPT_NULL };

  switch (sqlite3_value_type (value))
    {
    case SQLITE_INTEGER:
      kept.type = LNS_KEPT_INTEGER;
      kept.integer = sqlite3_value_int64 (value);
      break;
    case SQLITE_FLOAT:
      kept.type = LNS_KEPT_REAL;
      kept.real = sqlite3_value_double (value);
      break;
    case SQLITE_TEXT:
      kept.type = LNS_KEPT_TEXT;
      kept.bytes = (const char *)sqlite3_value_text (value);
      break;
    case SQLITE_BLOB:
      kept.type = LNS_KEPT_BLOB;
      kept.bytes = sqlite3_value_blob (value);
      break;
    default:
      break;
    }
  if (kept.type == LNS_KEPT_TEXT || kept.type == LNS_KEPT_BLOB)
    kept.size_bytes = kept.bytes != NULL ? (size_t)sqlite3_value_bytes (value) : 0;
  return kept;
}

static void
row_cb (sqlite3_context *context, int n, sqlite3_value **values)
{
  LnsForeignReading *reading = sqlite3_user_data (context);
  LnsKeptValue kept[COLUMNS_MAX];

  for (int i = 0; i < n && i < COLUMNS_MAX; i++)
    kept[i] = value_of (values[i]);
  lns_buffer_reset (&reading->record);
  _lns_record_encode (&reading->record, kept, (unsigned)n);
  const LnsForeignRow row = { .record = reading->record.bytes,
                              .size_bytes = reading->record.size_bytes };
  if (reading->record.failed)
    lns_out_of_memory ();
  if (!reading->accept (reading, &row))
    sqlite3_result_error_code (context, SQLITE_ABORT);
}

static void
final_cb (sqlite3_context *context)
{
}

/* Gives the connection the function by which READING gets its rows, or with NULL takes it away. */
static int
set_function (LnsForeign *foreign, LnsForeignReading *reading)
{
  return sqlite3_create_function (
      foreign->db, "lns_rows", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, reading,
      NULL, reading != NULL ? row_cb : NULL, reading != NULL ? final_cb : NULL);
}

/* Reads rows with the first N columns by a query. False where the reader's error says why, or `accept` ended it. */
static bool
read_query (LnsForeignReading *reading, unsigned n)
{
  LnsForeign *foreign = reading->foreign;
  char *query = plan_query (reading, n);
  sqlite3_stmt *rows = NULL;
  int code = query != NULL ? set_function (foreign, reading) : SQLITE_NOMEM;

  if (code == SQLITE_OK)
    code = sqlite3_prepare_v2 (foreign->db, query, -1, &rows, NULL);
  while (code == SQLITE_OK || code == SQLITE_ROW)
    code = sqlite3_step (rows);
  if (code != SQLITE_DONE && code != SQLITE_ABORT)
    _lns_foreign_fail_code (foreign, code, sqlite3_errmsg (foreign->db), &reading->error);
  sqlite3_finalize (rows);
  set_function (foreign, NULL);
  sqlite3_free (query);
  return code == SQLITE_DONE;
}

/* The same, off the file's pages if possible. */
static bool
read_table (LnsForeignReading *reading, unsigned n, AcceptFunc accept)
{
  LnsForeign *foreign = reading->foreign;
  LnsForeignPages pages;
  LnsForeignRow row;
  bool goes_on = true;
  int code = SQLITE_DONE;

  reading->accept = accept;
  if (!_lns_foreign_pages_begin (&pages, foreign, reading->table))
    {
      _lns_foreign_pages_clear (&pages);
      return read_query (reading, n);
    }
  plan_stored (reading, n);
  while (goes_on && (code = _lns_foreign_pages_next (&pages, &row)) == SQLITE_ROW)
    {
      if (_lns_foreign_is_cancelled (foreign))
        code = SQLITE_INTERRUPT;
      goes_on = code == SQLITE_ROW && accept (reading, &row);
    }
  if (code != SQLITE_DONE && code != SQLITE_ROW)
    _lns_foreign_fail_code (foreign, code, sqlite3_errstr (code), &reading->error);
  _lns_foreign_pages_clear (&pages);
  return code == SQLITE_DONE;
}

/* ---- The reader ------------------------------------------------------------------------------ */

/* Hands the batch over, and begins the next. False where no more rows are wanted. */
static bool
next_batch (LnsForeignReading *reading)
{
  const bool goes_on = _lns_queue_fill (&reading->queue);

  reading->filling = &reading->batches[reading->queue.n_filled % LNS_QUEUE_SLOTS];
  reading->filling->n_rows = 0;
  lns_buffer_reset (&reading->filling->bytes);
  if (!goes_on || !_lns_foreign_is_cancelled (reading->foreign))
    return goes_on;
  return _lns_foreign_fail_code (reading->foreign, SQLITE_INTERRUPT, "", &reading->error);
}

/* Puts a row into the batch. */
static bool
give_row (void *data, const LnsForeignHead *head, const uint8_t *record)
{
  LnsForeignReading *reading = data;

  if (reading->filling->bytes.size_bytes >= BATCH_BYTES && !next_batch (reading))
    return false;
  _lns_foreign_put_row (&reading->filling->bytes, head, record);
  reading->filling->n_rows++;
  return true;
}

static int64_t
number_or (const LnsKeptValue *value, int64_t otherwise)
{
  if (value->type == LNS_KEPT_INTEGER)
    return value->integer;
  return value->type == LNS_KEPT_REAL && value->real > -0x1p62 && value->real < 0x1p62
             ? (int64_t)value->real
             : otherwise;
}

/* Where ROW belongs; what has no end ends last. False where it is damaged. */
static bool
key_of (LnsForeignReading *reading, const LnsForeignRow *row, LnsForeignKey *ret_key)
{
  LnsKeptValue values[LNS_FOREIGN_BY_START_AND_END];

  values[0].type = values[1].type = LNS_KEPT_NULL;
  if (!_lns_record_decode (&reading->key_plan, row->record, row->size_bytes, row->rowid, values))
    return _lns_foreign_fail_code (reading->foreign, SQLITE_CORRUPT,
                                   sqlite3_errstr (SQLITE_CORRUPT), &reading->error);
  *ret_key =
      (LnsForeignKey){ number_or (&values[0], INT64_MIN), number_or (&values[1], INT64_MAX) };
  return true;
}

/* Looks at how much order there is, until the window is too small. */
static bool
look_at_row (LnsForeignReading *reading, const LnsForeignRow *row)
{
  LnsForeignKey key;

  if (!key_of (reading, row, &key))
    return false;
  _lns_rows_look (&reading->look, key);
  return reading->look.window <= LNS_SORT_WINDOW;
}

static bool
take_row (LnsForeignReading *reading, const LnsForeignRow *row)
{
  LnsForeignHead head = { .rowid = row->rowid, .size_bytes = row->size_bytes };

  reading->n_rows++;
  if (reading->sort == NULL)
    return give_row (reading, &head, row->record);
  return key_of (reading, row, &head.key) &&
         _lns_foreign_sort_add (reading->sort, &head, row->record, &reading->error);
}

/* Whether the reader's error is none yet. */
static bool
is_well (const LnsForeignReading *reading)
{
  return reading->error.domain == LNS_ERROR_NONE;
}

static bool
read_in_order (LnsForeignReading *reading)
{
  if (reading->n_keys > 0)
    {
      read_table (reading, reading->n_keys, look_at_row);
      if (!is_well (reading))
        return false;
      if (reading->look.window > 0)
        reading->sort =
            _lns_foreign_sort_new (reading->look.window, reading->foreign->name, give_row, reading);
    }
  return read_table (reading, reading->n_columns, take_row) &&
         (reading->sort == NULL || _lns_foreign_sort_finish (reading->sort, &reading->error));
}

static void *
read_thread (void *data)
{
  LnsForeignReading *reading = data;

  reading->is_good = read_in_order (reading);
  _lns_queue_end (&reading->queue, reading->filling->n_rows > 0);
  return NULL;
}

/* ---- Who takes the rows ---------------------------------------------------------------------- */

/* Calls FUNC for the rows of BATCH. False where it ended them, or with ERROR where one is damaged. */
static bool
take_batch (LnsForeignReading *reading,
            const Batch *batch,
            LnsKeptValue *values,
            LnsForeignRowFunc func,
            void *data,
            LnsError *error)
{
  const uint8_t *at = batch->bytes.bytes;

  for (uint32_t i = 0; i < batch->n_rows; i++)
    {
      const LnsForeignHead *head = (const LnsForeignHead *)at;
      at += sizeof *head;
      if (!_lns_record_decode (&reading->plan, at, head->size_bytes, head->rowid, values))
        return _lns_foreign_fail_code (reading->foreign, SQLITE_CORRUPT,
                                       sqlite3_errstr (SQLITE_CORRUPT), error);
      if (!func (data, values))
        return false;
      at += _lns_foreign_padded (head->size_bytes);
    }
  return true;
}

/* Calls FUNC for all rows. False where it ended them, or with ERROR. */
static bool
take_rows (LnsForeignReading *reading, LnsForeignRowFunc func, void *data, LnsError *error)
{
  bool goes_on = true;
  LnsKeptValue values[COLUMNS_MAX];

  /* Columns that the records do not have stay NULL.                                              */
  for (unsigned i = 0; i < reading->n_columns; i++)
    values[i] = (LnsKeptValue){ .type = LNS_KEPT_NULL };
  while (goes_on && _lns_queue_wait (&reading->queue))
    {
      goes_on = take_batch (reading, &reading->batches[reading->queue.n_emptied % LNS_QUEUE_SLOTS],
                            values, func, data, error);
      _lns_queue_empty (&reading->queue, goes_on);
    }
  return goes_on;
}

static void
clear (LnsForeignReading *reading)
{
  for (unsigned i = 0; i < LNS_QUEUE_SLOTS; i++)
    lns_buffer_clear (&reading->batches[i].bytes);
  lns_buffer_clear (&reading->record);
  _lns_foreign_sort_free (reading->sort);
  _lns_queue_clear (&reading->queue);
}

bool
lns_foreign_read (LnsForeign *foreign,
                  LnsForeignTable *table,
                  const char *const *columns,
                  unsigned n_columns,
                  LnsForeignOrder order,
                  LnsForeignRowFunc func,
                  void *data,
                  LnsError *error)
{
  LnsForeignReading reading = {
    .foreign = foreign, .table = table, .columns = columns, .n_columns = n_columns, .n_keys = order
  };
  pthread_t thread;

  for (unsigned i = 0; i < n_columns; i++)
    lns_foreign_use_column (table, columns[i]);
  reading.filling = &reading.batches[0];
  _lns_queue_init (&reading.queue);
  const int code = pthread_create (&thread, NULL, read_thread, &reading);
  bool good = code == 0;
  if (good)
    {
      good = take_rows (&reading, func, data, error);
      pthread_join (thread, NULL);
      if (good && !reading.is_good)
        good = lns_error_set (error, reading.error.domain, reading.error.code, "%s",
                              reading.error.message);
      if (good)
        table->n_rows = reading.n_rows;
    }
  else
    lns_error_set_errno (error, code, "%s: cannot start a thread to read it", foreign->name);
  clear (&reading);
  return good;
}
