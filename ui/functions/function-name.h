/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the functions of a call tree are called, and what stands for one: ranges, kernels, threads. REPORT is that of the tree, or
 * what it has become since. Any thread. Texts are free with g_free (). */

#pragma once

#include <glib.h>

#include "src/analysis/call-tree.h"

/* The name of FUNCTION, or of its module if IS_BY_MODULE. */
char *lns_function_name (LnsReport *report, const LnsCallFunction *function, gboolean is_by_module);

/* The name of FUNCTION, which is not LNS_CALL_CODE; as it is written onto bars if IS_ON_BAR: without namespaces. */
char *
lns_function_other_name (LnsReport *report, const LnsCallFunction *function, gboolean is_on_bar);

/* The path of its module; "" if it has none. What stands for it has a name: "Kernels". */
char *lns_function_module (LnsReport *report, const LnsCallFunction *function);

/* What its module is called: "libc.so.6", "Kernels", "(no module)". */
char *lns_function_module_name (LnsReport *report, const LnsCallFunction *function);
