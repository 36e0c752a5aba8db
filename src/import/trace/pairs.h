/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Pairs beginnings and ends that are events of their own. An end belongs to the last beginning before it with the same
 * key. Where ids hold for all processes, one in the end's own process comes first: many programs count such ids from 1
 * in each process.
 *
 * Most files have them in order: they are paired as they come. Those that find no partner in their process are paired
 * across processes by time at the end. A file whose order turns out to be another one (`is_unordered`) must be read
 * again with `sorts`: all are noted in a table and paired by time at the end.
 *
 * Memory is that of the ranges that are open at one time. After LNS_TRACE_OPEN_MAX of them, which a small compressed
 * file may have, nothing more is paired. */

#pragma once

#include "src/base/id-map.h"
#include "src/import/trace/tables.h"

#define LNS_TRACE_OPEN_MAX (1u << 20)

/* A beginning or an end. */
typedef struct
{
  int64_t time_ns;
  uint64_t key;     /* unique in its process                                                    */
  uint64_t any_key; /* unique in all processes; equal to `key` if ids are unique in one process */
  int64_t tid;      /* globalTid                                                                */
  bool is_arrow;    /* its row is an LNS_TRACE_ROW_ARROW, not an LNS_TRACE_ROW_RANGE            */
} LnsTraceMoment;

typedef struct
{
  LnsTraceTables *tables;
  bool sorts;
  bool is_unordered;
  uint64_t n_lone_ends;   /* at the end: of ranges; beginnings without an end are open ranges     */
  uint64_t n_lone_arrows; /* at the end: ends and beginnings                                      */
  uint64_t n_unpaired; /* beginnings and ends after LNS_TRACE_OPEN_MAX were open                */
  /* Private. */
  LnsIdMap open; /* key → the open range of it that began last                                  */
  uint32_t n_open;
  bool has_lone;
  int64_t last_lone_ns; /* the latest end that found no beginning yet                           */
} LnsTracePairs;

/* Notes that the range or arrow that was last written to TABLES begins at MOMENT. Reading can stop once the file
 * `is_unordered`. */
void lns_trace_pairs_begin (LnsTracePairs *pairs, const LnsTraceMoment *moment);

/* Notes that a range or arrow ends at MOMENT. Reading can stop once the file `is_unordered`. */
void lns_trace_pairs_end (LnsTracePairs *pairs, const LnsTraceMoment *moment);

/* Pairs the remaining moments, after the last event. O(n log n), in the temporary folder. */
void lns_trace_pairs_finish (LnsTracePairs *pairs);

/* Frees what PAIRS holds, before or after the tables are closed. */
void lns_trace_pairs_clear (LnsTracePairs *pairs);
