/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which of the places of a list are selected, any number of them. A GtkSelectionModel that keeps ranges of places alone, where
 * GtkMultiSelection makes and keeps an item for each: ten million took a minute and 800 MB. Main thread only. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/place-list.h"

#define LNS_TYPE_PLACE_SELECTION (lns_place_selection_get_type ())
G_DECLARE_FINAL_TYPE (LnsPlaceSelection, lns_place_selection, LNS, PLACE_SELECTION, GObject)

/* Holds a reference on LIST. */
LnsPlaceSelection *lns_place_selection_new (LnsPlaceList *list) G_GNUC_WARN_UNUSED_RESULT;
