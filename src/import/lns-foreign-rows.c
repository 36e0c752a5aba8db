/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows in batches: SQLite reads on a thread of its own, while the caller works on what was read before. The
 * rows are the arguments of an aggregate function: so SQLite hands each over without a return to who steps
 * it, which takes three fifths of the time. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/lns-buffer.h"
#include "src/import/lns-foreign-private.h"

#define N_BATCHES   4
#define BATCH_BYTES ((size_t)64 * 1024)
#define COLUMNS_MAX 100

/* Rows, packed: a byte with the type of each value (LnsKeptType), then 8 bytes of each that is not NULL,
 * which for text and blobs are their size, with these and a NUL behind. */
typedef struct
{
  LnsBuffer bytes;
  uint32_t n_rows;
} Batch;

typedef struct LnsForeignReading
{
  LnsForeign *foreign;
  sqlite3_stmt *rows;
  unsigned n_columns;
  unsigned n_there,
      place[COLUMNS_MAX]; /* of what SQLite hands over, among the columns            */
  Batch batches[N_BATCHES];
  Batch *filling;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned n_filled, n_emptied; /* batches so far                                                */
  bool is_done, is_good;        /* the reader has ended, and how                                 */
  bool is_ended;                /* by who takes the rows                                         */
} LnsForeignReading;

/* ---- The reader ------------------------------------------------------------------------------ */

/* Hands the batch over, and waits for an empty one. False where no more rows are wanted. */
static bool
next_batch (LnsForeignReading *reading)
{
  pthread_mutex_lock (&reading->lock);
  reading->n_filled++;
  pthread_cond_signal (&reading->changed);
  while (reading->n_filled - reading->n_emptied == N_BATCHES && !reading->is_ended)
    pthread_cond_wait (&reading->changed, &reading->lock);
  bool goes_on = !reading->is_ended;
  pthread_mutex_unlock (&reading->lock);
  reading->filling = &reading->batches[reading->n_filled % N_BATCHES];
  reading->filling->n_rows = 0;
  lns_buffer_reset (&reading->filling->bytes);
  return goes_on;
}

/* Packs SIZE_BYTES of DATA at AT of BYTES; leaves room for as many words as there may be columns behind. Where it
 * ends. */
static size_t
pack_bytes (LnsBuffer *bytes, size_t at, const void *data, uint64_t size_bytes)
{
  bytes->size_bytes = at;
  if (lns_buffer_reserve (bytes, size_bytes + 1 + sizeof size_bytes * (COLUMNS_MAX + 1)) == NULL)
    return at;
  uint8_t *to = bytes->bytes + at;
  memcpy (to, &size_bytes, sizeof size_bytes);
  if (size_bytes > 0)
    memcpy (to + sizeof size_bytes, data, size_bytes);
  to[sizeof size_bytes + size_bytes] = '\0';
  return at + sizeof size_bytes + size_bytes + 1;
}

/* Packs what VALUE holds beside its type at AT of BYTES, where there is room for a word. Where it ends. */
static size_t
pack_value (LnsBuffer *bytes, size_t at, sqlite3_value *value, LnsKeptType *ret_type)
{
  uint64_t word;
  double real;
  const void *data;

  switch (sqlite3_value_type (value))
    {
    case SQLITE_INTEGER:
      *ret_type = LNS_KEPT_INTEGER;
      word = (uint64_t)sqlite3_value_int64 (value);
      break;
    case SQLITE_NULL:
      *ret_type = LNS_KEPT_NULL;
      return at;
    case SQLITE_FLOAT:
      *ret_type = LNS_KEPT_REAL;
      real = sqlite3_value_double (value);
      memcpy (&word, &real, sizeof word);
      break;
    case SQLITE_TEXT:
      *ret_type = LNS_KEPT_TEXT;
      data = sqlite3_value_text (value);
      word = data != NULL ? (uint64_t)sqlite3_value_bytes (value) : 0;
      return pack_bytes (bytes, at, data, word);
    default:
      *ret_type = LNS_KEPT_BLOB;
      data = sqlite3_value_blob (value);
      word = data != NULL ? (uint64_t)sqlite3_value_bytes (value) : 0;
      return pack_bytes (bytes, at, data, word);
    }
  memcpy (bytes->bytes + at, &word, sizeof word);
  return at + sizeof word;
}

static void
row_cb (sqlite3_context *context, int n, sqlite3_value **values)
{
  const LnsForeign *foreign = sqlite3_user_data (context);
  LnsForeignReading *reading = foreign->reading;

  if (reading->filling->bytes.size_bytes >= BATCH_BYTES && !next_batch (reading))
    {
      sqlite3_result_error (context, "ended", -1);
      return;
    }
  LnsBuffer *bytes = &reading->filling->bytes;
  const size_t types = bytes->size_bytes;
  size_t at = types + (size_t)n;
  if (lns_buffer_reserve (bytes, (size_t)n * (1 + sizeof (uint64_t))) != NULL)
    for (int i = 0; i < n && !bytes->failed; i++)
      {
        LnsKeptType type;
        at = pack_value (bytes, at, values[i], &type);
        bytes->bytes[types + (size_t)i] = (uint8_t)type;
      }
  if (bytes->failed)
    {
      sqlite3_result_error_nomem (context);
      return;
    }
  bytes->size_bytes = at;
  reading->filling->n_rows++;
}

static void
final_cb (sqlite3_context *context)
{
}

/* The aggregate lns_ordered (start, end): ends the query at the first row that starts before the one ahead of
 * it, or with it and ends later. */
typedef struct
{
  int64_t start_ns, end_ns;
  bool is_used;
} Last;

static void
ordered_cb (sqlite3_context *context, int n, sqlite3_value **values)
{
  Last *last = sqlite3_aggregate_context (context, sizeof *last);
  int64_t start_ns = sqlite3_value_int64 (values[0]), end_ns = INT64_MAX;

  if (last == NULL)
    {
      sqlite3_result_error_nomem (context);
      return;
    }
  if (sqlite3_value_type (values[1]) == SQLITE_INTEGER)
    end_ns = sqlite3_value_int64 (values[1]);
  if (last->is_used &&
      (start_ns < last->start_ns || (start_ns == last->start_ns && end_ns > last->end_ns)))
    sqlite3_result_error_code (context, SQLITE_MISMATCH);
  *last = (Last){ start_ns, end_ns, true };
}

bool
lns_foreign_is_ordered (LnsForeign *foreign,
                        LnsForeignTable *table,
                        const char *start,
                        const char *end,
                        bool *ret_is_ordered,
                        LnsError *error)
{
  char *query =
      lns_foreign_has_column (table, end)
          ? sqlite3_mprintf ("SELECT lns_ordered (\"%w\", \"%w\") FROM \"%w\"", start, end,
                             table->name)
          : sqlite3_mprintf ("SELECT lns_ordered (\"%w\", NULL) FROM \"%w\"", start, table->name);
  sqlite3_stmt *rows = NULL;
  int code =
      query != NULL ? sqlite3_prepare_v2 (foreign->db, query, -1, &rows, NULL) : SQLITE_NOMEM;

  if (code == SQLITE_OK)
    code = sqlite3_step (rows);
  *ret_is_ordered = code == SQLITE_ROW;
  bool good = code == SQLITE_ROW || code == SQLITE_MISMATCH || _lns_foreign_fail (foreign, error);
  sqlite3_finalize (rows);
  sqlite3_free (query);
  return good;
}

bool
_lns_foreign_add_functions (LnsForeign *foreign)
{
  const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;

  return sqlite3_create_function (foreign->db, "lns_rows", -1, flags, foreign, NULL, row_cb,
                                  final_cb) == SQLITE_OK &&
         sqlite3_create_function (foreign->db, "lns_ordered", 2, flags, NULL, NULL, ordered_cb,
                                  final_cb) == SQLITE_OK;
}

static void *
read_thread (void *data)
{
  LnsForeignReading *reading = data;
  int code;

  while ((code = sqlite3_step (reading->rows)) == SQLITE_ROW)
    ;
  pthread_mutex_lock (&reading->lock);
  reading->n_filled += reading->filling->n_rows > 0;
  reading->is_done = true;
  reading->is_good = code == SQLITE_DONE;
  pthread_cond_signal (&reading->changed);
  pthread_mutex_unlock (&reading->lock);
  return NULL;
}

/* ---- Who takes the rows ---------------------------------------------------------------------- */

/* Unpacks the row of READING at BYTES into VALUES. What comes behind it. */
static const uint8_t *
unpack_row (const LnsForeignReading *reading, const uint8_t *bytes, LnsKeptValue *values)
{
  const uint8_t *types = bytes;
  uint64_t word;

  bytes += reading->n_there;
  for (unsigned i = 0; i < reading->n_there; i++)
    {
      LnsKeptValue *value = &values[reading->place[i]];
      value->type = types[i];
      if (types[i] == LNS_KEPT_NULL)
        continue;
      memcpy (&word, bytes, sizeof word);
      bytes += sizeof word;
      if (types[i] == LNS_KEPT_TEXT || types[i] == LNS_KEPT_BLOB)
        {
          value->size_bytes = word;
          value->bytes = (const char *)bytes;
          bytes += word + 1;
        }
      else
        memcpy (&value->integer, &word, sizeof word);
    }
  return bytes;
}

/* Calls FUNC for all rows. False where it ended them. */
static bool
take_rows (LnsForeignReading *reading, LnsForeignRowFunc func, void *data)
{
  bool goes_on = true;
  LnsKeptValue values[COLUMNS_MAX];

  /* What SQLite does not hand over stays NULL.                                                    */
  for (unsigned i = 0; i < reading->n_columns; i++)
    values[i] = (LnsKeptValue){ .type = LNS_KEPT_NULL };
  for (;;)
    {
      pthread_mutex_lock (&reading->lock);
      while (reading->n_filled == reading->n_emptied && !reading->is_done)
        pthread_cond_wait (&reading->changed, &reading->lock);
      bool is_end = reading->n_filled == reading->n_emptied;
      pthread_mutex_unlock (&reading->lock);
      if (is_end || !goes_on)
        return goes_on;
      const Batch *batch = &reading->batches[reading->n_emptied % N_BATCHES];
      const uint8_t *bytes = batch->bytes.bytes;
      for (uint32_t i = 0; i < batch->n_rows && goes_on; i++)
        {
          bytes = unpack_row (reading, bytes, values);
          goes_on = func (data, values);
        }
      pthread_mutex_lock (&reading->lock);
      reading->n_emptied++;
      reading->is_ended = !goes_on;
      pthread_cond_signal (&reading->changed);
      pthread_mutex_unlock (&reading->lock);
    }
}

static void
init (LnsForeignReading *reading, LnsForeign *foreign)
{
  reading->foreign = foreign;
  reading->filling = &reading->batches[0];
  pthread_mutex_init (&reading->lock, NULL);
  pthread_cond_init (&reading->changed, NULL);
}

static void
clear (LnsForeignReading *reading)
{
  for (unsigned i = 0; i < N_BATCHES; i++)
    lns_buffer_clear (&reading->batches[i].bytes);
  sqlite3_finalize (reading->rows);
}

/* Appends FORMAT to TEXT (freed where memory ran out), as sqlite3_mprintf () does. */
static char *
append (char *text, const char *format, const char *argument)
{
  char *more = text != NULL ? sqlite3_mprintf (format, argument) : NULL,
       *result = more != NULL ? sqlite3_mprintf ("%s%s", text, more) : NULL;

  sqlite3_free (more);
  sqlite3_free (text);
  return result;
}

/* The query for the columns that are there, to be freed; NULL without memory. */
static char *
make_query (LnsForeignReading *reading,
            LnsForeignTable *table,
            const char *const *columns,
            const char *order)
{
  char *names = sqlite3_mprintf (""), *numbers = sqlite3_mprintf (""), *query = NULL;

  for (unsigned i = 0; i < reading->n_columns; i++)
    if (lns_foreign_has_column (table, columns[i]))
      {
        char number[16];
        snprintf (number, sizeof number, "c%u", i);
        names = append (names, reading->n_there > 0 ? ", \"%w\"" : "\"%w\"", columns[i]);
        numbers = append (numbers, reading->n_there > 0 ? ", %s" : "%s", number);
        reading->place[reading->n_there++] = i;
      }
  /* An order needs a query within; its columns are called by number.                              */
  if (names != NULL && numbers != NULL && order == NULL)
    query = sqlite3_mprintf ("SELECT lns_rows (%s) FROM \"%w\"", names, table->name);
  else if (names != NULL && numbers != NULL)
    query = sqlite3_mprintf ("WITH r (%s) AS (SELECT %s FROM \"%w\" %s LIMIT -1) "
                             "SELECT lns_rows (%s) FROM r",
                             numbers, names, table->name, order, numbers);
  sqlite3_free (names);
  sqlite3_free (numbers);
  return query;
}

bool
lns_foreign_read (LnsForeign *foreign,
                  LnsForeignTable *table,
                  const char *const *columns,
                  unsigned n_columns,
                  const char *order,
                  LnsForeignRowFunc func,
                  void *data,
                  LnsError *error)
{
  LnsForeignReading reading = { .n_columns = n_columns };
  pthread_t thread;
  bool goes_on = true;
  char *query = make_query (&reading, table, columns, order);

  if (query == NULL)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "%s: not enough memory to read it; close other programs", foreign->path);
  init (&reading, foreign);
  foreign->reading = &reading;
  bool good = sqlite3_prepare_v2 (foreign->db, query, -1, &reading.rows, NULL) == SQLITE_OK;
  if (good && (good = pthread_create (&thread, NULL, read_thread, &reading) == 0))
    {
      goes_on = take_rows (&reading, func, data);
      pthread_join (thread, NULL);
      good = reading.is_good;
    }
  if (!good && goes_on)
    _lns_foreign_fail (foreign, error);
  clear (&reading);
  sqlite3_free (query);
  return good && goes_on;
}
