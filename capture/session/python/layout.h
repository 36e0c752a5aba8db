/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Where CPython keeps what a sample needs, by version. From 3.13 on the interpreter says so itself; before, the offsets come
 * from the headers that each version installs. */

#pragma once

#include "capture/session/python/line-table.h"
#include "src/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a structure that hold all that is read of it. */
#define LNS_PYTHON_MOST_THREAD_BYTES 512
#define LNS_PYTHON_MOST_FRAME_BYTES  128
#define LNS_PYTHON_MOST_CODE_BYTES   256

/* Offsets in bytes. */
typedef struct
{
  uint8_t minor; /* of Python 3 */
  uint32_t runtime_interpreters;
  uint32_t runtime_gil; /* the GIL itself, up to 3.11; 0: each interpreter points to one */
  uint32_t interpreter_next, interpreter_id, interpreter_threads, interpreter_gil;
  uint32_t gil_holder, gil_locked;
  uint32_t thread_previous, thread_next, thread_interpreter;
  uint32_t thread_self;   /* pthread_self() */
  uint32_t thread_native; /* the kernel's id; 0: not there */
  uint32_t thread_frame;  /* the innermost frame; in 3.11 and 3.12 the C frame that points to it */
  uint32_t c_frame_frame; /* in that C frame */
  bool has_c_frame;
  uint32_t frame_previous, frame_code, frame_instruction;
  uint32_t frame_owner; /* 0: not there */
  uint32_t code_first_line, code_file, code_name, code_lines, code_bytes;
  uint32_t object_type;
  uint32_t bytes_size, bytes_data;
  uint32_t text_length, text_state, text_ascii,
      text_compact;                                    /* the last two: where the characters are */
  uint32_t thread_bytes, frame_bytes, code_head_bytes; /* that hold all of these fields */
  LnsPythonLineFormat line_format;
} LnsPythonLayout;

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
