/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/subtitle.h"

#include <glib/gi18n.h>

#include "src/base/format.h"
#include "ui/model/answer.h"
#include "ui/model/cuda-text.h"
#include "ui/model/event-text.h"

#define KEY "lns-subtitle"

typedef struct
{
  AdwWindowTitle *title; /* has it as its data */
  LnsView *view;         /* owned              */
  LnsAnswer *answer;     /* owned              */
} Subtitle;

static void
subtitle_free (gpointer data)
{
  Subtitle *self = data;

  g_signal_handlers_disconnect_by_data (self->view, self);
  g_signal_handlers_disconnect_by_data (self->answer, self);
  g_object_unref (self->answer);
  g_object_unref (self->view);
  g_free (self);
}

static void
append (GString *text, const char *part)
{
  g_string_append_printf (text, "%s%s", text->len > 0 ? " · " : "", part);
}

/* Adds "NVIDIA H200" or "4 × NVIDIA H200", for each name. */
static void
append_devices (GString *text, LnsReport *report)
{
  g_autoptr (GPtrArray) devices = lns_cuda_devices (report);

  for (guint i = 0; i < devices->len; i++)
    {
      const LnsCudaDevice *device = g_ptr_array_index (devices, i);
      guint n = 0, n_before = 0;
      for (guint j = 0; j < devices->len; j++)
        {
          const LnsCudaDevice *other = g_ptr_array_index (devices, j);
          n += other->name == device->name;
          n_before += j < i && other->name == device->name;
        }
      if (n_before > 0)
        continue;
      g_autofree char *name = lns_event_text_string (report, device->name, true);
      g_autofree char *several = g_strdup_printf ("%u × %s", n, name);
      append (text, n > 1 ? several : name);
    }
}

/* The time is how long was recorded, as `lanescope info` says; but without what had no events before the first and after the last,
 * as in the timeline. */
static void
update (Subtitle *self)
{
  LnsReport *report = lns_view_get_report (self->view);
  const LnsReportInfo *info = lns_report_info (report);
  char number[LNS_FORMAT_SIZE], duration[LNS_FORMAT_SIZE];
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *events = g_strdup_printf (ngettext ("%s event", "%s events", info->n_events),
                                             lns_format_unsigned (info->n_events, number));
  g_autofree char *steps = lns_answer_get_steps_text (self->answer);

  lns_format_duration (lns_view_get_duration_ns (self->view), duration);
  append (text, events);
  if (lns_view_is_live (self->view))
    {
      /* Translators: how long a program that still runs was recorded */
      g_autofree char *so_far = g_strdup_printf (_ ("recording, %s so far"), duration);
      append (text, so_far);
    }
  else
    append (text, duration);
  if (steps != NULL)
    append (text, steps);
  append_devices (text, report);
  adw_window_title_set_subtitle (self->title, text->str);
}

void
lns_subtitle_follow (AdwWindowTitle *title, LnsView *view)
{
  g_object_set_data (G_OBJECT (title), KEY, NULL);
  adw_window_title_set_subtitle (title, "");
  if (view == NULL)
    return;
  Subtitle *self = g_new0 (Subtitle, 1);
  self->title = title;
  self->view = g_object_ref (view);
  self->answer = lns_answer_of (view);
  g_object_set_data_full (G_OBJECT (title), KEY, self, subtitle_free);
  g_signal_connect_swapped (view, "grown", G_CALLBACK (update), self);
  g_signal_connect_swapped (self->answer, "changed", G_CALLBACK (update), self);
  update (self);
}
