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

#define RUN_BYTES  ((size_t)16 << 20) /* of rows, in each of two memories                         */
#define READ_BYTES ((size_t)128 << 10) /* of each run, when they are merged                       */
#define OUT_BYTES  ((size_t)1 << 20)
#define GIVEN_ROWS 8192 /* of a window, at once                                                   */

/* Where a row lies in `rows`. */
typedef struct
{
  LnsForeignKey key;
  uint64_t at;
} Place;

/* Rows in memory, as they came. */
typedef struct
{
  LnsBuffer rows; /* head, record, head, record, …                                       */
  Place *places, *others; /* owned; room for `n_allocated`                                       */
  size_t n_places, n_allocated;
} Memory;

/* Rows in order, in the file. */
typedef struct
{
  uint64_t next, end;
  LnsBuffer bytes; /* from `at` on not yet given                                                 */
  size_t at;
  LnsForeignHead head; /* of the row there                                                      */
} Run;

struct LnsForeignSort
{
  const char *path; /* borrowed                                                                  */
  LnsForeignGiveFunc give;
  void *data;
  uint32_t window; /* 0: rows are written                                                        */
  Memory memories[2]; /* the one that is filled, and the one that is written or comes next       */
  Memory *filling;
  int file; /* -1: none yet                                                                     */
  uint64_t file_bytes;
  LnsBuffer out;
  pthread_t writer; /* of the last run                                                           */
  bool is_writing;
  LnsError error; /* of the writer                                                               */
  Run *runs; /* owned                                                                           */
  unsigned n_runs, n_left;
  unsigned *heap; /* owned; of runs, the one with the first row on top                            */
};

/* --- How much order there is ------------------------------------------------------------------ */

#define STEP (LNS_SORT_WINDOW / LNS_SORT_WINDOW_STEPS)

/* The least window, in whole steps, in front of which no row belongs after KEY. */
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

/* Where the rows from FIRST on that are in order end. */
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

/* A merge sort that begins with what is in order already: few rows that are not cost little. */
static void
sort_places (Memory *memory)
{
  const size_t n = memory->n_places;

  while (n > 0 && end_of_ordered (memory->places, 0, n) < n)
    {
      for (size_t first = 0; first < n;)
        {
          const size_t middle = end_of_ordered (memory->places, first, n),
                       end = middle < n ? end_of_ordered (memory->places, middle, n) : n;
          merge_two (memory->others + first, memory->places + first, memory->places + middle,
                     memory->places + middle, memory->places + end);
          first = end;
        }
      Place *sorted = memory->others;
      memory->others = memory->places;
      memory->places = sorted;
    }
}

static const LnsForeignHead *
head_at (const Memory *memory, size_t i)
{
  return (const LnsForeignHead *)(memory->rows.bytes + memory->places[i].at);
}

static bool
no_memory (const LnsForeignSort *sort, LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                        "%s: not enough memory to sort its rows; close other programs", sort->path);
}

/* Room for one more place. */
static bool
grow_places (Memory *memory)
{
  if (memory->n_places < memory->n_allocated)
    return true;
  const size_t n = 2 * memory->n_allocated + 4096;
  Place *places = reallocarray (memory->places, n, sizeof *places),
        *others = reallocarray (memory->others, n, sizeof *others);
  memory->places = places != NULL ? places : memory->places;
  memory->others = others != NULL ? others : memory->others;
  if (places == NULL || others == NULL)
    return false;
  memory->n_allocated = n;
  return true;
}

static bool
keep_row (LnsForeignSort *sort, const LnsForeignHead *head, const uint8_t *record, LnsError *error)
{
  Memory *memory = sort->filling;
  const size_t size_bytes = sizeof *head + _lns_foreign_padded (head->size_bytes);
  uint8_t *to = lns_buffer_reserve (&memory->rows, size_bytes);

  if (to == NULL || !grow_places (memory))
    return no_memory (sort, error);
  memcpy (to, head, sizeof *head);
  memcpy (to + sizeof *head, record, head->size_bytes);
  memory->places[memory->n_places++] = (Place){ head->key, memory->rows.size_bytes };
  memory->rows.size_bytes += size_bytes;
  return true;
}

/* Fills the other memory from now on. */
static void
change_memory (LnsForeignSort *sort)
{
  sort->filling = &sort->memories[sort->filling == sort->memories];
  sort->filling->n_places = 0;
  lns_buffer_reset (&sort->filling->rows);
}

/* Gives the first N rows in order; the others stay, in the other memory. */
static bool
give_first (LnsForeignSort *sort, size_t n, LnsError *error)
{
  Memory *memory = sort->filling;

  sort_places (memory);
  for (size_t i = 0; i < n; i++)
    {
      const LnsForeignHead *head = head_at (memory, i);
      if (!sort->give (sort->data, head, (const uint8_t *)(head + 1)))
        return false;
    }
  change_memory (sort);
  for (size_t i = n; i < memory->n_places; i++)
    {
      const LnsForeignHead *head = head_at (memory, i);
      if (!keep_row (sort, head, (const uint8_t *)(head + 1), error))
        return false;
    }
  return true;
}

/* --- In the temporary folder ------------------------------------------------------------------ */

static bool
fail_file (const LnsForeignSort *sort, LnsError *error, int code, const char *what)
{
  return lns_error_set_errno (error, code,
                              "%s: its rows are out of order, and cannot be %s the temporary "
                              "folder to sort them; TMPDIR names another",
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
    return fail_file (sort, error, errno, "put into");
  unlink (name); /* it goes when we do                                                            */
  return true;
}

static bool
write_out (LnsForeignSort *sort, LnsError *error)
{
  for (size_t at = 0; at < sort->out.size_bytes;)
    {
      ssize_t n = write (sort->file, sort->out.bytes + at, sort->out.size_bytes - at);
      if (n < 0 && errno != EINTR)
        return fail_file (sort, error, errno, "put into");
      at += n > 0 ? (size_t)n : 0;
    }
  sort->file_bytes += sort->out.size_bytes;
  lns_buffer_reset (&sort->out);
  return true;
}

/* Writes the rows of MEMORY as the last run. */
static bool
write_memory (LnsForeignSort *sort, Memory *memory, LnsError *error)
{
  Run *run = &sort->runs[sort->n_runs - 1];

  sort_places (memory);
  run->next = sort->file_bytes;
  for (size_t i = 0; i < memory->n_places; i++)
    {
      const LnsForeignHead *head = head_at (memory, i);
      lns_buffer_append (&sort->out, head, sizeof *head + _lns_foreign_padded (head->size_bytes));
      if (sort->out.failed)
        return no_memory (sort, error);
      if (sort->out.size_bytes >= OUT_BYTES && !write_out (sort, error))
        return false;
    }
  if (!write_out (sort, error))
    return false;
  run->end = sort->file_bytes;
  return true;
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
  Run *runs = reallocarray (sort->runs, sort->n_runs + 1, sizeof *runs);
  if (runs == NULL)
    return no_memory (sort, error);
  sort->runs = runs;
  runs[sort->n_runs++] = (Run){ 0 };
  Memory *full = sort->filling;
  change_memory (sort);
  sort->is_writing = pthread_create (&sort->writer, NULL, write_thread, sort) == 0;
  return sort->is_writing || write_memory (sort, full, error);
}

/* Makes N bytes of RUN be in memory from `at` on. False where they are not there. */
static bool
load (LnsForeignSort *sort, Run *run, size_t n, LnsError *error)
{
  if (run->bytes.size_bytes - run->at >= n)
    return true;
  if (run->at > 0)
    {
      memmove (run->bytes.bytes, run->bytes.bytes + run->at, run->bytes.size_bytes - run->at);
      run->bytes.size_bytes -= run->at;
      run->at = 0;
    }
  const size_t missing = n - run->bytes.size_bytes;
  size_t wanted = missing > READ_BYTES ? missing : READ_BYTES;
  wanted = wanted > run->end - run->next ? (size_t)(run->end - run->next) : wanted;
  uint8_t *to = lns_buffer_reserve (&run->bytes, wanted);
  if (to == NULL)
    return no_memory (sort, error);
  for (size_t got = 0; got < wanted;)
    {
      ssize_t more = pread (sort->file, to + got, wanted - got, (off_t)run->next);
      if (more == 0 || (more < 0 && errno != EINTR))
        return fail_file (sort, error, more == 0 ? EIO : errno, "read from");
      got += more > 0 ? (size_t)more : 0;
      run->next += more > 0 ? (uint64_t)more : 0;
    }
  run->bytes.size_bytes += wanted;
  return wanted >= missing || fail_file (sort, error, EIO, "read from");
}

/* Looks at the key of the next row of RUN. Rows themselves, which may be long, are read when it is their turn. */
static bool
enter_row (LnsForeignSort *sort, Run *run, LnsError *error)
{
  if (!load (sort, run, sizeof run->head, error))
    return false;
  memcpy (&run->head, run->bytes.bytes + run->at, sizeof run->head);
  return true;
}

/* Gives the row of RUN that was entered last, and goes behind it. */
static bool
give_row (LnsForeignSort *sort, Run *run, LnsError *error)
{
  const size_t size_bytes = sizeof run->head + _lns_foreign_padded (run->head.size_bytes);

  if (!load (sort, run, size_bytes, error) ||
      !sort->give (sort->data, &run->head, run->bytes.bytes + run->at + sizeof run->head))
    return false;
  run->at += size_bytes;
  if (run->at == run->bytes.size_bytes && size_bytes > READ_BYTES)
    {
      lns_buffer_clear (&run->bytes);
      run->at = 0;
    }
  return true;
}

static bool
is_before (const LnsForeignSort *sort, unsigned a, unsigned b)
{
  const LnsForeignKey key_a = sort->runs[a].head.key, key_b = sort->runs[b].head.key;

  return _lns_foreign_key_precedes (key_a, key_b) ||
         (!_lns_foreign_key_precedes (key_b, key_a) && a < b);
}

/* Lets the run at AT of the heap sink to where it belongs. */
static void
sink (LnsForeignSort *sort, unsigned at)
{
  for (;;)
    {
      unsigned first = 2 * at + 1;
      if (first + 1 < sort->n_left && is_before (sort, sort->heap[first + 1], sort->heap[first]))
        first++;
      if (first >= sort->n_left || !is_before (sort, sort->heap[first], sort->heap[at]))
        return;
      unsigned run = sort->heap[at];
      sort->heap[at] = sort->heap[first];
      sort->heap[first] = run;
      at = first;
    }
}

/* Frees what runs are made in. */
static void
clear_memory (LnsForeignSort *sort)
{
  for (int i = 0; i < 2; i++)
    {
      free (sort->memories[i].places);
      free (sort->memories[i].others);
      lns_buffer_clear (&sort->memories[i].rows);
      sort->memories[i] = (Memory){ 0 };
    }
  lns_buffer_clear (&sort->out);
}

static bool
merge_runs (LnsForeignSort *sort, LnsError *error)
{
  if (!end_writing (sort, error))
    return false;
  clear_memory (sort);
  sort->heap = calloc (sort->n_runs, sizeof *sort->heap);
  if (sort->heap == NULL)
    return no_memory (sort, error);
  for (unsigned i = 0; i < sort->n_runs; i++)
    if (enter_row (sort, &sort->runs[i], error))
      sort->heap[sort->n_left++] = i;
    else
      return false;
  for (unsigned i = sort->n_left; i > 0; i--)
    sink (sort, i - 1);
  while (sort->n_left > 0)
    {
      Run *run = &sort->runs[sort->heap[0]];
      if (!give_row (sort, run, error))
        return false;
      if (run->next == run->end && run->at == run->bytes.size_bytes)
        {
          lns_buffer_clear (&run->bytes);
          sort->heap[0] = sort->heap[--sort->n_left];
        }
      else if (!enter_row (sort, run, error))
        return false;
      sink (sort, 0);
    }
  return true;
}

/* --- The whole -------------------------------------------------------------------------------- */

LnsForeignSort *
_lns_foreign_sort_new (uint32_t window, const char *path, LnsForeignGiveFunc give, void *data)
{
  LnsForeignSort *sort = calloc (1, sizeof *sort);

  if (sort == NULL)
    return NULL;
  *sort = (LnsForeignSort){ .path = path,
                            .give = give,
                            .data = data,
                            .window = window <= LNS_SORT_WINDOW ? window : 0,
                            .file = -1 };
  sort->filling = sort->memories;
  return sort;
}

void
_lns_foreign_sort_free (LnsForeignSort *sort)
{
  if (sort == NULL)
    return;
  end_writing (sort, NULL);
  for (unsigned i = 0; i < sort->n_runs; i++)
    lns_buffer_clear (&sort->runs[i].bytes);
  free (sort->runs);
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
      /* Rows of a window that is too large for memory are not given before all are there.         */
      sort->window = 0;
      if (!begin_run (sort, error))
        return false;
    }
  if (sort->window > 0 && sort->filling->n_places == sort->window + GIVEN_ROWS &&
      !give_first (sort, GIVEN_ROWS, error))
    return false;
  return keep_row (sort, head, record, error);
}

bool
_lns_foreign_sort_finish (LnsForeignSort *sort, LnsError *error)
{
  if (sort->n_runs == 0)
    return give_first (sort, sort->filling->n_places, error);
  return (sort->filling->n_places == 0 || begin_run (sort, error)) && merge_runs (sort, error);
}
