/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A report and another run that it is compared with: A, the report of a view, and B, with a view of its own. All parts of A's page
 * share one. Main thread only.
 *
 * Signal: "changed" (): another state, another B, or what the comparison says. */

#pragma once

#include <gio/gio.h>

#include "ui/model/pair-facts.h"
#include "ui/model/view.h"

typedef enum
{
  LNS_PAIR_ALONE,   /* there is no B                                  */
  LNS_PAIR_OPENING, /* B is being opened                              */
  LNS_PAIR_FAILED,  /* B could not be opened                          */
  LNS_PAIR_WAITING, /* one of them is being recorded                  */
  LNS_PAIR_LOOKING, /* they are being compared                        */
  LNS_PAIR_THERE,   /* what the comparison says is known              */
  LNS_PAIR_NONE     /* they cannot be compared                        */
} LnsPairState;

#define LNS_TYPE_PAIR (lns_pair_get_type ())
G_DECLARE_FINAL_TYPE (LnsPair, lns_pair, LNS, PAIR, GObject)

/* A new reference on the pair of VIEW, which shows A. It keeps a reference of VIEW; what is under way is cancelled with the last
 * reference on the pair. */
LnsPair *lns_pair_of (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;

/* Opens FILE as B, in place of the one at hand, and compares. */
void lns_pair_open (LnsPair *self, GFile *file);

/* Closes B, or gives up opening it. */
void lns_pair_close (LnsPair *self);

LnsPairState lns_pair_get_state (LnsPair *self);

/* How far opening B is, 0 – 1000. */
unsigned lns_pair_get_permille (LnsPair *self);

/* The view of A (0), and of B (1) where that is open, or else NULL. Owned by SELF. */
LnsView *lns_pair_get_view (LnsPair *self, int side);

/* What the file of A (0), or of B (1), is called; NULL while there is no B. Free with g_free (). */
char *lns_pair_get_name (LnsPair *self, int side);

/* What the comparison says, while the state is LNS_PAIR_THERE; else NULL. Owned by SELF, until "changed". */
LnsPairFacts *lns_pair_get_facts (LnsPair *self);

/* What there is instead, in a sentence; NULL while the state is LNS_PAIR_THERE. Free with g_free (). */
char *lns_pair_get_excuse (LnsPair *self);
