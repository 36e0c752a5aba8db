/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads where an interpreter in another process keeps what a sample needs. */

#pragma once

#include "capture/wire/python-layout.h"
#include "src/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* How the reader finds the start of an interpreter. */
typedef struct
{
  uint64_t runtime;   /* address of _PyRuntime */
  uint64_t code_type; /* of PyCode_Type */
  uint32_t version; /* as PY_VERSION_HEX, of which versions before 3.11 tell only major and minor */
} LnsPythonPlace;

/* Fills RET_LAYOUT for the interpreter at PLACE in process PID. Returns false with a sentence if this version is not known,
 * or what it says of itself makes no sense. */
bool _lns_python_layout_read (int32_t pid,
                              const LnsPythonPlace *place,
                              LnsPythonLayout *ret_layout,
                              LnsError *error);
