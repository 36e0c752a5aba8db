/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the decoder is told and tells beside events: where bytes come from, and what it counts. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/wire/layout.h"
#include "src/store/write/writer.h"

/* Deeper ranges than this are lost: each depth is a lane. */
#define LNS_DEPTH_MAX 65536u

typedef struct LnsDecoder LnsDecoder;

/* Where bytes come from. */
typedef struct
{
  uint32_t process; /* instance in the session */
  uint32_t stream;  /* serial in the process */
  uint32_t tid;     /* of the chunk's claimer, as the target sees it */
} LnsDecoderSource;

/* Since the last report began, or the session. */
typedef struct
{
  uint64_t n_bad_chunks;                 /* read up to a record that is none */
  uint64_t n_damaged;                    /* events lost there, at least */
  uint64_t n_orphan_pops, n_orphan_ends; /* their beginning is lost, or was before the session */
  uint64_t n_untimed;                    /* deferred events whose times are of an unknown clock */
  uint64_t n_orphan_samples;             /* of counters that the program has not registered */
  uint64_t n_too_deep;                   /* ranges: nested deeper than lanes go */
  uint64_t n_refused;                    /* memory was short */
  uint64_t n_dropped;                    /* by CUPTI, in all processes */
  uint64_t n_unfinished;    /* GPU operations and calls that had not ended when the report did, or
                            their process */
  uint64_t n_out_of_memory; /* CUDA calls that found no device memory */
  uint64_t n_lost_by[LNS_WIRE_CAUSES];
} LnsDecoderCounters;

/* What no report was there for, since this was last taken. */
typedef struct
{
  uint64_t n_late;    /* records of CUDA that came when the report which they belong to had ended */
  uint64_t n_dropped; /* by CUPTI; the next report begins with them */
} LnsDecoderBetween;

/* What a process uses that is not recorded, or not what it seems. */
typedef struct
{
  uint32_t process;
  const char *code; /* static */
  LnsSeverity severity;
  bool is_settled; /* not to be told any more */
  char text[256];  /* a sentence */
} LnsUnrecorded;
