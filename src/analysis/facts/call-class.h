/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What calls are for: the one table of names by which time in a call gets its cause. */

#pragma once

#include "src/store/read/report.h"

typedef enum
{
  LNS_CALL_OTHER, /* nothing that explains where its time went                                   */
  /* The CUDA API. */
  LNS_CALL_SYNC,       /* waits for the GPU                                                      */
  LNS_CALL_SYNC_COPY,  /* a copy or a set that returns when it is done: it waits for the GPU, too */
  LNS_CALL_QUERY,      /* asks whether the GPU is done                                           */
  LNS_CALL_LAUNCH,     /* queues kernels, copies, sets or graphs, and returns                    */
  LNS_CALL_ALLOCATION, /* allocates, frees, maps or registers memory                             */
  LNS_CALL_MODULE,     /* loads, links or compiles code                                          */
  LNS_CALL_STREAM_WAIT, /* has a stream wait for an event                                        */
  LNS_CALL_CAPTURE, /* from now on launches make a graph, and no work                            */
  LNS_CALL_CAPTURE_END,
  /* The OS runtime and system calls. */
  LNS_CALL_LOCK,    /* waits for another thread or process                                       */
  LNS_CALL_RELEASE, /* has another thread go on                                                  */
  LNS_CALL_IO,      /* reads, opens, or waits for files and sockets                              */
  LNS_CALL_OUTPUT,  /* writes to files and sockets, or waits until that is done                  */
  LNS_CALL_SLEEP,   /* waits for time to pass                                                    */
  LNS_CALL_DEVICE,  /* asks a driver                                                             */
  /* MPI, and NCCL's ranges. */
  LNS_CALL_COLLECTIVE, /* waits for all ranks                                                    */
  LNS_CALL_PEER,       /* waits for another rank                                                 */
  LNS_N_CALL_CLASSES
} LnsCallClass;

/* Remembers the classes of the names of a report. */
typedef struct LnsCallClasses LnsCallClasses;

/* The classes of REPORT (borrowed). To be freed. O(strings). One thread at a time. */
LnsCallClasses *lns_call_classes_new (LnsReport *report);
void lns_call_classes_free (LnsCallClasses *classes); /* NULL is fine                           */

/* The class of a call of a lane of KIND with NAME, a string id of the report. O(1), but for the first call with a name. */
LnsCallClass lns_call_class_of (LnsCallClasses *classes, LnsLaneKind kind, uint32_t name);

/* The class of the call TEXT of a lane of KIND: "cudaDeviceSynchronize_v3020". Any thread. O(names of the table). */
LnsCallClass lns_call_class_of_text (LnsLaneKind kind, const char *text);

/* Whether the call TEXT of a lane of KIND, of the OS runtime or system calls, does nothing but wait: for a lock, a time, or until a
 * descriptor is ready. Any thread. O(names of the table). */
bool lns_call_only_waits (LnsLaneKind kind, const char *text);

/* Whether kernels called KERNEL are of collectives, in which GPUs wait for each other. */
bool lns_is_collective (const char *kernel);
