/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The time that the panes of a report speak of: the selected time; without one the time in view, if that was asked for, or else the
 * whole report. Main thread only.
 *
 * Signals:
 *
 *   changed ()
 *       another time, which may go on changing
 *   rested ()
 *       it has not changed for a quarter of a second since
 */

#pragma once

#include "ui/model/view.h"

typedef enum
{
  LNS_SCOPE_WHOLE,
  LNS_SCOPE_VIEW,
  LNS_SCOPE_SELECTION
} LnsScopeKind;

#define LNS_TYPE_SCOPE (lns_scope_get_type ())
G_DECLARE_FINAL_TYPE (LnsScope, lns_scope, LNS, SCOPE, GObject)

/* A new reference on the scope of VIEW, which all its panes share. It keeps a reference of VIEW. */
LnsScope *lns_scope_of (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;

/* What the panes speak of, and its time; either pointer may be NULL. Of the whole report these are the first and the last time of an
 * event. */
LnsScopeKind lns_scope_get (LnsScope *self, int64_t *ret_start_ns, int64_t *ret_end_ns);

/* Whether the time in view counts while none is selected. */
gboolean lns_scope_get_is_of_view (LnsScope *self);
void lns_scope_set_is_of_view (LnsScope *self, gboolean is_of_view);

/* "for the selection: 1.218 s – 1.227 s". Free with g_free (). */
char *lns_scope_text (LnsScope *self) G_GNUC_WARN_UNUSED_RESULT;
