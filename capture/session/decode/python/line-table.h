/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* From the offset of an instruction to its line, by the line tables of code objects. */

#pragma once

#include "capture/wire/python-layout.h"
#include "src/base/array.h"

#include <stdint.h>

typedef struct
{
  uint32_t end; /* the line is that of the instructions before this offset, in bytes */
  int32_t line; /* 0: these instructions have no line */
} LnsPythonLineRange;

/* Sorted by their ends. */
typedef LNS_ARRAY (LnsPythonLineRange) LnsPythonLines;

/* Decodes the N bytes of a line table. A table that makes no sense gives fewer ranges. Returns false if memory is short. */
bool _lns_python_lines_decode (LnsPythonLineFormat format,
                               int32_t first_line,
                               const uint8_t *bytes,
                               size_t n,
                               LnsPythonLines *lines);

/* The line of the instruction at OFFSET, FIRST_LINE before the first instruction, and 0 where there is none.
 * O(log ranges) */
int32_t _lns_python_line_at (const LnsPythonLines *lines, int32_t first_line, int64_t offset);
