/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Converts CUPTI's records into wire records (cuda-layout.h): in the target, as soon as CUPTI gives a buffer
 * back, and in the session, for the buffers that a killed process leaves.
 *
 * CUPTI's structs only ever grew at their ends, so one build serves all versions: a field that a shorter record
 * lacks reads as 0. No CUPTI function is called. Compiled only if cupti.h is there. */

#pragma once

#include "capture/wire/buffers.h"
#include "capture/wire/cuda-layout.h"
#include "capture/wire/cupti-calls.h"
#include "capture/wire/cupti-clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The parts of CUPTI's record that make up a launch, as they are there: the name's address among them. */
typedef struct
{
  uint64_t words[12];
} LnsWireLaunch;

/* What the launch slots of a stream mean: zero at first, and again where the stream tells LOST. */
typedef struct
{
  uint32_t names_epoch; /* of the names' addresses */
  uint32_t n_replaced;
  /* A hash of each launch, by slot, so that a launch is found without reading others; 0: the slot is free. */
  _Alignas(64) uint64_t tags[LNS_WIRE_CUDA_LAUNCHES];
  LnsWireLaunch launches[LNS_WIRE_CUDA_LAUNCHES];
} LnsWireLaunches;

#define LNS_WIRE_CUPTI_CALLS 2048u

/* Where records go. CONTEXT is given to each function. */
typedef struct
{
  void *context;
  /* Room for N_BYTES, a multiple of 16, or null. */
  uint8_t *(*reserve) (void *context, size_t n_bytes);
  void (*commit) (void *context, size_t n_bytes);
  /* There was no room for a record of N_BYTES. It must empty LAUNCHES. */
  void (*lose) (void *context, size_t n_bytes);
  /* The registered string of the text at ADDRESS of the recorded process (null: 0); IS_LASTING: it
   * stays there, as names of kernels do. */
  uint32_t (*text) (void *context, uint64_t address, bool is_lasting);
  /* The name of a function of the runtime's API, or of the driver's. */
  uint32_t (*call_name) (void *context, bool is_runtime, uint32_t cbid);
  /* The PCI bus id of DEVICE, as in LnsWireCudaDeviceBytes; left alone where it is not known. */
  void (*bus) (void *context, uint32_t device, char *ret_bus, size_t n_max);
  LnsWireLaunches *launches;
  const LnsWireCuptiLines *clock; /* by which times become ticks; NULL: they are ticks */
  uint32_t names_epoch;           /* another one than before: names may lie elsewhere now */
  /* By [driver, runtime] and number: LNS_WIRE_CUDA_CALL_ROLES of the call, among other bits; or NULL. */
  const uint8_t (*roles)[LNS_WIRE_CUPTI_CALLS];
  LnsWireCuptiCapturing *capturing; /* by which launches are counted; NULL: all are */
  /* When CUPTI was asked for work that had not ended, UINT64_MAX: at the end of the process; 0: it was not, and work without
   * times has ended. */
  uint64_t asked_ticks;
  bool has_latencies;               /* CUPTI was asked when kernels are queued and submitted */
  const LnsWireCuptiRanges *ranges; /* what is not in these is left out; NULL: all is kept */
  uint32_t skipped_tid;             /* calls of this thread are not kept; 0: none */
  uint32_t skipped_calls[2];        /* nor are those with these correlations; 0: none */
  /* Gets what CUPTI allocated for records and leaves to be freed: the last of them, whose first bytes point to the one
   * before, and so on. NULL: they are another process's. */
  void **leftovers;
} LnsWireCuptiSink;

typedef struct
{
  uint64_t n_compacted;
  uint64_t n_lost;       /* there was no room */
  uint64_t n_mistimed;   /* work that has ended, without times or with an end before its start */
  uint64_t n_unfinished; /* without times: still running when the process died, or never measured;
                            kernels, whose records say so, are not among them */
  /* Of calls that launch one kernel, and of kernels that one launched: where all have run, these are equal. */
  uint64_t n_launched, n_run;
  uint64_t launched_sum, run_sum; /* of their correlations */
  uint32_t last_skipped;          /* highest correlation of a call that was not kept; 0: none */
  uint32_t unknown_kind;          /* not 0: the walk ended at a record of this kind */
} LnsWireCuptiCounts;

/* In the kind of a record that CUPTI has put into a buffer and not filled in: of work that has not ended, as far as CUPTI knows. Not
 * documented: seen with CUPTI 13.0 and driver 580, whose buffers have 0x8000000a for kernels until a flush finds that they ended. */
#define LNS_WIRE_CUPTI_INCOMPLETE UINT32_C (0x80000000)

/* Compacts the records in the N_BYTES at BYTES, which nobody changes meanwhile and which is at a
 * multiple of 8, until they end or a kind is 0. SIZES are those of the
 * CUPTI that wrote them. After each record its end in BYTES goes to RET_COMPACTED (may be null), by a
 * store release. RET_COUNTS is added to. O(n). */
void lns_wire_cupti_compact (const LnsWireCuptiSizes *sizes,
                             const uint8_t *bytes,
                             size_t n_bytes,
                             const LnsWireCuptiSink *sink,
                             uint32_t *ret_compacted,
                             LnsWireCuptiCounts *ret_counts);
