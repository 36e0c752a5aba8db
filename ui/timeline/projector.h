/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds the NVTX ranges on the GPU of a report. A worker computes them, or opens the result of an earlier
 * computation, and attaches them to the report; then they have lanes like all other events. */

#pragma once

#include "ui/model/view.h"

typedef struct LnsProjector LnsProjector;

/* Called on the main thread. */
typedef struct
{
  /* TEXT says how far the worker is, or why the ranges cannot be found. */
  void (*told) (const char *text, gpointer data);

  /* The report has the lanes of the ranges now. */
  void (*projected) (gpointer data);
} LnsProjectorFuncs;

/* For VIEW's report. Holds a reference on VIEW; FUNCS is kept, not copied. */
LnsProjector *lns_projector_new (LnsView *view,
                                 const LnsProjectorFuncs *funcs,
                                 gpointer data) G_GNUC_WARN_UNUSED_RESULT;

/* Stops. NULL is fine. */
void lns_projector_free (LnsProjector *self);

/* Starts a worker, unless one is at it or has failed. */
void lns_projector_start (LnsProjector *self);

/* Cancels the worker, if there is one. */
void lns_projector_stop (LnsProjector *self);

gboolean lns_projector_is_projecting (LnsProjector *self);
