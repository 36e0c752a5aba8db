/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The decoder turns the records of all streams of a session into the events and definitions of reports. What it knows
 * (processes, threads, domains, names, open ranges) belongs to the session. A report may begin and end at any time,
 * and gets the definitions replayed.
 *
 * Records come in batches, one per drain. Each batch is first searched for definitions (lns_decoder_define ()), then
 * the batch *before* it is played (lns_decoder_play ()). The program commits a definition before its first use, but
 * perhaps in a chunk that the drain visits before that of the use; so it is in the next batch at the latest.
 *
 * No record is trusted. If memory is short, what does not fit is left out and counted. Used by one thread. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/session/decode/core/counters.h"
#include "capture/session/decode/core/step-rule.h"
#include "capture/session/decode/cuda/state.h"
#include "capture/session/decode/nvtx/domain-filter.h"
#include "capture/session/system/process-info.h"
#include "capture/wire/clock.h"
#include "src/store/write/writer.h"
#include "src/base/id-map.h"

/* Makes a decoder whose report time 0 is FIRST, and which leaves out the events of domains that FILTER excludes. */
LnsDecoder *lns_decoder_new (const LnsWireClockPair *first, const LnsDomainFilter *filter);
void lns_decoder_free (LnsDecoder *decoder); /* accepts NULL; the writer is the caller's */

/* Adds a pair of clock readings, taken after all records of the batches so far. */
void lns_decoder_add_pair (LnsDecoder *decoder, const LnsWireClockPair *pair);

/* Report time of TICKS. */
int64_t lns_decoder_time_ns (LnsDecoder *decoder, uint64_t ticks);

/* Defines or redefines the process PROCESS; ids count up from 0. */
void lns_decoder_set_process (LnsDecoder *decoder, uint32_t process, const LnsProcessInfo *info);

/* Events of PROCESS that end after TICKS may come late, as CUPTI holds their records back; 0: none do. */
void lns_decoder_set_withheld (LnsDecoder *decoder, uint32_t process, uint64_t ticks);

/* Takes the LOSSES that PROCESS's pool has counted so far. Those of which no LOST record told become a loss of the
 * whole process. */
void lns_decoder_add_losses (LnsDecoder *decoder, uint32_t process, const LnsWireLosses *losses);

/* The number of lost events of all processes that records or lns_decoder_add_losses () told of so far. */
uint64_t lns_decoder_n_told (const LnsDecoder *decoder);

/* Closes what PROCESS has open, as it ended at END_NS (report time). LOSSES may be NULL. */
void lns_decoder_end_process (LnsDecoder *decoder,
                              uint32_t process,
                              int64_t end_ns,
                              const LnsWireLosses *losses);

/* Notes that PROCESS ended at END_NS with EXIT_CODE, or 128+N if EXIT_SIGNAL N killed it (0: none). What it has open
 * stays open until lns_decoder_end_process (), as its last records may still come. */
void lns_decoder_set_exit_code (
    LnsDecoder *decoder, uint32_t process, int64_t end_ns, int exit_code, int exit_signal);

/* Takes the definitions from N_BYTES of records. */
void lns_decoder_define (LnsDecoder *decoder,
                         const LnsDecoderSource *source,
                         const uint8_t *bytes,
                         size_t n_bytes);

/* Plays N_BYTES of records. The bytes of a stream must come in order. */
void lns_decoder_play (LnsDecoder *decoder,
                       const LnsDecoderSource *source,
                       const uint8_t *bytes,
                       size_t n_bytes);

/* A look through waiting records for events that are played out of their turn: those of CUDA that IS_WANTED accepts, by
 * their HEAD and the correlation id of their call. The other fields are zero at first, and are freed by
 * lns_decoder_end_taking (). */
typedef struct
{
  bool (*is_wanted) (const void *data, const LnsWireHead *head, uint32_t correlation);
  const void *data;
  LnsIdMap slots; /* by stream: its launches where its look has come to */
} LnsTaking;

/* Plays the events of the N_BYTES of records that TAKING wants, and moves the others together. The bytes of a stream must
 * come in order, from the first that waits on. Returns how many bytes are left. */
size_t lns_decoder_take_cuda (LnsDecoder *decoder,
                              LnsTaking *taking,
                              const LnsDecoderSource *source,
                              uint8_t *bytes,
                              size_t n_bytes);
void lns_decoder_end_taking (LnsTaking *taking);

/* Returns what CUPTI had in a buffer of PROCESS as records of RET_SOURCE, owned by the caller, which are to be defined and played
 * after all of the process's own; or NULL. IS_COPY: CUPTI hands them over once more, so that nothing is counted now. */
uint8_t *lns_decoder_read_buffer (LnsDecoder *decoder,
                                  uint32_t process,
                                  const LnsSalvage *salvage,
                                  bool is_copy,
                                  LnsDecoderSource *ret_source,
                                  size_t *ret_n_bytes);

/* The greatest correlation id of the CUDA calls of PROCESS that are in reports; 0: there are none. */
uint32_t lns_decoder_last_call (const LnsDecoder *decoder, uint32_t process);

/* Notes that the calls of PROCESS up to TICKS were played from copies. Call this before their report ends. */
void lns_decoder_note_copied (LnsDecoder *decoder, uint32_t process, uint64_t ticks);

/* Pairs starts with ends across threads, and writes the events that have waited for their order long enough: records of
 * those that ended before DRAINED_NS (report time) are played, but for those that are withheld. Call it when a whole batch
 * was played. */
void lns_decoder_settle (LnsDecoder *decoder, int64_t drained_ns);

/* Counts the events that were played and wait for their order. Lowers INOUT_START_NS (report time) to the start of the
 * earliest. */
uint64_t lns_decoder_waiting (LnsDecoder *decoder, int64_t *inout_start_ns);

/* Writes events to WRITER from here on, beginning with all definitions so far. Ranges that are open enter with
 * LNS_EVENT_OPEN_START at START_NS; what ended before is left out. */
void lns_decoder_start_report (LnsDecoder *decoder, LnsWriter *writer, int64_t start_ns);

/* Has the reports that begin from here on keep only the steps that RULE says (NULL: keep all). What waits until that is decided takes
 * at most a quarter of the memory. */
void lns_decoder_keep_steps (LnsDecoder *decoder, const LnsStepRule *rule);

/* Has the report, if it keeps only some steps, keep the time around TIME_NS, too. */
void lns_decoder_keep_around (LnsDecoder *decoder, int64_t time_ns);

/* Decides which steps of the report are kept, as it ends at END_NS: to be called when all is played, before its end is told of.
 * Returns NULL if there is no report, or it keeps all. Else an outcome, valid until the next call with this decoder. */
const LnsKeptSteps *lns_decoder_end_steps (LnsDecoder *decoder, int64_t end_ns);

/* Notes that the report's end waits until CUPTI has handed over what belongs to it. Records that come later count as
 * late. */
void lns_decoder_follow_late (LnsDecoder *decoder);

/* Writes what is open, with LNS_EVENT_OPEN_END, and lets go of the writer. The ranges stay open for the next
 * report. */
void lns_decoder_stop_report (LnsDecoder *decoder, int64_t end_ns);

/* Writes what is open. Call it before each commit. O(ranges opened since the last one). */
void lns_decoder_show_open (LnsDecoder *decoder);

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

LnsDecoderCounters lns_decoder_counters (const LnsDecoder *decoder);
LnsDecoderBetween lns_decoder_take_between (LnsDecoder *decoder);
