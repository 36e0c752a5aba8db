/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A GListModel whose items are places: what stands at them may change, which the list is not told of, as GTK 4.8 would make
 * all widgets anew, but who shows them is, by the signal
 *
 *   rows-changed (gboolean completes)
 *       other rows stand at the places; COMPLETES: what was known stayed
 *
 * After it, items come or go at the list's end, where that takes GTK long in steps of the main loop. Main thread only. */

#pragma once

#include <gio/gio.h>

#define LNS_TYPE_PLACE_LIST (lns_place_list_get_type ())
G_DECLARE_DERIVABLE_TYPE (LnsPlaceList, lns_place_list, LNS, PLACE_LIST, GObject)

struct _LnsPlaceListClass
{
  GObjectClass parent_class;
};

#define LNS_TYPE_PLACE (lns_place_get_type ())

/* Made on demand and freed when it scrolls away. */
G_DECLARE_FINAL_TYPE (LnsPlace, lns_place, LNS, PLACE, GObject)

/* Where it is. It may be behind the last one of the list by now. */
guint lns_place_get_index (LnsPlace *self);
LnsPlaceList *lns_place_get_list (LnsPlace *self); /* owned by the place */

/* For derived types, after they took over what stands at the places, N of which there are now. */
void lns_place_list_replace (LnsPlaceList *self, guint n, gboolean completes);

/* Whether somebody sees what shows the list; at first, somebody does. While nobody does, no rows come or go but the first few: GTK would
 * make them, and lay all of them out at once when they are seen. */
void lns_place_list_set_seen (LnsPlaceList *self, gboolean is_seen);

/* The number of rows. The list may have been told of fewer or more so far. */
guint lns_place_list_get_n (LnsPlaceList *self);
gboolean lns_place_list_is_told (LnsPlaceList *self);

/* Tells the list of all rows at once, which takes GTK a while. */
void lns_place_list_tell_all (LnsPlaceList *self);
