/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Texts as CPython keeps them. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The N characters at DATA, which have KIND bytes each (1, 2 or 4), with "…" behind them if IS_CUT. Lone surrogates become
 * U+FFFD. To be freed; NULL if memory is short. */
char *_lns_python_text_utf8 (const uint8_t *data, uint64_t n, unsigned kind, bool is_cut);
