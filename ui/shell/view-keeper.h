/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Keeps how a report is left: writes it a while after it was changed, and when the page goes. Main thread. */

#pragma once

#include "ui/timeline/timeline.h"

typedef struct LnsViewKeeper LnsViewKeeper;

/* Keeps VIEW and TIMELINE, which must outlive it. KEPT, which may be NULL and is taken over: how they were left, if IS_OF_REPORT, or only
 * what rows of such a program are like. FAILED tells OWNER, once, why they cannot be kept. */
LnsViewKeeper *lns_view_keeper_new (LnsView *view,
                                    LnsTimeline *timeline,
                                    LnsKeptView *kept,
                                    gboolean is_of_report,
                                    void (*failed) (const char *problem, GObject *owner),
                                    GObject *owner) G_GNUC_WARN_UNUSED_RESULT;

/* Writes what has changed. NULL is fine. */
void lns_view_keeper_free (LnsViewKeeper *self);
