/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/several.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/base/visible.h"
#include "src/cli/reports/report.h"
#include "src/tables/lanes.h"

/* A rank beyond this is not one. */
#define RANK_MAX 1000000u

/* What is told of a report; texts are owned. */
typedef struct
{
  const char *path;
  char *state, *host, *ranks;
  uint64_t n_events, n_lost;
  uint32_t n_processes;
  char duration[LNS_FORMAT_SIZE];
} Row;

typedef LNS_ARRAY (uint32_t) Ranks;

typedef struct
{
  Ranks ranks;
  uint32_t n_world; /* ranks that there should be; 0: not known */
  size_t n_complete, n_cut_off, n_recording, n_empty, n_other, n_unreadable;
} Sums;

/* --- Ranks ------------------------------------------------------------------------------------ */

static int
compare_ranks (const void *a, const void *b)
{
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Sorts RANKS and leaves each once. */
static void
sort_ranks (Ranks *ranks)
{
  size_t n = 0;
  if (ranks->n > 1)
    qsort (ranks->items, ranks->n, sizeof *ranks->items, compare_ranks);
  for (size_t i = 0; i < ranks->n; i++)
    if (n == 0 || ranks->items[n - 1] != ranks->items[i])
      ranks->items[n++] = ranks->items[i];
  ranks->n = n;
}

/* The sorted RANKS as "0-3, 5". Owned. */
static char *
ranks_text (const Ranks *ranks)
{
  char *text = NULL;
  size_t n_text;
  FILE *file = lns_memory_stream (&text, &n_text);
  for (size_t i = 0, last; i < ranks->n; i = last + 1)
    {
      for (last = i; last + 1 < ranks->n && ranks->items[last + 1] == ranks->items[last] + 1;
           last++)
        ;
      fprintf (file, "%s%" PRIu32, i > 0 ? ", " : "", ranks->items[i]);
      if (last > i)
        fprintf (file, "-%" PRIu32, ranks->items[last]);
    }
  lns_memory_stream_end (file);
  return text;
}

/* The number that the variable NAME had in the program's environment. False if it is not recorded, or is not one. */
static bool
read_variable (LnsReport *report, const char *name, uint32_t *ret_number)
{
  char key[64], *end;
  snprintf (key, sizeof key, "env.%s", name);
  const char *value = lns_report_meta (report, key);
  if (value == NULL || value[0] < '0' || value[0] > '9')
    return false;
  const unsigned long number = strtoul (value, &end, 10);
  *ret_number = (uint32_t)number;
  return *end == '\0' && number <= RANK_MAX;
}

/* Adds the ranks of the processes of REPORT, or else that which its program was given, to RET_RANKS. Without processes that tell
 * theirs, *N_WORLD gets how many ranks there are. */
static void
find_ranks (LnsReport *report, Ranks *ret_ranks, uint32_t *n_world)
{
  static const char *const variables[][2] = { { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
                                              { "PMI_RANK", "PMI_SIZE" },
                                              { "RANK", "WORLD_SIZE" } };
  uint32_t n, number;
  const LnsProcess *processes = lns_report_processes (report, &n);
  for (uint32_t i = 0; i < n; i++)
    if (processes[i].mpi_rank != 0 && processes[i].mpi_rank <= RANK_MAX)
      *lns_array_add (ret_ranks) = processes[i].mpi_rank - 1;
  const bool is_told = ret_ranks->n > 0;
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    if (read_variable (report, variables[i][0], &number) && (!is_told || i < 2))
      {
        if (!is_told)
          *lns_array_add (ret_ranks) = number;
        if (read_variable (report, variables[i][1], &number) && number > *n_world)
          *n_world = number;
        break;
      }
  sort_ranks (ret_ranks);
}

/* --- One report ------------------------------------------------------------------------------- */

static const char *
state_of (LnsState state, bool is_empty, Sums *sums)
{
  sums->n_empty += is_empty;
  switch (state)
    {
    case LNS_STATE_COMPLETE:
      sums->n_complete += !is_empty;
      return is_empty ? "empty" : "complete";
    case LNS_STATE_CUT_OFF:
      sums->n_cut_off++;
      return is_empty ? "cut off, empty" : "cut off";
    case LNS_STATE_RECORDING:
      sums->n_recording++;
      return is_empty ? "recording, empty" : "recording";
    case LNS_STATE_RECOVERED:
      sums->n_other++;
      return is_empty ? "recovered, empty" : "recovered";
    default:
      sums->n_other++;
      return is_empty ? "incomplete, empty" : "incomplete";
    }
}

static char *
visible (const char *text)
{
  return lns_visible_text (text, strlen (text));
}

/* Fills RET_ROW from the report at PATH. */
static void
read_report (const char *path, Row *ret_row, Sums *sums)
{
  LnsError error = { 0 };
  LnsReport *report = lns_cli_open_report (path, &error);
  *ret_row = (Row){ .path = path };
  if (report == NULL)
    {
      lns_cli_fail (&error);
      sums->n_unreadable++;
      ret_row->state = lns_strdup ("unreadable");
      ret_row->host = lns_strdup ("");
      ret_row->ranks = lns_strdup ("");
      return;
    }
  const LnsReportInfo *info = lns_report_info (report);
  const char *host = lns_report_meta (report, "host_name");
  Ranks ranks = { 0 };
  find_ranks (report, &ranks, &sums->n_world);
  for (size_t i = 0; i < ranks.n; i++)
    *lns_array_add (&sums->ranks) = ranks.items[i];
  ret_row->state = lns_strdup (state_of (info->state, info->n_events == 0, sums));
  ret_row->host = visible (host != NULL ? host : "");
  ret_row->ranks = ranks_text (&ranks);
  ret_row->n_events = info->n_events;
  ret_row->n_lost = info->n_lost;
  lns_report_processes (report, &ret_row->n_processes);
  lns_format_duration (lns_recorded_ns (report), ret_row->duration);
  lns_array_clear (&ranks);
  lns_report_close (report);
}

/* --- The table -------------------------------------------------------------------------------- */

/* Prints which ranks SUMS has, and which of those up to the last one, or to the last that there should be, it lacks. */
static void
print_ranks (Sums *sums)
{
  Ranks missing = { 0 };
  sort_ranks (&sums->ranks);
  if (sums->ranks.n == 0)
    return;
  uint32_t n = sums->ranks.items[sums->ranks.n - 1] + 1;
  n = sums->n_world > n ? sums->n_world : n;
  for (uint32_t rank = 0, at = 0; rank < n; rank++)
    if (at < sums->ranks.n && sums->ranks.items[at] == rank)
      at++;
    else
      *lns_array_add (&missing) = rank;
  char *there = ranks_text (&sums->ranks), *lacks = ranks_text (&missing);
  printf ("ranks: %s\n", there);
  if (missing.n > 0)
    printf ("missing ranks: %s\n", lacks);
  free (there);
  free (lacks);
  lns_array_clear (&missing);
}

static int
wider (int width, const char *text)
{
  const int n = (int)lns_visible_width (text, strlen (text));
  return n > width ? n : width;
}

static void
print_cell (const char *text, int width)
{
  printf ("%s%*s  ", text, width - (int)lns_visible_width (text, strlen (text)), "");
}

static void
print_rows (const Row *rows, size_t n)
{
  int state = 5, ranks = 5, host = 4;
  for (size_t i = 0; i < n; i++)
    {
      state = wider (state, rows[i].state);
      ranks = wider (ranks, rows[i].ranks);
      host = wider (host, rows[i].host);
    }
  print_cell ("state", state);
  print_cell ("ranks", ranks);
  print_cell ("host", host);
  printf ("%12s  %10s  %9s  %12s  %s\n", "events", "lost", "processes", "duration", "report");
  for (size_t i = 0; i < n; i++)
    {
      print_cell (rows[i].state, state);
      print_cell (rows[i].ranks, ranks);
      print_cell (rows[i].host, host);
      printf ("%12" PRIu64 "  %10" PRIu64 "  %9" PRIu32 "  %12s  ", rows[i].n_events,
              rows[i].n_lost, rows[i].n_processes, rows[i].duration);
      lns_visible_write (stdout, rows[i].path, strlen (rows[i].path));
      putchar ('\n');
    }
}

bool
lns_cli_print_several (char *const *paths, size_t n)
{
  Sums sums = { 0 };
  Row *rows = lns_calloc (n, sizeof *rows);
  for (size_t i = 0; i < n; i++)
    read_report (paths[i], &rows[i], &sums);
  printf ("reports: %zu\ncomplete: %zu\nempty: %zu\ncut off: %zu\nrecording: %zu\n", n,
          sums.n_complete, sums.n_empty, sums.n_cut_off, sums.n_recording);
  printf ("recovered or incomplete: %zu\nunreadable: %zu\n", sums.n_other, sums.n_unreadable);
  print_ranks (&sums);
  putchar ('\n');
  print_rows (rows, n);
  for (size_t i = 0; i < n; i++)
    {
      free (rows[i].state);
      free (rows[i].host);
      free (rows[i].ranks);
    }
  free (rows);
  lns_array_clear (&sums.ranks);
  return sums.n_unreadable == 0;
}
