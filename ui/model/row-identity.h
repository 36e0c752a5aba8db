/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a row is in every capture of a program: not by ids and numbers of processes, which differ from run to run, but by
 * names: "process train.py/thread loader#2/nvtx batches". Any thread. */

#pragma once

#include <glib.h>

#include "ui/model/row-tree.h"

/* The identities of all rows of TREE, by row: those of siblings that are called alike are numbered in their order. Valid UTF-8, and
 * the same in all languages. The array and its strings are the caller's. O(rows). */
GPtrArray *lns_row_identities (const LnsRowTree *tree, LnsReport *report) G_GNUC_WARN_UNUSED_RESULT;

/* What the program of REPORT is called in every capture: "python3 train.py"; or NULL if that is not known. Free with g_free (). */
char *lns_program_identity (LnsReport *report) G_GNUC_WARN_UNUSED_RESULT;
