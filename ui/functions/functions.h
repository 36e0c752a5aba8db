/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The functions of a report by their samples, or its GPU time by the ranges in which it was asked for, in the selected time: what
 * the table of functions and the flame graph show. Main thread only; workers read the report. Signals:
 *
 *   changed ()
 *       other sums are there, or the state changed
 */

#pragma once

#include <glib-object.h>

#include "src/analysis/call-branches.h"
#include "ui/model/view.h"

/* What is counted. */
typedef enum
{
  LNS_FUNCTIONS_OF_CPU,    /* samples of CPUs */
  LNS_FUNCTIONS_OF_PYTHON, /* samples of Python's functions */
  LNS_FUNCTIONS_OF_GPU, /* nanoseconds of kernels, copies and the like, which are functions, as ranges are */
  LNS_N_FUNCTIONS_SOURCES
} LnsFunctionsSource;

/* What was asked for, in numbers: of samples or nanoseconds. Immutable but for its branches, which grow; each holder has a reference. */
typedef struct
{
  LnsFunctionsSource source;
  const LnsCallTree *tree; /* borrowed */
  LnsCallSums
      sums; /* of the chains in which the filter finds a function; of all without a filter */
  uint64_t n_samples; /* 100 %: in the selected time, of the selected threads */
  uint64_t n_without_chain;
  char share_whole
      [LNS_FORMAT_SIZE]; /* lns_call_sums_share_whole () without a filter; "" = not known */
  bool is_by_module;
  bool is_by_thread;       /* processes and threads are the outermost functions */
  bool strips_numbers;     /* even if that was not asked for, where there are too many names */
  LnsCallCount *functions; /* by function, or by first function of a module */
  bool *matches;           /* by function: whether the filter finds it; NULL = no filter */
  LnsCallBranches *down; /* callees below their callers; what is wide enough to be seen has grown */
  LnsCallBranches *up;   /* callers below what they called; NULL until it is asked for */
  gpointer kept;         /* what keeps the tree */
} LnsFunctionSums;

LnsFunctionSums *lns_function_sums_ref (LnsFunctionSums *self);
void lns_function_sums_unref (LnsFunctionSums *self); /* NULL is fine */

/* The branches that have callers below them if IS_BOTTOM_UP, else callees. */
LnsCallBranches *lns_function_sums_get_branches (LnsFunctionSums *self, gboolean is_bottom_up);

typedef enum
{
  LNS_FUNCTIONS_NONE,    /* the report has nothing to count */
  LNS_FUNCTIONS_READING, /* there are no sums yet */
  LNS_FUNCTIONS_FAILED,  /* those that are wanted cannot be made */
  LNS_FUNCTIONS_READY
} LnsFunctionsState;

#define LNS_TYPE_FUNCTIONS (lns_functions_get_type ())
G_DECLARE_FINAL_TYPE (LnsFunctions, lns_functions, LNS, FUNCTIONS, GObject)

/* Holds a reference on VIEW. Reads nothing until lns_functions_set_active (). */
LnsFunctions *lns_functions_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;

LnsView *lns_functions_get_view (LnsFunctions *self);

/* While it is active, the sums follow the selected time. */
void lns_functions_set_active (LnsFunctions *self, gboolean is_active);

LnsFunctionsState lns_functions_get_state (LnsFunctions *self);
const char *lns_functions_get_message (LnsFunctions *self); /* why it failed, or NULL */
gboolean lns_functions_is_busy (LnsFunctions *self);        /* newer sums are on their way */

/* The last sums, which stay when later ones fail, as their rows and bars do; owned by SELF; NULL until there are some. */
LnsFunctionSums *lns_functions_get_sums (LnsFunctions *self);

/* Only samples of THREADS (by thread instance, copied; NULL: all of them), which TITLE names; or what they launched. */
void lns_functions_set_threads (LnsFunctions *self, const char *title, const bool *threads);
const char *lns_functions_get_threads_title (LnsFunctions *self); /* NULL: all of them */

/* Only chains in which a function's or module's name contains TEXT. */
void lns_functions_set_filter (LnsFunctions *self, const char *text);

void lns_functions_set_by_module (LnsFunctions *self, gboolean is_by_module);

/* Whether samples are below the processes and threads that they were taken of, which are functions then. */
void lns_functions_set_by_thread (LnsFunctions *self, gboolean is_by_thread);

/* Whether ranges of GPU time whose names differ by numbers alone are one: layers, steps. */
void lns_functions_set_strips_numbers (LnsFunctions *self, gboolean strips_numbers);

/* Counts SOURCE, if the report has it. */
void lns_functions_set_source (LnsFunctions *self, LnsFunctionsSource source);
LnsFunctionsSource lns_functions_get_source (LnsFunctions *self);
gboolean lns_functions_has_source (LnsFunctions *self, LnsFunctionsSource source);

/* Selects and reveals the first sample or operation that BRANCH of BRANCHES of the last sums counts, after the selected event if
 * that is one, and from the start again behind the last one. */
void lns_functions_show_next (LnsFunctions *self, const LnsCallBranches *branches, uint32_t branch);

/* The same of a function, wherever it was called. */
void lns_functions_show_next_of (LnsFunctions *self, uint32_t function);

/* The hue of the module of FUNCTION: modules differ, as far as there are hues. Kernels, copies, memsets and the ranges of a domain
 * are modules, too. */
unsigned lns_functions_module_hue (LnsFunctions *self, uint32_t function);

/* --- Texts; free with g_free () ------------------------------------------------------------------- */

/* The name of FUNCTION, or of its module if SUMS are by module. */
char *lns_functions_name (LnsFunctions *self, uint32_t function);

/* The same as it is written onto bars: without namespaces. */
char *lns_functions_bar_name (LnsFunctions *self, uint32_t function);

/* The path of its module; "" if it has none. What stands for it has a name: "Kernels". */
char *lns_functions_module (LnsFunctions *self, uint32_t function);

/* What its module is called: "libc.so.6", "Kernels", "(no module)". */
char *lns_functions_module_name (LnsFunctions *self, uint32_t function);

/* N of what is counted: "1,200", or "1.2 ms". */
char *lns_functions_amount (LnsFunctions *self, uint64_t n);

/* The same in words: "1,200 samples", or "1.2 ms". */
char *lns_functions_amount_in_words (LnsFunctions *self, uint64_t n);

/* "37.5 %" of N, of all that is counted. */
char *lns_functions_share (LnsFunctions *self, uint64_t n);

/* What a tooltip says of FUNCTION with COUNT: name, module, shares and amounts. */
char *lns_functions_describe (LnsFunctions *self, uint32_t function, LnsCallCount count);
