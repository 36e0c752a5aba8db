/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the files of LnsEventsTable share: events-table.c (life, states and what follows the
 * view), events-table-columns.c (columns, cells, sorting by them), events-table-jobs.c
 * (loading, sorting and filtering on workers), events-table-actions.c (its actions). */

#pragma once

#include "ui/events/event-cell.h"
#include "ui/events/events-model.h"
#include "ui/events/events-table.h"

G_BEGIN_DECLS

struct _LnsEventsTable
{
  AdwBin parent_instance;

  LnsView *view; /* owned */

  LnsEventSet *set;      /* owned; what is shown, or NULL                             */
  LnsEventOrder *sorted; /* owned; the order without the filter, or NULL: not known   */
  LnsEventColumn column; /* … is by this one                                          */
  gboolean descending;
  gboolean probing;           /* see events-table-columns.c */
  LnsEventColumn probed;      /* the column whose sorter was asked first */
  GCancellable *loading;      /* of the load under way, or NULL */
  atomic_uint *load_permille; /* of it */
  guint load_timer;
  GCancellable *querying;  /* of the query under way, or NULL */
  gboolean is_new;         /* the set has not been shown yet */
  gboolean has_first_page; /* … and the model shows what it told so far */

  LnsEventsModel *model;
  GHashTable *cells; /* the columns of the GtkListItems that are bound */
  GtkMultiSelection *selection;
  gboolean following; /* the selection is being set by the program: the view is not told */
  uint32_t wanted;    /* position to scroll to after the next layout, or UINT32_MAX */
  int wait_frames;
  gboolean refocus;                      /* and to give the focus to there */
  gboolean follows_later, scrolls_later; /* once the list knows of all rows                 */
  guint tick;

  GtkStack *stack; /* pages "empty", "loading", "error", "no-match", "table" */
  GtkLabel *title;
  GtkLabel *count;
  GtkSpinner *spinner;
  GtkWidget *damage;
  GtkWidget *pager;
  GtkLabel *page_label;
  GtkEditable *filter;
  GtkWidget *header;
  GtkLabel *loading_label;
  GtkProgressBar *progress;
  AdwStatusPage *error_page;
  AdwStatusPage *no_match_page;
  GtkColumnView *columns;
  GtkColumnViewColumn *column_of[LNS_N_EVENT_COLUMNS]; /* owned */
};

/* events-table-columns.c */
void _lns_events_table_add_columns (LnsEventsTable *self);
void _lns_events_table_update_columns (LnsEventsTable *self);
/* Shows in the cells what stands at their places now. */
void _lns_events_table_update_cells (LnsEventsTable *self);
/* Reads the column and direction that the header asks for; true if they are other than before. */
gboolean _lns_events_table_read_sorting (LnsEventsTable *self);

/* events-table-jobs.c */
void _lns_events_table_load (LnsEventsTable *self,
                             const uint32_t *lanes,
                             unsigned n_lanes,
                             const LnsFacetSet *set,
                             uint32_t facet);
void _lns_events_table_query (LnsEventsTable *self);
void _lns_events_table_cancel_jobs (LnsEventsTable *self);

/* events-table.c */
void _lns_events_table_show_error (LnsEventsTable *self, const char *message);
/* The state after a load, a query or a change of page. */
void _lns_events_table_update (LnsEventsTable *self);
/* Selects the event that is selected in the view, if it is here, and (SCROLL) scrolls to it. */
void _lns_events_table_follow (LnsEventsTable *self, gboolean scroll);
/* Scrolls to POSITION of the page after the next layout. */
void _lns_events_table_scroll_to (LnsEventsTable *self, uint32_t position);

/* events-table-actions.c */
void _lns_events_table_install_actions (GtkWidgetClass *widget_class);
void _lns_events_table_add_keys (LnsEventsTable *self);
/* Zooms the timeline to the event at POSITION of the page. */
void _lns_events_table_zoom_to (LnsEventsTable *self, guint position);

G_END_DECLS
