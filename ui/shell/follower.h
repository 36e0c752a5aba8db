/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Follows a report that is being recorded. */

#pragma once

#include "ui/model/view.h"

typedef struct LnsFollower LnsFollower;

/* Looks on a worker each second whether the report of VIEW has grown, and has VIEW grow by what was found. After the recording has
 * ended it goes on for a while, as names of functions may be added then. If the report can no longer be followed, calls FAILED with a
 * sentence that says why, and DATA, and looks no more. Does nothing for a report that is not being recorded. Main thread. */
LnsFollower *lns_follower_new (LnsView *view,
                               void (*failed) (const char *message, gpointer data),
                               gpointer data) G_GNUC_WARN_UNUSED_RESULT;
void lns_follower_free (LnsFollower *self); /* NULL is fine */
