/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes files that every checksum and parser accepts and whose content is hostile: counts that
 * nothing in the file supports, ids of things that do not exist, times at the ends of int64,
 * strings of odd lengths. A seed determines each file. Not thread-safe. */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* Begins the sequence of random numbers that all functions below draw from. */
void hostile_seed (uint64_t seed);

/* A number from 0 to BELOW - 1. */
uint64_t hostile_draw (uint64_t below);

/* Whether an event of probability 1 in N happens. */
int hostile_one_in (uint64_t n);

/* A number that is likely to break arithmetic: ends of types, powers of two and their neighbours. */
uint64_t hostile_number (void);

/* An id of one of N things; now and then one that does not exist. */
uint32_t hostile_id (uint32_t n);

/* A text in *RET_BYTES (static, until the next call): empty, long, with control bytes or invalid UTF-8,
 * or a name that readers look for. Returns its size. */
size_t hostile_text (const char **ret_bytes);

/* Writes a report with lanes, definitions and tables of every kind to PATH. */
void hostile_report (const char *path);

/* Changes fields inside the report at PATH, and makes the checksums right again. */
void hostile_change_report (const char *path);

/* Writes an SQLite export with rows of every kind to PATH. */
void hostile_export (const char *path);

/* Writes a JSON trace to PATH. */
void hostile_trace (const char *path);
