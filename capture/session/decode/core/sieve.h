/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Lets through to a report only the events of stretches of time that are kept, and tells the report which are not. Events wait in
 * memory, lane by lane, until that is decided about their time; those that come later, as records of GPUs do, are decided about at
 * once. An event is kept if it touches a stretch that is kept; work of a GPU, too, if the call that launched it does. Not
 * thread-safe. */

#pragma once

#include "capture/session/decode/core/steps.h"
#include "src/store/write/writer.h"

typedef struct LnsSieve LnsSieve;

/* A sieve for WRITER, which outlives it, whose report begins at START_NS. Events that wait take at most MAX_BYTES. NULL if memory is
 * short. */
LnsSieve *
_lns_sieve_new (const LnsStepRule *rule, LnsWriter *writer, int64_t start_ns, size_t max_bytes);
void _lns_sieve_free (LnsSieve *sieve); /* NULL is fine */

/* The steps, to be told of ranges. */
LnsSteps *_lns_sieve_steps (LnsSieve *sieve);

/* WRITER has the track or lane ID. */
void _lns_sieve_add_track (LnsSieve *sieve, uint32_t id, uint32_t process);
void _lns_sieve_add_lane (LnsSieve *sieve, uint32_t id, uint32_t track, LnsLaneKind kind);

/* As lns_writer_append (), lns_writer_set_open () and lns_writer_close_lane (). */
void _lns_sieve_append (LnsSieve *sieve, uint32_t lane, const LnsEvent *event);
void _lns_sieve_set_open (LnsSieve *sieve, uint32_t lane, const LnsEvent *event);
void _lns_sieve_close_lane (LnsSieve *sieve, uint32_t lane);

/* Decides, as all ranges that ended before REACHED_NS have been told of and all CUDA calls that ended before CALLS_NS appended. */
void _lns_sieve_settle (LnsSieve *sieve, int64_t reached_ns, int64_t calls_ns);

/* Keeps the time around TIME_NS, too. */
void _lns_sieve_keep_around (LnsSieve *sieve, int64_t time_ns);

/* The number of events that wait. Lowers INOUT_START_NS to the time from which on they do. */
uint64_t _lns_sieve_waiting (const LnsSieve *sieve, int64_t *inout_start_ns);

/* Tells the report what was not kept so far: before a commit. */
void _lns_sieve_tell (LnsSieve *sieve);

/* Decides about all there is: the report ends at END_NS. Events that come later are decided about at once.
 * Returns what came of it; the sieve owns that. */
const LnsKeptSteps *_lns_sieve_end (LnsSieve *sieve, int64_t end_ns);
