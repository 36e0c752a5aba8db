/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/details-report.h"

#include <glib/gi18n.h>

#include "src/base/format.h"
#include "src/tables/lanes.h"
#include "ui/model/cuda-text.h"
#include "ui/model/event-text.h"

static void
clear_field (gpointer field)
{
  g_free (((LnsDetailsField *)field)->text);
}

/* Adds TEXT, which is taken; NULL and "" are left out. */
static void
add (GArray *fields, const char *title, char *text)
{
  if (text != NULL && *text != '\0')
    g_array_append_vals (fields, &(LnsDetailsField){ .title = title, .text = text }, 1);
  else
    g_free (text);
}

static void
add_number (GArray *fields, const char *title, uint64_t number)
{
  char text[LNS_FORMAT_SIZE];

  if (number > 0)
    add (fields, title, g_strdup (lns_format_unsigned (number, text)));
}

/* The value of the report's KEY as it can be shown, or NULL. */
static char *
meta (LnsReport *report, const char *key)
{
  const char *value = lns_report_meta (report, key);

  return value != NULL ? g_utf8_make_valid (value, -1) : NULL;
}

/* The first line of the command: a script in it would leave no room for what follows. The pane of files has all of it. */
static char *
program (LnsReport *report)
{
  g_autofree char *command = meta (report, "command_line");
  const char *end = command != NULL ? strchr (command, '\n') : NULL;

  return end != NULL ? g_strdup_printf ("%.*s…", (int)(end - command), command)
                     : g_steal_pointer (&command);
}

/* The GPUs' names, a line each. */
static char *
gpus (LnsReport *report)
{
  g_autoptr (GPtrArray) devices = lns_cuda_devices (report);
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < devices->len; i++)
    {
      const LnsCudaDevice *device = g_ptr_array_index (devices, i);
      g_autofree char *name = lns_event_text_string (report, device->name, true);
      g_string_append_printf (names, "%s%u: %s", i > 0 ? "\n" : "", device->number, name);
    }
  return g_string_free (names, FALSE);
}

static char *
began (LnsReport *report)
{
  const int64_t ns = lns_report_info (report)->t0_realtime_ns;
  g_autoptr (GDateTime) time = ns != 0 ? g_date_time_new_from_unix_local (ns / 1000000000) : NULL;

  return time != NULL ? g_date_time_format (time, "%F %T") : NULL;
}

/* How many processes and threads have events: others' reports list all of the machine. */
static void
count (LnsReport *report, uint32_t *ret_n_processes, uint32_t *ret_n_threads)
{
  g_autoptr (GHashTable) processes = g_hash_table_new (NULL, NULL),
                         threads = g_hash_table_new (NULL, NULL);
  uint32_t n_lanes, n_processes, n_threads;

  lns_report_lanes (report, &n_lanes);
  lns_report_processes (report, &n_processes);
  lns_report_threads (report, &n_threads);
  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsTrack *track = lns_track_of (report, i);
      if (lns_report_lane_info (report, i)->n_events == 0)
        continue;
      if (track->process < n_processes && !lns_process_is_of_profiler (report, track->process))
        g_hash_table_add (processes, GUINT_TO_POINTER (track->process));
      if (track->thread < n_threads)
        g_hash_table_add (threads, GUINT_TO_POINTER (track->thread));
    }
  *ret_n_processes = g_hash_table_size (processes);
  *ret_n_threads = g_hash_table_size (threads);
}

GArray *
lns_details_report_new (LnsView *view)
{
  LnsReport *report = lns_view_get_report (view);
  const LnsReportInfo *info = lns_report_info (report);
  GArray *fields = g_array_new (FALSE, TRUE, sizeof (LnsDetailsField));
  char duration[LNS_FORMAT_SIZE];
  uint32_t n_processes, n_threads;

  g_array_set_clear_func (fields, clear_field);
  count (report, &n_processes, &n_threads);
  lns_format_duration (lns_view_get_duration_ns (view), duration);
  add (fields, _ ("Program"), program (report));
  add (fields, C_ ("report", "Began"), began (report));
  add (fields, _ ("Duration"), g_strdup (duration));
  add (fields, _ ("GPU"), gpus (report));
  add (fields, _ ("Host"), meta (report, "host_name"));
  add_number (fields, _ ("Processes"), n_processes);
  add_number (fields, _ ("Threads"), n_threads);
  add_number (fields, _ ("Events"), info->n_events);
  add_number (fields, _ ("Lost events"), info->n_lost);
  add (fields, _ ("Recorded by"), meta (report, "product"));
  return fields;
}
