/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the files that find the parts of steps. */

#pragma once

#include "src/analysis/compare/parts.h"
#include "src/analysis/facts/launch-finder.h"
#include "src/analysis/facts/thread-facts.h"
#include "src/analysis/name-key.h"
#include "src/tables/tables.h"

typedef struct
{
  LnsReport *report;
  const LnsWhy *why;
  const atomic_bool *cancel;
  LnsStepTimes *times;
  LnsThreadFacts *facts;
  LnsCallClasses *classes;
  LnsIdMap names;  /* of lns_name_key ()                                                         */
  LnsIdMap wholes; /* 1 + string id -> hash of the whole name                                    */
} LnsPartReader;

/* reader.c: the hash of the name ID with the numbers in it. O(1), but for the first call with a name. */
uint64_t _lns_part_whole_key (LnsPartReader *reader, uint32_t id);

/* thread-parts.c: finds for how long the thread of the steps had no CPU in each, which sets `waited_ns` and `ns`. O(switches). */
bool _lns_part_find_waits (LnsPartReader *reader, LnsError *error);

/* thread-parts.c: the ranges and calls of all threads. O(steps × lanes + events in steps). */
bool _lns_part_read_threads (LnsPartReader *reader, LnsError *error);

/* function-parts.c: the functions in which samples found the thread of the steps. O(samples in steps). */
bool _lns_part_read_functions (LnsPartReader *reader, LnsError *error);

/* device-parts.c: what the GPUs did, and why they were idle. O(operations). */
bool _lns_part_read_devices (LnsPartReader *reader, LnsError *error);
