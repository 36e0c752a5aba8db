/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the program defines once and uses for ever: registered strings, domains, the names of
 * categories, threads and resources, schemas, counters. Handles are the same for all link units of
 * the process. Every definition is kept in private memory and sent when a chunk has room, so none is
 * lost to a full pool, and a fork's child, which inherits the handles, sends them all again.
 *
 * Lock-free: nodes are made whole and then pushed; whoever happens to hold the sending flag sends for
 * all. A thread that dies or a fork at any point leaves at worst a node that nobody sees. */

#pragma once

#include "capture/inject/core/record.h"
#include "capture/wire/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The id of the domain NAME (N_BYTES, not terminated), made if there is none: 1 … 65,535, or 0, the
 * default domain, when there is no room for another. O(1) on the average. */
uint32_t lns_definitions_domain (const char *name, size_t n_bytes);

/* The id of a registered string of DOMAIN, with LNS_WIRE_STRING_REGISTERED; equal texts of a domain
 * share one. 0 when memory or ids have run out. O(1) on the average. */
uint32_t lns_definitions_string (uint32_t domain, const char *text, size_t n_bytes);

/* Gives what HEAD names (by type, domain and string) the name TEXT; nothing happens where that is its
 * name already, since programs name the same things again and again. Errors as below. */
int lns_definitions_name (LnsWireHead head, const char *text, size_t n_bytes);

/* Adds the record made of PARTS, whose first one begins with a LnsWireHead and the record's size,
 * which is filled in. Returns 0, -ENOMEM, or -E2BIG beyond LNS_WIRE_RECORD_MAX_BYTES. */
int lns_definitions_add (const LnsPart *parts, size_t n_parts);

/* A number not given before by this function: for ids that the tool makes. 1 and up. */
uint64_t lns_definitions_serial (void);

/* Whether something waits to be sent. */
bool lns_definitions_are_pending (void);

/* Has WRITE, which gets DATA, write what waits, in order, until it returns false as there is no room. What is left,
 * and all where another thread sends just now, is for the next caller. */
void lns_definitions_send (bool (*write) (void *data, const void *record, size_t n_bytes),
                           void *data);
