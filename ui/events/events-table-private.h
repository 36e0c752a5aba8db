/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The fields of LnsEventsTable, for events-table.c and its tests. */

#pragma once

#include "ui/events/events-columns.h"
#include "ui/events/events-groups.h"
#include "ui/events/events-load.h"
#include "ui/events/event-order.h"
#include "ui/events/events-model.h"
#include "ui/events/events-save.h"
#include "ui/events/events-table.h"
#include "ui/events/events-total.h"
#include "ui/model/after-frame.h"
#include "ui/model/place-selection.h"
#include "ui/model/scope.h"

struct _LnsEventsTable
{
  AdwBin parent_instance;

  LnsView *view;   /* owned */
  LnsScope *scope; /* owned; whose events are shown */

  LnsEventsRequest *request; /* owned; what was asked for, or NULL */
  int64_t from_ns, to_ns;    /* the time whose events were asked for last */
  gboolean is_stale;         /* another time was selected while nobody saw the table */
  gboolean was_seen;
  LnsEventSet *set; /* owned; the events that are shown, or NULL */
  gboolean is_new;  /* the set has not been shown yet */

  GCancellable *loading;   /* of the load under way, or NULL */
  GCancellable *querying;  /* of the query under way, or NULL */
  gboolean has_first_page; /* its first page is shown already */

  LnsEventOrder
      *sorted; /* owned; the order of the set without the filter, or NULL: not known; by: */
  LnsEventColumn sorted_column;
  gboolean sorted_descending;

  LnsEventsModel *model;
  LnsEventsColumns *event_columns; /* owned */
  LnsPlaceSelection *selection;
  gboolean following;    /* the program sets the selection: the view must not be told */
  LnsAfterFrame telling; /* the view, of the event that is selected here */
  uint32_t wanted;       /* position to scroll to after the next layout, or UINT32_MAX */
  int wait_frames;
  gboolean refocus;                      /* gives the focus to that row, too */
  gboolean follows_later, scrolls_later; /* once the list knows of all rows                 */
  guint tick;

  gboolean grouped; /* the events are shown by name */
  GMenu *menu;      /* the template's; of the header and of rows */

  GtkStack *stack; /* pages "empty", "loading", "error", "no-match", "table", "groups" */
  GtkLabel *title;
  GtkLabel *count;
  GtkSpinner *spinner;
  GtkWidget *damage;
  GtkWidget *pager;
  GtkLabel *page_label;
  GtkEditable *filter;
  GtkToggleButton *regex;
  GtkLabel *wrong; /* what is wrong with the filter */
  GtkWidget *header;
  GtkLabel *loading_label;
  GtkProgressBar *progress;
  AdwStatusPage *error_page;
  AdwStatusPage *no_match_page;
  GtkColumnView *columns;
  LnsEventsGroups *groups;
  GtkWidget *footer;
  LnsEventsTotal *total;
  LnsEventsSave *save;
  GtkMenuButton *menu_button;
};

/* Shows MESSAGE in the place of events. */
void _lns_events_table_show_error (LnsEventsTable *self, const char *message);
