/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The panes below the timeline. From this one list follow the tabs, the View menu, the actions "win.show-NAME" and "win.focus-NAME", and
 * what the setting "bottom-page" may be; keys are in model/shortcuts.c, as all keys are. A pane is made when it is first shown or asked
 * for (shell/pane-slot.h), so nothing but the pane itself may count on its being there. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/view.h"

/* What a pane speaks of, which the header of the panes says. */
typedef enum
{
  LNS_PANE_OF_WHOLE,
  LNS_PANE_OF_SCOPE, /* the time that model/scope.h tells */
  LNS_PANE_OF_OWN    /* it says so itself */
} LnsPaneSubject;

typedef struct
{
  const char *name;  /* "events" */
  const char *title; /* of its tab; to be translated */
  const char *label; /* of its menu item, with a mnemonic; to be translated */
  LnsPaneSubject subject;
  /* Makes the pane of VIEW, of which it keeps a reference; the second one, of panes that keep how they were left in SETTINGS. */
  GtkWidget *(*new_pane) (LnsView *view);
  GtkWidget *(*new_with_settings) (LnsView *view, GSettings *settings);
  /* What tells by its property "count" (guint) how many things the pane lists, which the tab says; a new reference. NULL: it does not. */
  GObject *(*count_of) (LnsView *view);
} LnsPaneType;

/* All of them, in the order of their tabs. Static. */
const LnsPaneType *lns_panes (size_t *ret_n);

/* Puts an item for each pane at the beginning of SECTION. */
void lns_panes_fill_menu (GMenu *section);
