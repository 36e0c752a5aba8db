/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Where nearly all events of a report are: what is looked at first. */

#pragma once

#include "src/analysis/facts/device-work.h"
#include "src/store/read/report.h"

/* Finds the shortest stretch in which 99.9 % of REPORT's events begin, to a 1,024th of the time that it has events in, and SPAN becomes
 * that with a margin. Returns false, and leaves SPAN alone, where that is most of the time, where there are fewer than 2,000 events or
 * more than 2,000 lanes, or where a lane cannot be read. Any thread. O(lanes × log events). */
bool lns_dense_span (LnsReport *report, LnsSpan *span);
