/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Data that was there when it was asked for. What a thread reads another one has written before; where the reader did not have to wait,
 * the report does not tell whose it was. Of two threads of which one had the other go on, and of which one reads as often as the other
 * writes, each time later, the one is taken to read what the other writes. */

#pragma once

#include "src/analysis/graph/graph.h"

typedef struct LnsExchange LnsExchange;

LnsExchange *lns_exchange_new (uint32_t n_threads);
void lns_exchange_free (LnsExchange *exchange); /* NULL is fine                                  */

/* THREAD calls NAME, a string id, to write data, which are there at POINT, or else to read some, which it has at POINT. In order of time. */
void lns_exchange_add (
    LnsExchange *exchange, uint32_t thread, uint32_t name, bool writes, uint32_t point);

/* THREAD had OTHER go on. */
void lns_exchange_woke (LnsExchange *exchange, uint32_t thread, uint32_t other);

/* Adds edges to GRAPH, in which points were at TIMES: marked as inferred, and as not bound. O(calls × threads that each has to do with). */
void lns_exchange_apply (LnsExchange *exchange, LnsGraph *graph, const int64_t *times);
