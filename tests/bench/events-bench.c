/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* events-bench REPORT: loads all events of REPORT as the table of events does, sorts them by each column in turn as it does when
 * the column's title is clicked, filters them and sums them up, and prints for each of these one JSON object: the processor time, and the most memory that the process had
 * meanwhile beyond what it had before the table. */

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ui/events/event-sums.h"

#define MAX_NAMES 10000

static double
now_s (void)
{
  struct timespec now;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Bytes that the line KEY of /proc/self/status tells. */
static uint64_t
memory_bytes (const char *key)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL))
    return 0;
  const char *line = strstr (text, key);
  return line != NULL ? g_ascii_strtoull (line + strlen (key), NULL, 10) * 1024 : 0;
}

/* Has the most memory counted from now on. */
static void
forget_peak (void)
{
  FILE *file = fopen ("/proc/self/clear_refs", "we");
  if (file != NULL)
    {
      fputs ("5", file);
      fclose (file);
    }
}

static void
tell (const char *what, double since_s, uint64_t before_bytes)
{
  printf ("{\"what\": \"%s\", \"ms\": %.0f, \"peak_mb\": %.0f, \"held_mb\": %.0f}\n", what,
          (now_s () - since_s) * 1e3, (double)(memory_bytes ("VmHWM:") - before_bytes) / 1e6,
          (double)(memory_bytes ("VmRSS:") - before_bytes) / 1e6);
}

/* The table shows the first page instead of what it showed before. */
static void
first_page (LnsEventOrder *first, void *data)
{
  LnsEventOrder **shown = data;
  lns_event_order_unref (*shown);
  *shown = lns_event_order_ref (first);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    LnsEventColumn column;
  } columns[] = { { "sort by duration", LNS_EVENT_COLUMN_DURATION },
                  { "sort by name", LNS_EVENT_COLUMN_NAME },
                  { "sort by thread", LNS_EVENT_COLUMN_THREAD },
                  { "sort by payload", LNS_EVENT_COLUMN_PAYLOAD },
                  { "sort by start, latest first", LNS_EVENT_COLUMN_START } };
  setlocale (LC_ALL, "");
  LnsError problem = { 0 };
  g_autoptr (GError) error = NULL;
  LnsReport *report = argc == 2 ? lns_report_open (argv[1], NULL, &problem) : NULL;
  if (report == NULL)
    {
      fprintf (stderr, "usage: events-bench REPORT %s\n", problem.message);
      return 2;
    }
  uint32_t n_lanes;
  lns_report_lanes (report, &n_lanes);
  g_autofree uint32_t *lanes = g_new (uint32_t, MAX (n_lanes, 1));
  for (uint32_t i = 0; i < n_lanes; i++)
    lanes[i] = i;

  const uint64_t before_bytes = memory_bytes ("VmRSS:");
  forget_peak ();
  double since_s = now_s ();
  LnsEventSet *set = lns_event_set_load (report, lanes, n_lanes, INT64_MIN, INT64_MAX, NULL, 0,
                                         NULL, NULL, &error);
  if (set == NULL)
    {
      fprintf (stderr, "events-bench: %s\n", error->message);
      return 1;
    }
  tell ("load", since_s, before_bytes);
  LnsEventOrder *shown = lns_event_order_new_identity (set->n), *sorted = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      const LnsEventQuery query = { .column = columns[i].column, .descending = i > 0 };
      g_clear_pointer (&sorted, lns_event_order_unref);
      forget_peak ();
      since_s = now_s ();
      LnsEventOrder *order =
          lns_event_order_query (set, &query, first_page, &shown, &sorted, NULL, &error);
      if (order == NULL)
        {
          fprintf (stderr, "events-bench: %s\n", error->message);
          return 1;
        }
      lns_event_order_unref (shown);
      shown = order;
      tell (columns[i].name, since_s, before_bytes);
    }
  static const char *const filters[] = { "gemm", "duration > 1us and name ~ gemm" };
  for (size_t i = 0; i < G_N_ELEMENTS (filters); i++)
    {
      uint32_t n;
      LnsEventFilter *filter = lns_event_filter_new (filters[i], false, &error);
      forget_peak ();
      since_s = now_s ();
      uint8_t *rows = lns_event_filter_find (filter, set, &n, NULL, &error);
      if (rows == NULL)
        {
          fprintf (stderr, "events-bench: %s\n", error->message);
          return 1;
        }
      tell (filters[i], since_s, before_bytes);
      g_free (rows);
      lns_event_filter_free (filter);
    }
  for (int i = 0; i < 2; i++)
    {
      /* As they stand in time, and as they are sorted. */
      g_autoptr (LnsEventOrder) in_time = lns_event_order_new_identity (set->n);
      g_autoptr (LnsEventRows) rows = lns_event_rows_new (set, i == 0 ? in_time : shown, 0, NULL);
      LnsEventSums sums;
      forget_peak ();
      since_s = now_s ();
      if (!lns_event_sums_find (rows, &sums, NULL))
        return 1;
      tell (i == 0 ? "sums" : "sums of sorted rows", since_s, before_bytes);
      g_autofree uint32_t *labels = g_new (uint32_t, MAX_NAMES);
      uint32_t n_names;
      forget_peak ();
      since_s = now_s ();
      LnsResult *names = lns_event_sums_by_name (rows, MAX_NAMES, labels, &n_names, NULL);
      tell (i == 0 ? "sums by name" : "sums by name of sorted rows", since_s, before_bytes);
      lns_result_free (names);
    }
  uint64_t sum = 0;
  since_s = now_s ();
  for (uint32_t i = 0; i < shown->n; i++)
    sum = sum * 31 + lns_event_order_row (shown, i);
  printf ("{\"what\": \"walk\", \"ms\": %.0f, \"events\": %u, \"sum\": %lu}\n",
          (now_s () - since_s) * 1e3, set->n, (unsigned long)sum);
  lns_event_order_unref (shown);
  lns_event_order_unref (sorted);
  lns_event_set_unref (set);
  lns_report_close (report);
  return 0;
}
