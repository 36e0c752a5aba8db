/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/python/layout.h"

#include "capture/session/python/memory.h"

#include <string.h>

/* Structures of public headers that are the same in all versions of a group, on 64-bit machines: PyObject in object.h,
 * PyBytesObject in cpython/bytesobject.h, PyASCIIObject and PyCompactUnicodeObject in cpython/unicodeobject.h (3.12 removed
 * wstr and wstr_length from them), struct _gil_runtime_state in internal/pycore_gil.h. */
#define OBJECTS(ascii, compact)                                                                    \
 .object_type = 8, .bytes_size = 16, .bytes_data = 32, .text_length = 16, .text_state = 32,        \
 .text_ascii = (ascii), .text_compact = (compact), .gil_holder = 8, .gil_locked = 16

/* The fields in order: _PyRuntimeState in internal/pycore_runtime.h, PyInterpreterState in internal/pycore_interp.h,
 * PyThreadState in cpython/pystate.h, frames in cpython/frameobject.h or from 3.11 on internal/pycore_frame.h, PyCodeObject
 * in cpython/code.h. Their offsets are offsetof() with the headers of 3.9.18, 3.10.13, 3.11.7 and 3.12.1;
 * tests/e2e/test_python_reader.py compares them with the headers of each version that is installed. */
static const LnsPythonLayout known[] = {
  { .minor = 9,
    OBJECTS (48, 72),
    .runtime_interpreters = 32,
    .runtime_gil = 352,
    .interpreter_next = 0,
    .interpreter_id = 24,
    .interpreter_threads = 8,
    .thread_previous = 0,
    .thread_next = 8,
    .thread_interpreter = 16,
    .thread_self = 176,
    .thread_frame = 24,
    .frame_previous = 24,
    .frame_code = 32,
    .frame_instruction = 104,
    .code_first_line = 40,
    .code_file = 104,
    .code_name = 112,
    .code_lines = 120,
    .line_format = LNS_PYTHON_LINES_DELTAS },
  { .minor = 10,
    OBJECTS (48, 72),
    .runtime_interpreters = 32,
    .runtime_gil = 352,
    .interpreter_next = 0,
    .interpreter_id = 24,
    .interpreter_threads = 8,
    .thread_previous = 0,
    .thread_next = 8,
    .thread_interpreter = 16,
    .thread_self = 176,
    .thread_frame = 24,
    .frame_previous = 24,
    .frame_code = 32,
    .frame_instruction = 96,
    .code_first_line = 40,
    .code_file = 104,
    .code_name = 112,
    .code_lines = 120,
    .line_format = LNS_PYTHON_LINES_RANGES },
  { .minor = 11,
    OBJECTS (48, 72),
    .runtime_interpreters = 40,
    .runtime_gil = 360,
    .interpreter_next = 0,
    .interpreter_id = 48,
    .interpreter_threads = 16,
    .thread_previous = 0,
    .thread_next = 8,
    .thread_interpreter = 16,
    .thread_self = 152,
    .thread_native = 160,
    .thread_frame = 56,
    .has_c_frame = true,
    .c_frame_frame = 8,
    .frame_previous = 48,
    .frame_code = 32,
    .frame_instruction = 56,
    .frame_owner = 69,
    .code_first_line = 72,
    .code_file = 112,
    .code_name = 128,
    .code_lines = 136,
    .code_bytes = 184,
    .line_format = LNS_PYTHON_LINES_LOCATIONS },
  { .minor = 12,
    OBJECTS (40, 56),
    .runtime_interpreters = 40,
    .interpreter_gil = 384,
    .interpreter_next = 0,
    .interpreter_id = 8,
    .interpreter_threads = 72,
    .thread_previous = 0,
    .thread_next = 8,
    .thread_interpreter = 16,
    .thread_self = 136,
    .thread_native = 144,
    .thread_frame = 56,
    .has_c_frame = true,
    .c_frame_frame = 0,
    .frame_previous = 8,
    .frame_code = 0,
    .frame_instruction = 56,
    .frame_owner = 70,
    .code_first_line = 68,
    .code_file = 112,
    .code_name = 128,
    .code_lines = 136,
    .code_bytes = 192,
    .line_format = LNS_PYTHON_LINES_LOCATIONS },
};

/* struct _Py_DebugOffsets, 64-bit words after its cookie: the number of the word at which each of its structures begins, in
 * internal/pycore_runtime.h of 3.13 and internal/pycore_debug_offsets.h of 3.14. */
typedef struct
{
  uint8_t minor;
  uint8_t gil; /* ceval_gil in interpreter_state; what follows it is the same in both */
  uint8_t thread, frame, code, object, bytes, text;
} Words;

static const Words words_of[] = {
  { 13, .gil = 13, .thread = 18, .frame = 27, .code = 33, .object = 43, .bytes = 63, .text = 66 },
  { 14, .gil = 14, .thread = 21, .frame = 30, .code = 38, .object = 49, .bytes = 73, .text = 76 },
};
#define MOST_WORDS  80
#define MOST_OFFSET (16 << 20) /* _PyRuntimeState has half a megabyte in 3.12 */

static uint32_t
most (const uint32_t *numbers, size_t n)
{
  uint32_t greatest = 0;

  for (size_t i = 0; i < n; i++)
    if (numbers[i] > greatest)
      greatest = numbers[i];
  return greatest;
}

/* Computes how much of each structure is read. Returns false if that is more than there is room for. */
static bool
complete (LnsPythonLayout *layout)
{
  const uint32_t thread[] = { layout->thread_previous,    layout->thread_next,
                              layout->thread_interpreter, layout->thread_self,
                              layout->thread_native,      layout->thread_frame };
  const uint32_t frame[] = { layout->frame_previous, layout->frame_code, layout->frame_instruction,
                             layout->frame_owner };
  const uint32_t code[] = { layout->code_first_line, layout->code_file, layout->code_name,
                            layout->code_lines, layout->object_type };

  layout->thread_bytes = most (thread, sizeof thread / sizeof thread[0]) + 8;
  layout->frame_bytes = (most (frame, sizeof frame / sizeof frame[0]) + 8) & ~7u;
  layout->code_head_bytes = most (code, sizeof code / sizeof code[0]) + 8;
  return layout->thread_bytes <= LNS_PYTHON_MOST_THREAD_BYTES &&
         layout->frame_bytes <= LNS_PYTHON_MOST_FRAME_BYTES &&
         layout->code_head_bytes <= LNS_PYTHON_MOST_CODE_BYTES;
}

static bool
read_own_offsets (int32_t pid,
                  const LnsPythonPlace *place,
                  const Words *at,
                  LnsPythonLayout *layout,
                  LnsError *error)
{
  char cookie[8];
  uint64_t words[MOST_WORDS];
  const size_t n = (size_t)at->text + 4;

  if (!_lns_remote_read (pid, place->runtime, cookie, sizeof cookie) ||
      !_lns_remote_read (pid, place->runtime + sizeof cookie, words, n * sizeof words[0]) ||
      memcmp (cookie, "xdebugpy", sizeof cookie) != 0 || words[0] != place->version)
    return lns_error_set (
        error, LNS_ERROR_UNSUPPORTED, 0,
        "the Python interpreter of process %d does not describe its memory as CPython 3.%d does",
        pid, at->minor);
  if (words[1] != 0)
    return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                          "the Python interpreter of process %d is free-threaded, and Lanescope "
                          "cannot sample its functions",
                          pid);
  for (size_t i = 2; i < n; i++)
    if (words[i] >= MOST_OFFSET)
      return lns_error_set (
          error, LNS_ERROR_UNSUPPORTED, 0,
          "the Python interpreter of process %d says that a field is %llu bytes away", pid,
          (unsigned long long)words[i]);
  const uint64_t *thread = words + at->thread, *frame = words + at->frame, *code = words + at->code,
                 *text = words + at->text, *gil = words + at->gil;
  *layout = (LnsPythonLayout){
    .minor = at->minor,
    .runtime_interpreters = (uint32_t)words[4],
    .interpreter_id = (uint32_t)words[6],
    .interpreter_next = (uint32_t)words[7],
    .interpreter_threads = (uint32_t)words[8],
    .interpreter_gil = (uint32_t)gil[0],
    .gil_locked =
        (uint32_t)(gil[3] -
                   gil[1]), /* both are given for the interpreter's own GIL, which begins at gil[1] */
    .gil_holder = (uint32_t)(gil[4] - gil[1]),
    .thread_previous = (uint32_t)thread[1],
    .thread_next = (uint32_t)thread[2],
    .thread_interpreter = (uint32_t)thread[3],
    .thread_frame = (uint32_t)thread[4],
    .thread_self = (uint32_t)thread[5],
    .thread_native = (uint32_t)thread[6],
    .frame_previous = (uint32_t)frame[1],
    .frame_code = (uint32_t)frame[2],
    .frame_instruction = (uint32_t)frame[3],
    .frame_owner = (uint32_t)frame[5],
    .code_file = (uint32_t)code[1],
    .code_name = (uint32_t)code[3],
    .code_lines = (uint32_t)code[4],
    .code_first_line = (uint32_t)code[5],
    .code_bytes = (uint32_t)code[9],
    .object_type = (uint32_t)words[at->object + 1],
    .bytes_size = (uint32_t)words[at->bytes + 1],
    .bytes_data = (uint32_t)words[at->bytes + 2],
    .text_state = (uint32_t)text[1],
    .text_length = (uint32_t)text[2],
    .text_ascii = (uint32_t)text[3],
    .text_compact =
        (uint32_t)text[3] + 16, /* utf8_length and utf8 follow: cpython/unicodeobject.h */
    .line_format = LNS_PYTHON_LINES_LOCATIONS,
  };
  /* What is read of objects has room for so much, in this order. */
  if (layout->gil_holder > 64 || layout->gil_locked > 64 || layout->bytes_data > 64 ||
      layout->text_length + 8 > layout->text_state || layout->text_state + 4 > layout->text_ascii ||
      layout->text_compact > 64)
    return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                          "the Python interpreter of process %d has objects that are larger than "
                          "those of CPython 3.%d",
                          pid, at->minor);
  return true;
}

bool
_lns_python_layout_read (int32_t pid,
                         const LnsPythonPlace *place,
                         LnsPythonLayout *ret_layout,
                         LnsError *error)
{
  const unsigned major = place->version >> 24, minor = place->version >> 16 & 255;
  bool is_known = false;

  for (size_t i = 0; major == 3 && i < sizeof known / sizeof known[0]; i++)
    if (known[i].minor == minor)
      {
        *ret_layout = known[i];
        is_known = true;
      }
  for (size_t i = 0; major == 3 && i < sizeof words_of / sizeof words_of[0]; i++)
    if (words_of[i].minor == minor)
      {
        if (!read_own_offsets (pid, place, &words_of[i], ret_layout, error))
          return false;
        is_known = true;
      }
  if (!is_known)
    return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                          "process %d runs Python %u.%u, and Lanescope can sample the functions of "
                          "CPython 3.9 to 3.14",
                          pid, major, minor);
  if (!complete (ret_layout))
    return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                          "the Python interpreter of process %d has structures that are larger "
                          "than those of CPython 3.%u",
                          pid, minor);
  return true;
}
