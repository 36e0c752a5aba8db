/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "src/base/buffer.h"
#include "src/base/memory.h"
#include "src/import/nsys/foreign-pages.h"
#include "src/import/nsys/foreign-record.h"
#include "src/import/nsys/foreign-sort.h"
#include "src/import/nsys/queue.h"
#include "src/store/database/guarded-vfs.h"
#include "src/store/database/sql.h"

#define CACHE_KIB 8192
/* No file has more rows. */
#define MAX_ROWS       (INT64_C (1) << 40)
#define STEPS_PER_POLL 20000
#define BATCH_BYTES    ((size_t)64 * 1024)
#define COLUMNS_MAX    100

/* ---- Opening --------------------------------------------------------------------------------- */

static bool
is_cancelled (const LnsForeign *foreign)
{
  return foreign->cancel != NULL && atomic_load_explicit (foreign->cancel, memory_order_relaxed);
}

static int
cancel_cb (void *data)
{
  return is_cancelled (data);
}

/* Fills ERROR with a sentence about CODE of SQLite, which TEXT explains. Returns false. */
static bool
fail_code (LnsForeign *foreign, int code, const char *text, LnsError *error)
{
  if (is_cancelled (foreign))
    return lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: cancelled", foreign->name);
  if (code == SQLITE_NOMEM)
    lns_out_of_memory ();
  if (code == SQLITE_BUSY)
    return lns_error_set (
        error, LNS_ERROR_IO, 0,
        "%s: another program is writing to it; try again when that program has finished",
        foreign->name);
  /* SQLite would have to write to the file, to roll back what that program had begun. */
  if (code == SQLITE_READONLY)
    return lns_error_set (
        error, LNS_ERROR_FORMAT, 0,
        "%s: the program that wrote it was interrupted and left %s-journal; export it again with "
        "\"nsys export --type sqlite\"",
        foreign->name, foreign->name);
  return lns_error_set (
      error, LNS_ERROR_FORMAT, 0,
      "%s: cannot read this SQLite file: %s; export it again with \"nsys export --type sqlite\"",
      foreign->name, text);
}

/* Does the same for the last call of SQLite. */
static bool
fail (LnsForeign *foreign, LnsError *error)
{
  return fail_code (foreign, sqlite3_errcode (foreign->db), sqlite3_errmsg (foreign->db), error);
}

static bool
distrust (LnsForeign *foreign)
{
  sqlite3 *db = foreign->db;

  sqlite3_db_config (db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_limit (db, SQLITE_LIMIT_LENGTH, LNS_FOREIGN_VALUE_BYTES);
  sqlite3_progress_handler (db, STEPS_PER_POLL, cancel_cb, foreign);
  char pragmas[128];
  snprintf (pragmas, sizeof pragmas,
            "PRAGMA cache_size = -%d; PRAGMA cell_size_check = ON; PRAGMA temp_store = FILE; BEGIN",
            CACHE_KIB);
  return sqlite3_exec (db, pragmas, NULL, NULL, NULL) == SQLITE_OK;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Returns whether a column declared as TYPE converts integers to real numbers
 * (https://www.sqlite.org/datatype3.html). */
static bool
is_of_reals (const char *type)
{
  static const char *const others[] = { "INT", "CHAR", "CLOB", "TEXT", "BLOB" };

  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcasestr (type, others[i]) != NULL)
      return false;
  return strcasestr (type, "REAL") != NULL || strcasestr (type, "FLOA") != NULL ||
         strcasestr (type, "DOUB") != NULL;
}

/* The columns of list_tables ()'s query. */
enum
{
  TABLE_NAME,
  TABLE_ROOT,
  COLUMN_NAME,
  COLUMN_TYPE,
  COLUMN_NOT_NULL,
  COLUMN_KEY,
  COLUMN_HIDDEN,
  COLUMN_HAS_DEFAULT
};

static void
add_column (LnsForeignTable *table, sqlite3_stmt *row)
{
  const char *name = (const char *)sqlite3_column_text (row, COLUMN_NAME),
             *type = (const char *)sqlite3_column_text (row, COLUMN_TYPE);

  /* The tree lacks the values of computed columns, and the defaults of columns that were added later. */
  table->is_plain &= sqlite3_column_int (row, COLUMN_HIDDEN) == 0 &&
                     sqlite3_column_int (row, COLUMN_HAS_DEFAULT) == 0 &&
                     table->columns.n < LNS_RECORD_VALUES_MAX;
  if (name == NULL || sqlite3_column_int (row, COLUMN_HIDDEN) != 0)
    return;
  type = type != NULL ? type : "";
  *lns_array_add (&table->columns) = (LnsForeignColumn){
    .name = lns_strdup (name),
    .type = lns_strdup (type),
    .is_not_null = sqlite3_column_int (row, COLUMN_NOT_NULL) != 0,
    .is_real = is_of_reals (type),
    .is_rowid = sqlite3_column_int (row, COLUMN_KEY) == 1 && strcasecmp (type, "INTEGER") == 0,
  };
}

/* Returns the table of ROW, which describes one of its columns. */
static LnsForeignTable *
table_of (LnsForeign *foreign, sqlite3_stmt *row)
{
  const char *name = (const char *)sqlite3_column_text (row, TABLE_NAME);
  const size_t n = foreign->tables.n;

  if (name == NULL)
    lns_out_of_memory ();
  if (n > 0 && strcmp (foreign->tables.items[n - 1].name, name) == 0)
    return &foreign->tables.items[n - 1];
  LnsForeignTable *table = lns_array_add (&foreign->tables);
  *table = (LnsForeignTable){ .name = lns_strdup (name),
                              .root_page = (uint32_t)sqlite3_column_int64 (row, TABLE_ROOT),
                              .is_plain = true,
                              .n_rows = UINT64_MAX };
  return table;
}

/* Lists the columns of all tables except virtual ones, in one query. */
static bool
list_tables (LnsForeign *foreign, LnsError *error)
{
  sqlite3_stmt *rows = NULL;
  int code = sqlite3_prepare_v2 (
      foreign->db,
      "SELECT m.name, m.rootpage, c.name, c.type, c.\"notnull\", c.pk, c.hidden, "
      "c.dflt_value IS NOT NULL FROM sqlite_master m, pragma_table_xinfo (m.name) c "
      "WHERE m.type = 'table' AND m.rootpage > 0 AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
      "ORDER BY m.rowid, c.cid",
      -1, &rows, NULL);

  while (code == SQLITE_OK || code == SQLITE_ROW)
    if ((code = sqlite3_step (rows)) == SQLITE_ROW)
      add_column (table_of (foreign, rows), rows);
  if (code != SQLITE_DONE)
    fail (foreign, error);
  sqlite3_finalize (rows);
  return code == SQLITE_DONE;
}

/* Returns whether the file at PATH uses a write-ahead log that does not exist. SQLite would create it beside the
 * file. */
static bool
is_without_its_log (const char *path)
{
  unsigned char head[20] = { 0 };
  char *log = sqlite3_mprintf ("%s-wal", path);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  bool result = fd >= 0 && read (fd, head, sizeof head) == sizeof head && head[18] == 2 &&
                log != NULL && access (log, F_OK) != 0;

  if (fd >= 0)
    close (fd);
  sqlite3_free (log);
  return result;
}

LnsForeign *
lns_foreign_open (const char *path, const char *name, const atomic_bool *cancel, LnsError *error)
{
  LnsForeign *foreign = lns_calloc (1, sizeof *foreign);
  char *folder = lns_strdup (path), *slash = strrchr (folder, '/'),
       *uri = lns_sql_immutable_uri (path);
  bool good = true;

  foreign->name = lns_strdup (name);
  foreign->cancel = cancel;
  if (access (path, R_OK) != 0)
    good = lns_error_set_errno (error, errno, "%s: cannot open it", name);
  else if (!lns_beside_check (path, "-journal", error) || !lns_beside_check (path, "-wal", error) ||
           !lns_beside_check (path, "-shm", error))
    good = false;
  else
    {
      if (slash != NULL)
        slash[1] = '\0';
      /* If no journal can be rolled back and no lock can be taken, the file is opened as immutable: SQLite then waits
       * for no lock and creates nothing beside it. */
      bool is_fixed = uri != NULL && (access (slash != NULL ? folder : ".", W_OK) != 0 ||
                                      is_without_its_log (path) || !lns_sql_can_lock (path));
      int code = sqlite3_open_v2 (is_fixed ? uri : path, &foreign->db,
                                  SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX |
                                      (is_fixed ? SQLITE_OPEN_URI : 0),
                                  lns_guarded_vfs (LNS_GUARDED_EXPORT));
      good = (code == SQLITE_OK && distrust (foreign)) || fail (foreign, error);
      good = good && list_tables (foreign, error);
    }
  free (folder);
  free (uri);
  if (good)
    return foreign;
  lns_foreign_close (foreign);
  return NULL;
}

void
lns_foreign_close (LnsForeign *foreign)
{
  if (foreign == NULL)
    return;
  for (size_t i = 0; i < foreign->tables.n; i++)
    {
      LnsForeignTable *table = &foreign->tables.items[i];
      for (size_t c = 0; c < table->columns.n; c++)
        {
          free (table->columns.items[c].name);
          free (table->columns.items[c].type);
        }
      lns_array_clear (&table->columns);
      free (table->name);
    }
  lns_array_clear (&foreign->tables);
  sqlite3_close (foreign->db);
  free (foreign->name);
  free (foreign);
}

LnsForeignTable *
lns_foreign_tables (LnsForeign *foreign, unsigned *ret_n)
{
  *ret_n = (unsigned)foreign->tables.n;
  return foreign->tables.items;
}

LnsForeignTable *
lns_foreign_find (LnsForeign *foreign, const char *name)
{
  for (size_t i = 0; i < foreign->tables.n; i++)
    if (strcasecmp (foreign->tables.items[i].name, name) == 0)
      return &foreign->tables.items[i];
  return NULL;
}

LnsForeignColumn *
lns_foreign_column (const LnsForeignTable *table, const char *name)
{
  for (size_t i = 0; i < table->columns.n; i++)
    if (strcasecmp (table->columns.items[i].name, name) == 0)
      return &table->columns.items[i];
  return NULL;
}

bool
lns_foreign_use_column (LnsForeignTable *table, const char *name)
{
  LnsForeignColumn *column = lns_foreign_column (table, name);

  return column != NULL && (column->is_used = true);
}

/* Runs the query FORMAT, which gets the name of TABLE, for one number. Returns false if it fails. */
static bool
query_number (LnsForeign *foreign, const char *format, const LnsForeignTable *table, int64_t *ret_n)
{
  char *sql = sqlite3_mprintf (format, table->name);
  sqlite3_stmt *rows = NULL;
  const bool good = sql != NULL &&
                    sqlite3_prepare_v2 (foreign->db, sql, -1, &rows, NULL) == SQLITE_OK &&
                    sqlite3_step (rows) == SQLITE_ROW;

  if (good)
    *ret_n = sqlite3_column_int64 (rows, 0);
  sqlite3_finalize (rows);
  sqlite3_free (sql);
  return good;
}

uint64_t
lns_foreign_estimate (LnsForeign *foreign, const LnsForeignTable *table)
{
  int64_t n = 0;

  query_number (foreign, "SELECT max (rowid) FROM \"%w\"", table, &n);
  return n > 0 && n < MAX_ROWS ? (uint64_t)n : 0;
}

bool
lns_foreign_count (LnsForeign *foreign, LnsForeignTable *table, uint64_t *ret_n, LnsError *error)
{
  int64_t n = 0;

  if (table->n_rows == UINT64_MAX)
    {
      if (!query_number (foreign, "SELECT count (*) FROM \"%w\"", table, &n))
        return fail (foreign, error);
      table->n_rows = (uint64_t)n;
    }
  *ret_n = table->n_rows;
  return true;
}

/* ---- Reading rows ----------------------------------------------------------------------------
 *
 * Rows are read in batches: a thread reads them and brings them into order, while the caller works on the batches
 * before. They come off the file's pages where that is possible. Otherwise SQLite passes them to an aggregate function:
 * that takes half the time of stepping through them. */

/* Rows, each an LnsForeignHead, the record, and padding that aligns the next one. */
typedef struct
{
  LnsBuffer bytes;
  uint32_t n_rows;
} Batch;

typedef struct LnsForeignReading LnsForeignReading;

/* Called with each row. Returns false to end the reading. */
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

/* ---- Which values are read ------------------------------------------------------------------- */

/* Plans how the columns by which rows are ordered are decoded. */
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

/* Plans how the first N columns are decoded from records of the file. */
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

/* Plans a query for those of the first N columns that the table has; its records hold nothing else. Returns the query,
 * which the caller frees. */
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

/* Registers the SQL function that passes rows to READING, or removes it if READING is NULL. */
static int
set_function (LnsForeign *foreign, LnsForeignReading *reading)
{
  return sqlite3_create_function (
      foreign->db, "lns_rows", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, reading,
      NULL, reading != NULL ? row_cb : NULL, reading != NULL ? final_cb : NULL);
}

/* Reads rows with the first N columns by a query. Returns false if that fails (the reader's error says why) or `accept`
 * ended it. */
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
    fail_code (foreign, code, sqlite3_errmsg (foreign->db), &reading->error);
  sqlite3_finalize (rows);
  set_function (foreign, NULL);
  sqlite3_free (query);
  return code == SQLITE_DONE;
}

/* Does the same, off the file's pages if possible. */
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
      if (is_cancelled (foreign))
        code = SQLITE_INTERRUPT;
      goes_on = code == SQLITE_ROW && accept (reading, &row);
    }
  if (code != SQLITE_DONE && code != SQLITE_ROW)
    fail_code (foreign, code, sqlite3_errstr (code), &reading->error);
  _lns_foreign_pages_clear (&pages);
  return code == SQLITE_DONE;
}

/* ---- The reader ------------------------------------------------------------------------------ */

/* Hands the batch over and begins the next one. Returns false if no more rows are wanted. */
static bool
next_batch (LnsForeignReading *reading)
{
  const bool goes_on = _lns_queue_fill (&reading->queue);

  reading->filling = &reading->batches[reading->queue.n_filled % LNS_QUEUE_SLOTS];
  reading->filling->n_rows = 0;
  lns_buffer_reset (&reading->filling->bytes);
  if (!goes_on || !is_cancelled (reading->foreign))
    return goes_on;
  return fail_code (reading->foreign, SQLITE_INTERRUPT, "", &reading->error);
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

/* Reads the key of ROW. A row without an end is ordered as if it ended last. Returns false if the row is damaged. */
static bool
key_of (LnsForeignReading *reading, const LnsForeignRow *row, LnsForeignKey *ret_key)
{
  LnsKeptValue values[LNS_FOREIGN_BY_START_AND_END];

  values[0].type = values[1].type = LNS_KEPT_NULL;
  if (!_lns_record_decode (&reading->key_plan, row->record, row->size_bytes, row->rowid, values))
    return fail_code (reading->foreign, SQLITE_CORRUPT, sqlite3_errstr (SQLITE_CORRUPT),
                      &reading->error);
  *ret_key =
      (LnsForeignKey){ number_or (&values[0], INT64_MIN), number_or (&values[1], INT64_MAX) };
  return true;
}

/* Learns from ROW how much order there is. Returns false once no window is large enough. */
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

/* Returns whether the reader has not failed yet. */
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

/* ---- The caller's thread --------------------------------------------------------------------- */

/* Calls FUNC for the rows of BATCH. Returns false if FUNC ended the reading, or fills ERROR if a row is damaged. */
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
        return fail_code (reading->foreign, SQLITE_CORRUPT, sqlite3_errstr (SQLITE_CORRUPT), error);
      if (!func (data, values))
        return false;
      at += _lns_foreign_padded (head->size_bytes);
    }
  return true;
}

/* Calls FUNC for all rows. Returns false if FUNC ended the reading, or fills ERROR. */
static bool
take_rows (LnsForeignReading *reading, LnsForeignRowFunc func, void *data, LnsError *error)
{
  bool goes_on = true;
  LnsKeptValue values[COLUMNS_MAX];

  /* Columns that the records lack stay NULL. */
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
