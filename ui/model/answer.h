/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Why the program of a report was slow (`lanescope why`): found once, on a worker, for all that show it. Main thread only.
 *
 * Signals: "changed" (): another state, another answer, or another excuse; "chosen" (): another finding is chosen; "foretold" ():
 * it is being found, or known, what findings are worth. Property: "count" (guint): how many findings there are. */

#pragma once

#include "src/analysis/why/why.h"
#include "ui/model/view.h"

typedef enum
{
  LNS_ANSWER_WAITING, /* the report is being recorded: it is looked for when that has ended */
  LNS_ANSWER_UNASKED, /* the report is large: lns_answer_ask () */
  LNS_ANSWER_LOOKING,
  LNS_ANSWER_THERE,
  LNS_ANSWER_NONE /* it cannot be told */
} LnsAnswerState;

#define LNS_TYPE_ANSWER (lns_answer_get_type ())
G_DECLARE_FINAL_TYPE (LnsAnswer, lns_answer, LNS, ANSWER, GObject)

/* A new reference on the answer of VIEW's report, which is looked for at once unless the report is large. It keeps a
 * reference of VIEW; the search is cancelled with the last reference on the answer. */
LnsAnswer *lns_answer_of (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;

LnsAnswerState lns_answer_get_state (LnsAnswer *self);

/* The answer, in the person's language, while the state is LNS_ANSWER_THERE; else NULL. Owned by SELF. */
const LnsWhy *lns_answer_get_why (LnsAnswer *self);

/* Gives the part of the report that is looked at first, once it has been looked for an answer: what the verdict is about, if that is the
 * work alone; else where nearly all events are (src/analysis/facts/dense-span.h), or, if that is most of the report, what the verdict is
 * about. FALSE: all of it, as the part would be most of it. */
gboolean lns_answer_get_opening (LnsAnswer *self, LnsSpan *ret_span);

/* What the ledger number L of the answer is about: "GPU 0". Owned by SELF; UTF-8. */
const char *lns_answer_get_subject (LnsAnswer *self, size_t l);

/* A stretch in which a GPU, or the thread that a ledger is of, did nothing, and what it was lost to. A gap between two times of work
 * is one or several, each of which begins where the one before ends. */
typedef struct
{
  int64_t start_ns, end_ns;
  LnsCause cause;
  uint32_t finding; /* 1 + the finding that it is part of, or 0 */
} LnsIdle;

/* The idle stretches of the ledger number L, in order, while the state is LNS_ANSWER_THERE; of large reports none. Owned by SELF. */
const LnsIdle *lns_answer_get_idle (LnsAnswer *self, size_t l, size_t *ret_n);

/* The places of finding number F, in order: the waits or gaps that it is about, of each gap the longest part, or its operations; of
 * large reports the longest few alone. While the state is LNS_ANSWER_THERE. Owned by SELF. */
const LnsSpan *lns_answer_get_places (LnsAnswer *self, size_t f, size_t *ret_n);

/* No finding is chosen. */
#define LNS_ANSWER_NOTHING G_MAXUINT

/* The number of the finding that is chosen, or LNS_ANSWER_NOTHING: its places show on the overview. */
guint lns_answer_get_chosen (LnsAnswer *self);
void lns_answer_choose (LnsAnswer *self, guint f);

/* What finding number F is worth, in a sentence: how long the run would take without it, or why that is not there. NULL: it is not one
 * of the first LNS_WHY_GAINS, of which alone it is known. RET_IS_DUE gets whether lns_answer_foretell () would find it. While the state
 * is LNS_ANSWER_THERE. Free with g_free (). */
char *lns_answer_get_worth (LnsAnswer *self, guint f, gboolean *ret_is_due);

/* Finds what the findings are worth, on a worker, unless that is known, or the answer is not there. */
void lns_answer_foretell (LnsAnswer *self);

/* Whether the report is so small that lns_answer_foretell () may be called without asking. */
gboolean lns_answer_foretells_unasked (LnsAnswer *self);

/* The style class that gives a widget the hue of CAUSE: causes of one family have one. Static. */
const char *lns_answer_cause_class (LnsCause cause);

/* Whether time of CAUSE has the colour of findings: not where it begins or ends the program, or is the profiler's, or is not known. */
gboolean lns_answer_is_warm (LnsCause cause);

/* What IDLE was lost to, in a few words: "waits for loader". Owned by SELF; UTF-8. */
const char *lns_answer_get_label (LnsAnswer *self, const LnsIdle *idle);

/* What the steps of the answer are called, "batch": while the state is LNS_ANSWER_THERE. Owned by SELF; UTF-8. */
const char *lns_answer_get_step_name (LnsAnswer *self);

/* "38 steps", as many as the report has or keeps; NULL where there are none, or the state is another than LNS_ANSWER_THERE. To be freed. */
char *lns_answer_get_steps_text (LnsAnswer *self) G_GNUC_WARN_UNUSED_RESULT;

/* What there is instead of an answer, in a sentence; NULL while the state is LNS_ANSWER_THERE. Free with g_free (). */
char *lns_answer_get_excuse (LnsAnswer *self);

/* Looks for the answer if the state is LNS_ANSWER_UNASKED. */
void lns_answer_ask (LnsAnswer *self);

/* CLAUSE, such as the answer's advice, as a sentence of its own. Free with g_free (). */
char *lns_answer_sentence (const char *clause) G_GNUC_WARN_UNUSED_RESULT;

/* Selects the time of EVIDENCE and shows it, with as much again on each side. Does nothing for a time without length. */
void lns_answer_show (LnsAnswer *self, const LnsEvidence *evidence);
