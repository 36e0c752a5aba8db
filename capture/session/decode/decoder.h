/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The decoder: turns the records of all streams of a session into the events and definitions of
 * reports. What it knows (processes, threads, domains, names, open ranges) belongs to the session;
 * a report may begin and end at any time, and gets the definitions replayed.
 *
 * Records come in batches, one a drain. Each batch is first looked through for definitions
 * (lns_decoder_define ()), then the batch *before* it is played (lns_decoder_play ()): a definition
 * is committed before its use, perhaps in a chunk that was visited earlier than the use's, and so is
 * in the next batch at the latest.
 *
 * Believes no record. If memory is short, what does not fit is left out and counted. Used by one
 * thread. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/session/decode/core/counters.h"
#include "capture/session/decode/cuda/state.h"
#include "capture/session/decode/nvtx/domain-filter.h"
#include "capture/session/system/process-info.h"
#include "capture/wire/buffers.h"
#include "capture/wire/clock.h"
#include "capture/wire/cupti-clock.h"
#include "src/store/write/writer.h"

/* A decoder whose time 0 is FIRST's. NULL if memory is short. */
LnsDecoder *lns_decoder_new (const LnsWireClockPair *first);
/* Leaves events of domains out, of those that are named from now on. */
void lns_decoder_set_filter (LnsDecoder *decoder, const LnsDomainFilter *filter);
void lns_decoder_free (LnsDecoder *decoder); /* accepts NULL; the writer is the caller's */

/* Adds a pair of clock readings; all records of batches up to now are before it. */
void lns_decoder_add_pair (LnsDecoder *decoder, const LnsWireClockPair *pair);

/* Report time of TICKS. */
int64_t lns_decoder_time_ns (LnsDecoder *decoder, uint64_t ticks);

/* Defines process PROCESS (ids count up from 0), or redefines it. */
void lns_decoder_set_process (LnsDecoder *decoder, uint32_t process, const LnsProcessInfo *info);

/* LOSSES are what PROCESS's pool has counted so far: what no LOST record told of becomes a loss of
 * the whole process. */
void lns_decoder_add_losses (LnsDecoder *decoder, uint32_t process, const LnsWireLosses *losses);

/* How many events LOSSES are: ends are none, as their ranges are kept. */
uint64_t lns_decoder_lost_events (const LnsWireLosses *losses);

/* How many of them were told of so far, by records or lns_decoder_add_losses (), in all processes. */
uint64_t lns_decoder_n_told (const LnsDecoder *decoder);

/* PROCESS ended at END_NS (report time): closes what it has open. LOSSES may be NULL. */
void lns_decoder_end_process (LnsDecoder *decoder,
                              uint32_t process,
                              int64_t end_ns,
                              const LnsWireLosses *losses);

/* PROCESS ended at END_NS with EXIT_CODE, 128+N if EXIT_SIGNAL N (else 0) killed it. What it has open stays so until
 * lns_decoder_end_process (): its last records may still come. */
void lns_decoder_set_exit_code (
    LnsDecoder *decoder, uint32_t process, int64_t end_ns, int exit_code, int exit_signal);

/* Takes the definitions out of N_BYTES of records. */
void lns_decoder_define (LnsDecoder *decoder,
                         const LnsDecoderSource *source,
                         const uint8_t *bytes,
                         size_t n_bytes);

/* Plays N_BYTES of records. All bytes of a stream must come in their order. */
void lns_decoder_play (LnsDecoder *decoder,
                       const LnsDecoderSource *source,
                       const uint8_t *bytes,
                       size_t n_bytes);

/* Plays of the N_BYTES of records only the CUDA events that IS_WANTED says, by their HEAD and the id by
 * which their call is known, and moves the others together. Returns how many bytes they are. */
size_t lns_decoder_take_cuda (LnsDecoder *decoder,
                              const LnsDecoderSource *source,
                              uint8_t *bytes,
                              size_t n_bytes,
                              bool (*is_wanted) (const void *data,
                                                 const LnsWireHead *head,
                                                 uint32_t correlation),
                              const void *data);

/* Plays what CUPTI has left in a buffer of PROCESS, which was killed: the N_BYTES at BYTES, records of the
 * lengths that SIZES tells and times by CLOCK, up to a kind of 0. All of the process's own records must be played. */
void lns_decoder_salvage (LnsDecoder *decoder,
                          uint32_t process,
                          const LnsWireCuptiSizes *sizes,
                          const LnsWireCuptiReadings *clock,
                          const uint8_t *bytes,
                          size_t n_bytes);

/* To be called when a whole batch was played: pairs starts with ends across threads. */
void lns_decoder_settle (LnsDecoder *decoder);

/* From here on events go to WRITER, which gets all definitions so far. Ranges that are open enter
 * with LNS_EVENT_OPEN_START at START_NS; what ended before is left out. */
void lns_decoder_start_report (LnsDecoder *decoder, LnsWriter *writer, int64_t start_ns);

/* The report's end is to wait until CUPTI has handed over what belongs to it: what comes of it later is
 * late. */
void lns_decoder_follow_late (LnsDecoder *decoder);

/* Writes what is open, with LNS_EVENT_OPEN_END, and lets go of the writer. The ranges stay open for
 * a next report. */
void lns_decoder_stop_report (LnsDecoder *decoder, int64_t end_ns);

/* Tells the writer what is open: to be called before each commit. O(ranges opened since the last) */
void lns_decoder_show_open (LnsDecoder *decoder);

/* Reads again what the operating system calls the living threads that the program gave no name
 * itself. O(threads that live), a file of /proc each. */
void lns_decoder_read_thread_names (LnsDecoder *decoder);

/* Whether a Python program has begun to trace functions. */
bool lns_decoder_has_python (const LnsDecoder *decoder);

/* The INDEXth of all that is not recorded, or NULL. Owned by the decoder. */
const LnsUnrecorded *lns_decoder_unrecorded (const LnsDecoder *decoder, size_t index);

/* Adds a diagnostic to the report, if there is one. PROCESS may be LNS_ID_NONE. */
void lns_decoder_diagnose (LnsDecoder *decoder,
                           const char *code,
                           LnsSeverity severity,
                           uint32_t process,
                           const char *text);

/* Writes what waits for its order: to be called before a report's end is told of. */
void lns_decoder_write_held (LnsDecoder *decoder);

LnsCudaState lns_decoder_cuda_state (const LnsDecoder *decoder);

LnsDecoderCounters lns_decoder_counters (const LnsDecoder *decoder);
LnsDecoderBetween lns_decoder_take_between (LnsDecoder *decoder);
