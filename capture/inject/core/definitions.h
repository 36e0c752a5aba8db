/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Definitions that the program makes once and uses for ever: registered strings, domains, the names of categories,
 * threads and resources, schemas, counters. Handles are the same for all link units of the process. Each definition
 * is kept in private memory and sent when a chunk has room, so a full pool loses none. The child of a fork inherits
 * the handles and sends all definitions again.
 *
 * Lock-free: a node is completed before it is pushed, and the thread that holds the sending flag sends for all. If a
 * thread dies or forks at any point, at worst a node is left that nobody sees. */

#pragma once

#include "capture/inject/core/record.h"
#include "capture/wire/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds or makes the domain NAME (N_BYTES, not terminated). Returns its id, 1 … 65,535; or 0, the default domain, if
 * there is no room for another. O(1) on average. */
uint32_t lns_definitions_domain (const char *name, size_t n_bytes);

/* Registers a string of DOMAIN. Returns its id, with LNS_WIRE_STRING_REGISTERED; equal texts of a domain share one.
 * Returns 0 if memory or ids have run out. O(1) on average. */
uint32_t lns_definitions_string (uint32_t domain, const char *text, size_t n_bytes);

/* Names the object of HEAD (by type, domain and string) TEXT. Does nothing if that is its name already, as programs
 * name the same things again and again. Errors as below. */
int lns_definitions_name (LnsWireHead head, const char *text, size_t n_bytes);

/* Adds the record made of PARTS, whose first one begins with a LnsWireHead and the record's size,
 * which is filled in. Returns 0, -ENOMEM, or -E2BIG beyond LNS_WIRE_RECORD_MAX_BYTES. */
int lns_definitions_add (const LnsPart *parts, size_t n_parts);

/* A number, from 1 up, that this function has not returned before: for ids that the tool makes. */
uint64_t lns_definitions_serial (void);

/* Whether definitions wait to be sent. */
bool lns_definitions_are_pending (void);

/* Calls WRITE with DATA for each waiting definition, in order, until it returns false as there is no room. The rest is
 * left to the next caller; so is everything if another thread is sending. */
void lns_definitions_send (bool (*write) (void *data, const void *record, size_t n_bytes),
                           void *data);
