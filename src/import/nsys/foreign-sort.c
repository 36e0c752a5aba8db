/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/foreign-sort.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/heap.h"
#include "src/base/memory.h"
#include "src/base/terminal.h"

#define RUN_BYTES  ((size_t)16 << 20) /* of rows, in each of two memories                         */
#define READ_BYTES ((size_t)128 << 10) /* of each run, when they are merged                       */
#define OUT_BYTES  ((size_t)1 << 20)
#define GIVEN_ROWS 8192 /* of a window, at once                                                   */

/* The offset of a row in `rows`, with its key. */
typedef struct
{
  LnsForeignKey key;
  uint64_t at;
} Place;

typedef LNS_ARRAY (Place) Places;

/* Rows in memory, in the order in which they came. */
typedef struct
{
  LnsBuffer rows; /* head, record, head, record, …                                               */
  Places places;
} Memory;

/* A sorted run of rows in the temporary file. */
typedef struct
{
  uint64_t next, end; /* the bytes of the file that `rows` does not have yet                     */
  LnsBuffer rows;     /* given up to `at`                                                        */
  size_t at;
  LnsForeignKey key; /* of the row at `at`                                                       */
} Run;

struct LnsForeignSort
{
  const char *path; /* borrowed                                                                  */
  LnsForeignGiveFunc give;
  void *data;
  uint32_t window; /* 0: rows are written                                                        */
  Memory memories[2]; /* the one that is filled, and the one that is written or comes next       */
  Memory *filling;
  Places others; /* of the memory that is being sorted: room for its places in another order     */
  int file;      /* -1: none yet                                                                 */
  uint64_t file_bytes;
  LnsBuffer out; /* rows that are written next                                                   */
  pthread_t writer; /* of the last run                                                           */
  bool is_writing;
  LnsError error; /* of the writer                                                               */
  LNS_ARRAY (Run) runs;
  unsigned *heap;  /* owned; of runs, the one with the first row on top                           */
  unsigned n_left; /* in it                                                                      */
};

/* --- How much order there is ------------------------------------------------------------------ */

#define STEP (LNS_SORT_WINDOW / LNS_SORT_WINDOW_STEPS)

/* Returns the smallest window, in whole steps, such that no row before it belongs behind KEY. */
static uint32_t
window_of (const LnsRowsLook *look, LnsForeignKey key)
{
  const uint64_t n_steps = look->n_rows / STEP;

  for (uint32_t n = 1; n <= LNS_SORT_WINDOW_STEPS; n++)
    if (n > n_steps ||
        !_lns_foreign_key_precedes (key, look->before[(n_steps - n) % LNS_SORT_WINDOW_STEPS]))
      return n * STEP;
  return UINT32_MAX;
}

void
_lns_rows_look (LnsRowsLook *look, LnsForeignKey key)
{
  if (look->n_rows == 0 || !_lns_foreign_key_precedes (key, look->highest))
    look->highest = key;
  else
    {
      const uint32_t window = window_of (look, key);
      look->window = window > look->window ? window : look->window;
    }
  if (++look->n_rows % STEP == 0)
    look->before[(look->n_rows / STEP - 1) % LNS_SORT_WINDOW_STEPS] = look->highest;
}

/* --- In memory -------------------------------------------------------------------------------- */

/* Returns the end of the ordered rows that begin at FIRST. */
static size_t
end_of_ordered (const Place *places, size_t first, size_t n)
{
  size_t i = first + 1;

  while (i < n && !_lns_foreign_key_precedes (places[i].key, places[i - 1].key))
    i++;
  return i < n ? i : n;
}

static void
merge_two (Place *to, const Place *a, const Place *a_end, const Place *b, const Place *b_end)
{
  while (a < a_end && b < b_end)
    *to++ = _lns_foreign_key_precedes (b->key, a->key) ? *b++ : *a++;
  memcpy (to, a, (size_t)(a_end - a) * sizeof *a);
  memcpy (to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

/* A merge sort that starts from the runs that are already in order, so that a few misplaced rows cost little. */
static void
sort_places (LnsForeignSort *sort, Memory *memory)
{
  const size_t n = memory->places.n;

  while (n > 0 && end_of_ordered (memory->places.items, 0, n) < n)
    {
      const Place *from = memory->places.items;
      if (sort->others.n_allocated < n)
        sort->others.items =
            lns_realloc (sort->others.items, sort->others.n_allocated = n, sizeof (Place));
      for (size_t first = 0; first < n;)
        {
          const size_t middle = end_of_ordered (from, first, n),
                       end = middle < n ? end_of_ordered (from, middle, n) : n;
          merge_two (sort->others.items + first, from + first, from + middle, from + middle,
                     from + end);
          first = end;
        }
      const Places sorted = sort->others;
      sort->others = memory->places;
      memory->places = sorted;
      memory->places.n = n;
    }
}

void
_lns_foreign_put_row (LnsBuffer *rows, const LnsForeignHead *head, const uint8_t *record)
{
  const size_t size_bytes = sizeof *head + _lns_foreign_padded (head->size_bytes);
  uint8_t *to = lns_buffer_reserve (rows, size_bytes);

  if (to == NULL)
    lns_out_of_memory ();
  memcpy (to, head, sizeof *head);
  memcpy (to + sizeof *head, record, head->size_bytes);
  rows->size_bytes += size_bytes;
}

static const LnsForeignHead *
head_at (const Memory *memory, size_t i)
{
  return (const LnsForeignHead *)(memory->rows.bytes + memory->places.items[i].at);
}

static void
keep_row (LnsForeignSort *sort, const LnsForeignHead *head, const uint8_t *record)
{
  Memory *memory = sort->filling;

  *lns_array_add (&memory->places) = (Place){ head->key, memory->rows.size_bytes };
  _lns_foreign_put_row (&memory->rows, head, record);
}

/* Makes the other memory the one that is filled. */
static void
change_memory (LnsForeignSort *sort)
{
  sort->filling = &sort->memories[sort->filling == sort->memories];
  sort->filling->places.n = 0;
  lns_buffer_reset (&sort->filling->rows);
}

/* Gives the first N rows in order. Moves the others to the other memory. */
static bool
give_first (LnsForeignSort *sort, size_t n)
{
  Memory *memory = sort->filling;

  sort_places (sort, memory);
  for (size_t i = 0; i < n; i++)
    {
      const LnsForeignHead *head = head_at (memory, i);
      if (!sort->give (sort->data, head, (const uint8_t *)(head + 1)))
        return false;
    }
  change_memory (sort);
  for (size_t i = n; i < memory->places.n; i++)
    {
      const LnsForeignHead *head = head_at (memory, i);
      keep_row (sort, head, (const uint8_t *)(head + 1));
    }
  return true;
}

/* --- In the temporary folder ------------------------------------------------------------------ */

static bool
fail_file (const LnsForeignSort *sort, LnsError *error, int code, const char *what)
{
  return lns_error_set_errno (error, code,
                              "%s: cannot %s the temporary folder, where its rows are sorted; set "
                              "TMPDIR to another folder",
                              sort->path, what);
}

static bool
open_file (LnsForeignSort *sort, LnsError *error)
{
  const char *folder = getenv ("TMPDIR");
  char name[512];

  snprintf (name, sizeof name, "%.400s/lanescope-sort-XXXXXX",
            folder != NULL && folder[0] == '/' ? folder : "/var/tmp");
  sort->file = mkostemp (name, O_CLOEXEC);
  if (sort->file < 0)
    return fail_file (sort, error, errno, "write to");
  unlink (name); /* the file goes when the process does                                           */
  return true;
}

static bool
write_out (LnsForeignSort *sort, LnsError *error)
{
  const int code = lns_write_all (sort->file, sort->out.bytes, sort->out.size_bytes);

  sort->file_bytes += sort->out.size_bytes;
  lns_buffer_reset (&sort->out);
  return code == 0 || fail_file (sort, error, code, "write to");
}

/* Writes the rows of MEMORY as the last run. */
static bool
write_memory (LnsForeignSort *sort, Memory *memory, LnsError *error)
{
  Run *run = &sort->runs.items[sort->runs.n - 1];

  sort_places (sort, memory);
  run->next = sort->file_bytes;
  run->end = run->next + memory->rows.size_bytes;
  for (size_t i = 0; i < memory->places.n; i++)
    {
      const LnsForeignHead *head = head_at (memory, i);
      _lns_foreign_put_row (&sort->out, head, (const uint8_t *)(head + 1));
      if (sort->out.size_bytes >= OUT_BYTES && !write_out (sort, error))
        return false;
    }
  return write_out (sort, error);
}

static void *
write_thread (void *data)
{
  LnsForeignSort *sort = data;

  write_memory (sort, &sort->memories[sort->filling == sort->memories], &sort->error);
  return NULL;
}

/* Waits for the run that is being written. */
static bool
end_writing (LnsForeignSort *sort, LnsError *error)
{
  if (sort->is_writing)
    pthread_join (sort->writer, NULL);
  sort->is_writing = false;
  return sort->error.domain == LNS_ERROR_NONE ||
         lns_error_set (error, sort->error.domain, sort->error.code, "%s", sort->error.message);
}

/* Makes a run of the rows in memory: a thread sorts and writes them while the other memory is filled. */
static bool
begin_run (LnsForeignSort *sort, LnsError *error)
{
  if (!end_writing (sort, error) || (sort->file < 0 && !open_file (sort, error)))
    return false;
  *lns_array_add (&sort->runs) = (Run){ 0 };
  Memory *full = sort->filling;
  change_memory (sort);
  sort->is_writing = pthread_create (&sort->writer, NULL, write_thread, sort) == 0;
  return sort->is_writing || write_memory (sort, full, error);
}

/* --- Merging ---------------------------------------------------------------------------------- */

/* Makes sure that SIZE_BYTES of RUN from `at` on are in memory. */
static bool
load (LnsForeignSort *sort, Run *run, size_t size_bytes, LnsError *error)
{
  const size_t n_here = run->rows.size_bytes - run->at;

  if (n_here >= size_bytes)
    return true;
  if (n_here > 0)
    memmove (run->rows.bytes, run->rows.bytes + run->at, n_here);
  run->rows.size_bytes = n_here;
  run->at = 0;
  while (run->rows.size_bytes < size_bytes)
    {
      const uint64_t left = run->end - run->next;
      const size_t wanted =
          size_bytes > READ_BYTES ? size_bytes - run->rows.size_bytes : READ_BYTES;
      uint8_t *to = lns_buffer_reserve (&run->rows, wanted);
      if (to == NULL)
        lns_out_of_memory ();
      const ssize_t n =
          pread (sort->file, to, left < wanted ? (size_t)left : wanted, (off_t)run->next);
      if (n <= 0)
        return fail_file (sort, error, n < 0 ? errno : EIO, "read from");
      run->rows.size_bytes += (size_t)n;
      run->next += (uint64_t)n;
    }
  return true;
}

/* Reads the key of the next row of RUN. The row itself, which may be long, is read when its turn comes. */
static bool
enter_row (LnsForeignSort *sort, Run *run, LnsError *error)
{
  if (!load (sort, run, sizeof (LnsForeignHead), error))
    return false;
  run->key = ((const LnsForeignHead *)(run->rows.bytes + run->at))->key;
  return true;
}

/* Passes on the row of RUN that was entered last, and moves behind it. */
static bool
give_row (LnsForeignSort *sort, Run *run, LnsError *error)
{
  const LnsForeignHead *head = (const LnsForeignHead *)(run->rows.bytes + run->at);
  const size_t size_bytes = sizeof *head + _lns_foreign_padded (head->size_bytes);

  if (!load (sort, run, size_bytes, error))
    return false;
  head = (const LnsForeignHead *)(run->rows.bytes + run->at);
  if (!sort->give (sort->data, head, (const uint8_t *)(head + 1)))
    return false;
  run->at += size_bytes;
  /* The memory of a long row is given back. */
  if (run->at == run->rows.size_bytes && size_bytes > READ_BYTES)
    {
      lns_buffer_clear (&run->rows);
      run->at = 0;
    }
  return true;
}

static bool
is_before (const LnsForeignSort *sort, unsigned a, unsigned b)
{
  const LnsForeignKey key_a = sort->runs.items[a].key, key_b = sort->runs.items[b].key;

  return _lns_foreign_key_precedes (key_a, key_b) ||
         (!_lns_foreign_key_precedes (key_b, key_a) && a < b);
}

/* Frees the memory in which runs are made. */
static void
clear_memory (LnsForeignSort *sort)
{
  for (int i = 0; i < 2; i++)
    {
      lns_array_clear (&sort->memories[i].places);
      lns_buffer_clear (&sort->memories[i].rows);
    }
  lns_array_clear (&sort->others);
  lns_buffer_clear (&sort->out);
}

static bool
merge_runs (LnsForeignSort *sort, LnsError *error)
{
  if (!end_writing (sort, error))
    return false;
  clear_memory (sort);
  sort->heap = lns_calloc (sort->runs.n, sizeof *sort->heap);
  for (unsigned i = 0; i < sort->runs.n; i++)
    {
      if (!enter_row (sort, &sort->runs.items[i], error))
        return false;
      sort->heap[sort->n_left++] = i;
    }
  for (unsigned i = sort->n_left / 2; i-- > 0;)
    LNS_HEAP_SINK (sort->heap, sort->n_left, i, a, b, is_before (sort, *a, *b));
  while (sort->n_left > 0)
    {
      Run *run = &sort->runs.items[sort->heap[0]];
      if (!give_row (sort, run, error))
        return false;
      if (run->next == run->end && run->at == run->rows.size_bytes)
        sort->heap[0] = sort->heap[--sort->n_left];
      else if (!enter_row (sort, run, error))
        return false;
      LNS_HEAP_SINK (sort->heap, sort->n_left, 0, a, b, is_before (sort, *a, *b));
    }
  return true;
}

/* --- The sort --------------------------------------------------------------------------------- */

LnsForeignSort *
_lns_foreign_sort_new (uint32_t window, const char *path, LnsForeignGiveFunc give, void *data)
{
  LnsForeignSort *sort = lns_calloc (1, sizeof *sort);

  sort->path = path;
  sort->give = give;
  sort->data = data;
  sort->window = window <= LNS_SORT_WINDOW ? window : 0;
  sort->filling = sort->memories;
  sort->file = -1;
  return sort;
}

void
_lns_foreign_sort_free (LnsForeignSort *sort)
{
  if (sort == NULL)
    return;
  end_writing (sort, NULL);
  for (size_t i = 0; i < sort->runs.n; i++)
    lns_buffer_clear (&sort->runs.items[i].rows);
  lns_array_clear (&sort->runs);
  free (sort->heap);
  clear_memory (sort);
  if (sort->file >= 0)
    close (sort->file);
  free (sort);
}

bool
_lns_foreign_sort_add (LnsForeignSort *sort,
                       const LnsForeignHead *head,
                       const uint8_t *record,
                       LnsError *error)
{
  if (sort->filling->rows.size_bytes >= RUN_BYTES)
    {
      /* If a window needs too much memory, no row is given before all have come. */
      sort->window = 0;
      if (!begin_run (sort, error))
        return false;
    }
  if (sort->window > 0 && sort->filling->places.n == sort->window + GIVEN_ROWS &&
      !give_first (sort, GIVEN_ROWS))
    return false;
  keep_row (sort, head, record);
  return true;
}

bool
_lns_foreign_sort_finish (LnsForeignSort *sort, LnsError *error)
{
  if (sort->runs.n == 0)
    return give_first (sort, sort->filling->places.n);
  return (sort->filling->places.n == 0 || begin_run (sort, error)) && merge_runs (sort, error);
}
