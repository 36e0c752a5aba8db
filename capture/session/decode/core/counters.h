/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The origin of the decoder's records, and its counters and warnings. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/wire/layout.h"
#include "src/store/write/writer.h"

/* Ranges nested deeper than this are lost, as each depth is a lane. */
#define LNS_DEPTH_MAX 65536u

typedef struct LnsDecoder LnsDecoder;

/* The origin of records. */
typedef struct
{
  uint32_t process; /* instance in the session */
  uint32_t stream;  /* serial in the process */
  uint32_t tid;     /* of the thread that claimed the chunk, as the target sees it */
} LnsDecoderSource;

/* Counted since the last report, or the session, began. */
typedef struct
{
  uint64_t n_bad_chunks;                 /* read up to an invalid record */
  uint64_t n_damaged;                    /* lost in bad chunks, at least */
  uint64_t n_orphan_pops, n_orphan_ends; /* without a beginning: lost, or before the session */
  uint64_t n_untimed;                    /* deferred events with times of an unknown clock */
  uint64_t n_orphan_samples; /* samples of counters that the program has not registered */
  uint64_t n_too_deep;       /* ranges nested deeper than LNS_DEPTH_MAX */
  uint64_t n_refused;        /* left out, as memory was short */
  uint64_t n_dropped;        /* by CUPTI, in all processes */
  uint64_t n_mistimed;   /* records of the GPU's work, to which CUPTI gave no times or wrong ones */
  uint64_t n_unfinished; /* GPU operations and calls that had not ended when the report did, or
                            their process */
  uint64_t n_out_of_memory;  /* CUDA calls that found no device memory */
  uint64_t n_gpu_samples;    /* in the report, which are not events of the program */
  uint64_t n_gpu_lost;       /* samples of hardware counters that GPUs overwrote */
  uint64_t n_cpu_events;     /* samples and scheduling in the report, which any program has */
  uint64_t n_cpu_lost;       /* records of them for which the kernel had no room */
  uint64_t n_python_samples; /* Python samples of threads that were taken */
  uint64_t n_python_skipped; /* those that were due and left out */
  uint64_t n_lost_by[LNS_WIRE_CAUSES];
} LnsDecoderCounters;

/* Events for which there was no report, since this was last taken. */
typedef struct
{
  uint64_t n_late;     /* CUDA records that came after the end of their report */
  uint64_t n_dropped;  /* by CUPTI; the next report begins with them */
  uint64_t n_mistimed; /* the same for those without times or with wrong ones */
} LnsDecoderBetween;

/* A warning about something that a process uses and that is not recorded, or not as it seems. */
typedef struct
{
  uint32_t process;
  const char *code; /* static */
  LnsSeverity severity;
  bool is_settled; /* not to be told any more */
  char text[512];  /* the sentence */
} LnsUnrecorded;
