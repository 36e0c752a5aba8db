/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Runs a job on a worker: something that takes too long for the main thread, as it reads the report. */

#pragma once

#include <gio/gio.h>
#include <stdatomic.h>

#include "ui/model/view.h"

/* What a worker works with. Two ways tell that the job was cancelled, as functions take either. */
typedef struct
{
  LnsReport *report; /* as it was when the job began; open until the job is freed */
  GCancellable *cancellable;
  atomic_bool cancelled;
  atomic_uint permille; /* written by the work: how far it is */
} LnsWorker;

typedef struct
{
  /* Runs on a worker. Leaves its results in JOB. */
  void (*work) (LnsWorker *worker, gpointer job);

  /* Runs on the main thread after the work, unless the job was cancelled. */
  void (*done) (gpointer job, gpointer owner);

  /* Frees JOB on the main thread. */
  void (*free) (gpointer job);

  /* May be NULL. Runs on the main thread about ten times a second until the job is done or cancelled. */
  void (*tell) (unsigned permille, gpointer owner);
} LnsJobFuncs;

/* Starts JOB, which is taken over, for OWNER, and cancels the job of *RUNNING, if there is one. *RUNNING is set until the
 * job is done or cancelled; OWNER must cancel the job before it goes. Keeps VIEW, and so the report, open. FUNCS is kept, not copied. */
void lns_job_start (
    GCancellable **running, LnsView *view, const LnsJobFuncs *funcs, gpointer job, gpointer owner);

/* Cancels the job of *RUNNING, if there is one, and sets *RUNNING to NULL. */
void lns_job_cancel (GCancellable **running);
