/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The Python functions that a process has told of, by their numbers in call chains. */

#pragma once

#include "capture/session/decode/core/source.h"
#include "src/base/id-map.h"

/* Zero it before first use. */
typedef struct
{
  LnsIdMap by_number;
  size_t n_bytes; /* that all of them need */
} LnsPythonFunctions;

/* A line of a function. */
typedef struct
{
  const char *name, *file; /* as long as the functions */
  int32_t line;            /* 0: not known */
} LnsPythonPosition;

/* Takes the function that RECORD, a LNS_WIRE_PYTHON_CODE, tells of. Returns false if memory is short, or so many are there
 * already that one process needs too much of it. */
bool _lns_python_functions_add (LnsPythonFunctions *functions, const LnsWireRecord *record);

/* Which line WORD of a chain is. Returns false if its function is not known. O(log lines) */
bool _lns_python_functions_find (const LnsPythonFunctions *functions,
                                 uint64_t word,
                                 LnsPythonPosition *ret_position);

void _lns_python_functions_clear (LnsPythonFunctions *functions);
