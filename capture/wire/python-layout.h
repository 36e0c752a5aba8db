/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Where CPython keeps what a call chain needs, by version. From 3.13 on the interpreter says so itself; before, the offsets
 * come from the headers that each version installs. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum
{
  LNS_PYTHON_LINES_DELTAS,   /* co_lnotab, up to 3.9 */
  LNS_PYTHON_LINES_RANGES,   /* co_linetable of 3.10 (PEP 626) */
  LNS_PYTHON_LINES_LOCATIONS /* co_linetable from 3.11 on (PEP 657) */
} LnsPythonLineFormat;

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
  uint32_t frame_locals;
  uint32_t type_keys; /* PyHeapTypeObject.ht_cached_keys; 0: names of threads are not read */
  uint32_t code_first_line, code_file, code_name, code_lines, code_bytes;
  uint32_t object_type;
  uint32_t bytes_size, bytes_data;
  uint32_t text_length, text_state, text_ascii,
      text_compact;                                    /* the last two: where the characters are */
  uint32_t thread_bytes, frame_bytes, code_head_bytes; /* that hold all of these fields */
  LnsPythonLineFormat line_format;
} LnsPythonLayout;

typedef enum
{
  LNS_PYTHON_LAYOUT_IS_KNOWN,
  LNS_PYTHON_LAYOUT_OF_NO_VERSION, /* this version is not known */
  LNS_PYTHON_LAYOUT_IS_UNTOLD,     /* the interpreter should say where things are, and does not */
  LNS_PYTHON_LAYOUT_IS_FREE_THREADED,
  LNS_PYTHON_LAYOUT_IS_TOO_LARGE /* structures or objects are larger than those of its version */
} LnsPythonLayoutResult;

/* What is read of the start of _PyRuntime, at most. */
#define LNS_PYTHON_MOST_RUNTIME_BYTES 648

/* How many bytes of _PyRuntime an interpreter of VERSION (PY_VERSION_HEX, of which versions before 3.11 tell only major
 * and minor) is to be asked for: 0 where offsets are known without. */
size_t lns_python_layout_runtime_bytes (uint32_t version);

/* Fills RET_LAYOUT for VERSION, whose _PyRuntime begins with RUNTIME. */
LnsPythonLayoutResult
lns_python_layout (uint32_t version, const uint8_t *runtime, LnsPythonLayout *ret_layout);

/* Where in its function a frame of CODE is whose field at `frame_instruction` has INSTRUCTION, in bytes. Up to 3.10 a number
 * tells it: of bytes in 3.9, of instructions of two bytes in 3.10 (frameobject.h). */
static inline int64_t
lns_python_offset_in_code (const LnsPythonLayout *layout, uint64_t code, uint64_t instruction)
{
  if (layout->minor <= 10)
    return (int64_t)(int32_t)instruction * (layout->minor == 9 ? 1 : 2);
  return (int64_t)(instruction - code - layout->code_bytes);
}

/* From 3.12 on, frames of these owners are between Python and C, and no function: FRAME_OWNED_BY_CSTACK is 3 in 3.12 and 3.13,
 * FRAME_OWNED_BY_INTERPRETER is 3 and FRAME_OWNED_BY_CSTACK 4 in 3.14 (internal/pycore_frame.h, pycore_interpframe_structs.h). */
static inline bool
lns_python_frame_has_function (const LnsPythonLayout *layout, const uint8_t *frame)
{
  return layout->minor < 12 || frame[layout->frame_owner] < 3;
}

/* The code object of FRAME. 3.14 marks references in the lowest bits. */
static inline uint64_t
lns_python_frame_code (const LnsPythonLayout *layout, const uint8_t *frame)
{
  uint64_t code;
  __builtin_memcpy (&code, frame + layout->frame_code, sizeof code);
  return code & ~UINT64_C (7);
}

/* Bits of the state of a str that do not change (cpython/unicodeobject.h): the size of its characters in bytes, whether they
 * follow the head, and whether all are ASCII. */
#define LNS_PYTHON_TEXT_KIND(state) ((state) >> 2 & 7)
#define LNS_PYTHON_TEXT_COMPACT     0x20u
#define LNS_PYTHON_TEXT_ASCII       0x40u
#define LNS_PYTHON_TEXT_FIXED       0x7cu
