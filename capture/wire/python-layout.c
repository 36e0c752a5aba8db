/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/python-layout.h"

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
    .frame_locals = 360,
    .type_keys = 864,
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
    .frame_locals = 352,
    .type_keys = 872,
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
    .frame_locals = 72,
    .type_keys = 872,
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
    .frame_locals = 72,
    .type_keys = 880,
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
  uint32_t type_keys; /* not among them */
} Words;

static const Words words_of[] = {
  { 13, .gil = 13, .thread = 18, .frame = 27, .code = 33, .object = 43, .bytes = 63, .text = 66,
    .type_keys = 880 },
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

/* What a _PyRuntime of the words AT begins with. */
static size_t
n_words_of (const Words *at)
{
  return (size_t)at->text + 4;
}
#define COOKIE       "xdebugpy"
#define COOKIE_BYTES 8u
_Static_assert(COOKIE_BYTES + MOST_WORDS * 8 <= LNS_PYTHON_MOST_RUNTIME_BYTES, "there is room");

static LnsPythonLayoutResult
take_own_offsets (uint32_t version,
                  const uint8_t *runtime,
                  const Words *at,
                  LnsPythonLayout *layout)
{
  uint64_t words[MOST_WORDS];
  const size_t n = n_words_of (at);

  memcpy (words, runtime + COOKIE_BYTES, n * sizeof words[0]);
  if (memcmp (runtime, COOKIE, COOKIE_BYTES) != 0 || words[0] != version)
    return LNS_PYTHON_LAYOUT_IS_UNTOLD;
  if (words[1] != 0)
    return LNS_PYTHON_LAYOUT_IS_FREE_THREADED;
  for (size_t i = 2; i < n; i++)
    if (words[i] >= MOST_OFFSET)
      return LNS_PYTHON_LAYOUT_IS_TOO_LARGE;
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
    .frame_locals = (uint32_t)frame[4],
    .frame_owner = (uint32_t)frame[5],
    .type_keys = at->type_keys,
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
  const bool is_good = layout->gil_holder <= 64 && layout->gil_locked <= 64 &&
                       layout->bytes_data <= 64 && layout->text_length + 8 <= layout->text_state &&
                       layout->text_state + 4 <= layout->text_ascii && layout->text_compact <= 64;
  return is_good ? LNS_PYTHON_LAYOUT_IS_KNOWN : LNS_PYTHON_LAYOUT_IS_TOO_LARGE;
}

static const Words *
words_of_version (uint32_t version)
{
  for (size_t i = 0; version >> 24 == 3 && i < sizeof words_of / sizeof words_of[0]; i++)
    if (words_of[i].minor == (version >> 16 & 255))
      return &words_of[i];
  return NULL;
}

size_t
lns_python_layout_runtime_bytes (uint32_t version)
{
  const Words *at = words_of_version (version);

  return at != NULL ? COOKIE_BYTES + n_words_of (at) * sizeof (uint64_t) : 0;
}

LnsPythonLayoutResult
lns_python_layout (uint32_t version, const uint8_t *runtime, LnsPythonLayout *ret_layout)
{
  const Words *at = words_of_version (version);
  LnsPythonLayoutResult result = LNS_PYTHON_LAYOUT_OF_NO_VERSION;

  if (at != NULL)
    result = take_own_offsets (version, runtime, at, ret_layout);
  for (size_t i = 0; version >> 24 == 3 && i < sizeof known / sizeof known[0]; i++)
    if (known[i].minor == (version >> 16 & 255))
      {
        *ret_layout = known[i];
        result = LNS_PYTHON_LAYOUT_IS_KNOWN;
      }
  if (result == LNS_PYTHON_LAYOUT_IS_KNOWN && !complete (ret_layout))
    result = LNS_PYTHON_LAYOUT_IS_TOO_LARGE;
  return result;
}
