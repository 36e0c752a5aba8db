/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A report and another run that it is compared with: A, the report of a view, and B, with a view of its own on A's axis. All parts of A's
 * page share one. The time that is selected in one is selected in the other. Main thread only.
 *
 * Signals: "changed" (): another state, another B, or what the comparison says; "aligned" (): B lies elsewhere on the axis, or is aligned
 * by something else. */

#pragma once

#include <gio/gio.h>

#include "ui/model/pair-facts.h"
#include "ui/model/view.h"

typedef enum
{
  LNS_PAIR_ALONE,   /* there is no B                                  */
  LNS_PAIR_OPENING, /* B is being opened                              */
  LNS_PAIR_FAILED,  /* B could not be opened                          */
  LNS_PAIR_BESIDE,  /* they are shown, and nobody asked for more      */
  LNS_PAIR_WAITING, /* one of them is being recorded                  */
  LNS_PAIR_LOOKING, /* they are being compared                        */
  LNS_PAIR_THERE,   /* what the comparison says is known              */
  LNS_PAIR_NONE     /* they cannot be compared                        */
} LnsPairState;

/* By what B is aligned with A. */
typedef enum
{
  LNS_ALIGN_START,  /* the first events of both are at one time     */
  LNS_ALIGN_STEP,   /* … the n-th steps                             */
  LNS_ALIGN_EVENTS, /* … the events that are selected in both       */
  LNS_ALIGN_SPANS,  /* … the times that are compared, of one report */
  LNS_ALIGN_CLOCK,  /* what happened at one time of day is          */
  LNS_ALIGN_HAND,   /* as the person moved it                       */
  LNS_N_ALIGNS
} LnsAlign;

#define LNS_TYPE_PAIR (lns_pair_get_type ())
G_DECLARE_FINAL_TYPE (LnsPair, lns_pair, LNS, PAIR, GObject)

/* A new reference on the pair of VIEW, which shows A. It keeps a reference of VIEW; what is under way is cancelled with the last
 * reference on the pair. */
LnsPair *lns_pair_of (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;

/* Opens FILE as B, in place of the one at hand, and compares if COMPARES. */
void lns_pair_open (LnsPair *self, GFile *file, gboolean compares);

/* Opens A's report as B, too, and compares the time that is selected, in B, with the one that was selected before it, in A. Nothing if
 * there are not two. */
void lns_pair_open_spans (LnsPair *self);

/* Compares what is only shown so far. */
void lns_pair_compare (LnsPair *self);

/* Closes B, or gives up opening it. */
void lns_pair_close (LnsPair *self);

LnsPairState lns_pair_get_state (LnsPair *self);

/* The file of B, where that is another report than A; else NULL. Owned by SELF, until "changed". */
GFile *lns_pair_get_file (LnsPair *self);

/* Whether the runs are compared, or were asked to be, and not only shown. */
gboolean lns_pair_compares (LnsPair *self);

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

/* --- Where B lies ----------------------------------------------------------------------------- */

LnsAlign lns_pair_get_align (LnsPair *self);

/* Whether the reports can be aligned by BY. */
gboolean lns_pair_can_align (LnsPair *self, LnsAlign by);

/* Aligns B by BY, if that can be; by hand it stays where it is. */
void lns_pair_align (LnsPair *self, LnsAlign by);

/* Aligns step N (0 is the first one) of B with that of A; the last one that both have, if there is none. */
void lns_pair_align_step (LnsPair *self, size_t n);

/* The step that was aligned last, and how many both have. */
size_t lns_pair_get_step (LnsPair *self, size_t *ret_n_steps);

/* Puts B_NS of B where A_NS of A is: two events that are looked at side by side. */
void lns_pair_align_events (LnsPair *self, int64_t a_ns, int64_t b_ns);

/* Moves B so that what was at its time 0 is at SHIFT_NS of A's (lns_view_get_shift_ns ()): by hand. */
void lns_pair_align_by_hand (LnsPair *self, int64_t shift_ns);

/* How far B is from where the first events of both are at one time: > 0: later. */
int64_t lns_pair_get_offset_ns (LnsPair *self);
void lns_pair_set_offset_ns (LnsPair *self, int64_t offset_ns); /* by hand */
