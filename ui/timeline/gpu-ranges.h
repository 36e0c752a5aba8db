/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds the ranges on the GPU of a report: a worker computes them, or opens what it computed before. Main thread. */

#pragma once

#include <gio/gio.h>

#include "ui/model/view.h"

typedef struct
{
  /* TEXT, which is taken over, says how far the search is, or why it has failed. */
  void (*tell) (char *text, gpointer owner);

  /* The ranges are attached to the report. */
  void (*found) (gpointer owner);
} LnsGpuRangesFuncs;

/* Zeroed at first. The owner reads FINDING, the search under way or NULL, and cancels it before it goes. */
typedef struct
{
  GCancellable *finding;
  gboolean has_failed;
  const LnsGpuRangesFuncs *funcs;
  gpointer owner;
  LnsView *view; /* while FINDING */
} LnsGpuRanges;

/* Finds the ranges of VIEW's report for OWNER, unless they are looked for already or were not found. FUNCS is kept. */
void lns_gpu_ranges_find (LnsGpuRanges *self,
                          LnsView *view,
                          const LnsGpuRangesFuncs *funcs,
                          gpointer owner);
