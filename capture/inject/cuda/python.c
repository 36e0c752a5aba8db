/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/python.h"
#include "capture/inject/core/definitions.h"
#include "capture/inject/core/maps.h"
#include "capture/inject/core/oldest-glibc.h"
#include "capture/inject/core/system.h"
#include "capture/inject/cuda/records.h"
#include "capture/wire/python-layout.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>

LNS_OLDEST (dlsym);

#define MOST_FRAMES     LNS_WIRE_CHAIN_PYTHON_MAX
#define MOST_CHARACTERS 1024u
#define MOST_LINE_BYTES (64u << 10)
#define MOST_TEXT_HEAD  80u /* of a str; the layout has checked it */
#define PAGE_BYTES      4096u
#define N_KNOWN         1024u

/* A code object that STREAM has told of. CPython uses the memory of objects again, so all that tells one from another is
 * compared. */
typedef struct
{
  uint64_t code, name, file, lines; /* addresses */
  int32_t first_line;
  uint32_t number;
} Known;

typedef struct
{
  uint64_t code;
  int64_t offset; /* of the instruction, in bytes */
  uint32_t head;  /* the first frame of the same code */
} Frame;

/* What a stream has for Python. Address space, of which only the used part is touched. */
typedef struct
{
  uint64_t generation;
  uint32_t n_gaps; /* of the stream: what it told before may be lost */
  Known known[N_KNOWN];
  Frame frames[MOST_FRAMES];
  uint64_t words[MOST_FRAMES];
  struct iovec here[MOST_FRAMES], there[MOST_FRAMES];
  uint8_t window[PAGE_BYTES + LNS_PYTHON_MOST_FRAME_BYTES];
  uint8_t heads[MOST_FRAMES][LNS_PYTHON_MOST_CODE_BYTES];
  uint8_t texts[2][4 * MOST_CHARACTERS];
  uint8_t lines[MOST_LINE_BYTES];
} Memory;

typedef struct
{
  Memory *memory;
  long pid;           /* of this process, of which the kernel reads; 0: memory is read as it is */
  LnsStack stack;     /* of this thread, which is read as it is in any case */
  uint64_t low, high; /* what MEMORY->window has */
} Reader;

static struct
{
  LnsPythonLayout layout;
  void *(*thread_state) (void);
  uint64_t code_type, text_type, bytes_type;
  uintptr_t start, end; /* of the code that has the interpreter's loop */
} python;
static bool is_found, is_refused;

/* --- The interpreter -------------------------------------------------------------------------- */

/* PY_VERSION_HEX; of versions before 3.11, major and minor alone. 0: there is no interpreter. */
static uint32_t
find_version (void)
{
  const unsigned long *number = dlsym (RTLD_DEFAULT, "Py_Version");
  const char *(*text) (void) = (const char *(*)(void))dlsym (RTLD_DEFAULT, "Py_GetVersion");
  uint32_t minor = 0;
  if (number != NULL || text == NULL)
    return number != NULL ? (uint32_t)*number : 0;
  const char *at = text (); /* "3.10.2 (main, …" */
  if (at[0] != '3' || at[1] != '.')
    return 0;
  for (at += 2; *at >= '0' && *at <= '9' && minor < 100; at++)
    minor = 10 * minor + (uint32_t)(*at - '0');
  return 3u << 24 | minor << 16;
}

/* Finds the code around the interpreter's loop. */
static bool
find_code (void)
{
  static char buffer[LNS_MAPS_BUFFER_BYTES];
  const uintptr_t loop = (uintptr_t)dlsym (RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
  LnsMapping mapping;
  LnsMaps maps;
  if (loop == 0 || !lns_maps_open (&maps, buffer, sizeof buffer))
    return false;
  while (python.end == 0 && lns_maps_next (&maps, &mapping))
    if (mapping.start <= loop && loop < mapping.end)
      {
        python.start = mapping.start;
        python.end = mapping.end;
      }
  lns_maps_close (&maps);
  return python.end != 0;
}

void
lns_cuda_find_python (void)
{
  if (!lns_cuda_options ()->has_python_callers || is_found || is_refused)
    return;
  const uint32_t version = find_version ();
  if (version == 0)
    return;
  const uint8_t *runtime = dlsym (RTLD_DEFAULT, "_PyRuntime"); /* from 3.7 on */
  const LnsPythonLayoutResult result = runtime != NULL
                                           ? lns_python_layout (version, runtime, &python.layout)
                                           : LNS_PYTHON_LAYOUT_OF_NO_VERSION;
  if (result != LNS_PYTHON_LAYOUT_IS_KNOWN)
    {
      is_refused = true;
      lns_cuda_problem (LNS_WIRE_PROBLEM_PYTHON, result, version, NULL);
      return;
    }
  python.thread_state = (void *(*)(void))dlsym (RTLD_DEFAULT, "PyGILState_GetThisThreadState");
  python.code_type = (uintptr_t)dlsym (RTLD_DEFAULT, "PyCode_Type");
  python.text_type = (uintptr_t)dlsym (RTLD_DEFAULT, "PyUnicode_Type");
  python.bytes_type = (uintptr_t)dlsym (RTLD_DEFAULT, "PyBytes_Type");
  if (python.thread_state != NULL && find_code ())
    __atomic_store_n (&is_found, true, __ATOMIC_RELEASE);
}

/* --- Reading ---------------------------------------------------------------------------------- */

static uint64_t
pointer_at (const uint8_t *bytes, size_t offset)
{
  uint64_t pointer;
  memcpy (&pointer, bytes + offset, sizeof pointer);
  return pointer;
}

static uint32_t
number_at (const uint8_t *bytes, size_t offset)
{
  uint32_t number;
  memcpy (&number, bytes + offset, sizeof number);
  return number;
}

/* Whether an object may be at ADDRESS. */
static bool
is_address (uint64_t address)
{
  return address % 8 == 0 && address >= 4096 && address >> 47 == 0;
}

static bool
has_kernel_copy (const Reader *reader, void *to, uint64_t address, size_t n)
{
  const struct iovec here = { to, n }, there = { (void *)(uintptr_t)address, n };
  return LNS_SYSCALL (SYS_process_vm_readv, reader->pid, &here, 1, &there, 1, 0) == (long)n;
}

/* The N bytes at ADDRESS, which is a multiple of 8 behind OBJECT's: where they are, or copied TO. NULL if they cannot be read. */
static const uint8_t *
look_at (const Reader *reader, uint64_t address, void *to, size_t n)
{
  if (!is_address (address & ~UINT64_C (7)))
    return NULL;
  const bool is_on_stack = address >= reader->stack.low && address + n <= reader->stack.high;
  if (reader->pid == 0 || is_on_stack)
    return (const uint8_t *)(uintptr_t)address;
  return has_kernel_copy (reader, to, address, n) ? to : NULL;
}

/* A frame. From 3.11 on, frames lie behind their callers, so that a copy of the page before the frame's end has several. */
static const uint8_t *
look_at_frame (Reader *reader, uint64_t address)
{
  const size_t n = python.layout.frame_bytes;
  uint8_t *window = reader->memory->window;
  if (!is_address (address))
    return NULL;
  if (reader->pid == 0)
    return (const uint8_t *)(uintptr_t)address;
  if (address < reader->low || address + n > reader->high)
    {
      reader->high = address + n;
      reader->low = python.layout.minor >= 11 ? address & -(uint64_t)PAGE_BYTES : address;
      if (!has_kernel_copy (reader, window, reader->low, reader->high - reader->low))
        reader->high = 0;
    }
  return reader->high > 0 ? window + (address - reader->low) : NULL;
}

/* --- Frames ----------------------------------------------------------------------------------- */

/* Puts this thread's frames, the innermost first, into READER's memory. Returns how many there are. */
static size_t
walk (Reader *reader, bool *ret_is_cut)
{
  const LnsPythonLayout *layout = &python.layout;
  uint8_t head[LNS_PYTHON_MOST_THREAD_BYTES], c_frame[8];
  const uint64_t state = (uintptr_t)python.thread_state ();
  const uint8_t *thread = look_at (reader, state, head, layout->thread_bytes);
  size_t n = 0;
  *ret_is_cut = false;
  if (thread == NULL || pointer_at (thread, layout->thread_self) != (uint64_t)pthread_self ())
    return 0;
  uint64_t at = pointer_at (thread, layout->thread_frame);
  if (layout->has_c_frame)
    {
      const uint8_t *said = look_at (reader, at + layout->c_frame_frame, c_frame, sizeof c_frame);
      at = said != NULL ? pointer_at (said, 0) : 0;
    }
  while (at != 0)
    {
      const uint8_t *frame = look_at_frame (reader, at);
      const bool has_function = frame != NULL && lns_python_frame_has_function (layout, frame);
      *ret_is_cut = frame == NULL || (has_function && n == MOST_FRAMES);
      if (*ret_is_cut)
        break;
      const uint64_t code = lns_python_frame_code (layout, frame);
      if (has_function)
        reader->memory->frames[n++] =
            (Frame){ .code = code,
                     .offset = lns_python_offset_in_code (
                         layout, code, pointer_at (frame, layout->frame_instruction)) };
      at = pointer_at (frame, layout->frame_previous);
    }
  return n;
}

/* Has the heads of the code objects of N frames in READER's memory, each once, or where they are. Returns of how many frames,
 * from the innermost on. */
static size_t
look_at_heads (const Reader *reader, size_t n)
{
  Memory *memory = reader->memory;
  const size_t n_bytes = python.layout.code_head_bytes;
  size_t n_good = 0, n_pieces = 0;
  for (; n_good < n && is_address (memory->frames[n_good].code); n_good++)
    {
      Frame *frame = &memory->frames[n_good];
      while (frame->head < n_good && memory->frames[frame->head].code != frame->code)
        frame->head++;
      if (frame->head < n_good)
        continue;
      memory->here[n_pieces] = (struct iovec){ memory->heads[n_good], n_bytes };
      memory->there[n_pieces++] = (struct iovec){ (void *)(uintptr_t)frame->code, n_bytes };
    }
  if (reader->pid == 0 || n_pieces == 0)
    return n_good;
  const long n_read = LNS_SYSCALL (SYS_process_vm_readv, reader->pid, memory->here, n_pieces,
                                   memory->there, n_pieces, 0);
  return n_read == (long)(n_pieces * n_bytes) ? n_good : 0;
}

/* --- Functions -------------------------------------------------------------------------------- */

typedef struct
{
  const uint8_t *bytes;
  uint16_t n;
  uint8_t kind;
  bool is_cut;
} Text;

/* The str at ADDRESS, or a copy of it at TO. */
static bool
take_text (const Reader *reader, uint64_t address, uint8_t *to, Text *ret_text)
{
  const LnsPythonLayout *layout = &python.layout;
  uint8_t head[MOST_TEXT_HEAD];
  const uint8_t *text = look_at (reader, address, head, layout->text_compact);
  if (text == NULL || pointer_at (text, layout->object_type) != python.text_type)
    return false;
  const uint32_t state = number_at (text, layout->text_state);
  const uint64_t length = pointer_at (text, layout->text_length);
  const uint32_t data = (state & LNS_PYTHON_TEXT_ASCII) ? layout->text_ascii : layout->text_compact;
  *ret_text = (Text){ .n = (uint16_t)(length < MOST_CHARACTERS ? length : MOST_CHARACTERS),
                      .kind = LNS_PYTHON_TEXT_KIND (state),
                      .is_cut = length > MOST_CHARACTERS };
  if (!(state & LNS_PYTHON_TEXT_COMPACT) ||
      (ret_text->kind != 1 && ret_text->kind != 2 && ret_text->kind != 4))
    return false;
  ret_text->bytes = look_at (reader, address + data, to, (size_t)ret_text->n * ret_text->kind);
  return ret_text->bytes != NULL;
}

/* The table of lines at ADDRESS, of RET_N bytes. NULL if it is too long. */
static const uint8_t *
take_lines (const Reader *reader, uint64_t address, uint32_t *ret_n)
{
  const LnsPythonLayout *layout = &python.layout;
  uint8_t head[MOST_TEXT_HEAD];
  const uint8_t *bytes = look_at (reader, address, head, layout->bytes_size + 8);
  *ret_n = 0;
  if (bytes == NULL || pointer_at (bytes, layout->object_type) != python.bytes_type)
    return NULL;
  const uint64_t n = pointer_at (bytes, layout->bytes_size);
  bytes = n <= MOST_LINE_BYTES
              ? look_at (reader, address + layout->bytes_data, reader->memory->lines, n)
              : NULL;
  if (bytes != NULL)
    *ret_n = (uint32_t)n;
  return bytes;
}

/* Writes the function that CODE is into STREAM. Returns 0, -EINVAL if it is none, or -ENOSPC. */
static int
define (const Reader *reader, LnsInjectStream *stream, Known *code)
{
  Text name, file;
  uint32_t n_line_bytes;
  const uint64_t number = lns_definitions_serial ();
  if (number > LNS_WIRE_CHAIN_PYTHON_NUMBER_MAX ||
      !take_text (reader, code->name, reader->memory->texts[0], &name) ||
      !take_text (reader, code->file, reader->memory->texts[1], &file))
    return -EINVAL;
  const uint8_t *lines = take_lines (reader, code->lines, &n_line_bytes);
  code->number = (uint32_t)number;
  LnsWirePythonCodeBytes said = { .head = { .type = LNS_WIRE_PYTHON_CODE },
                                  .number = code->number,
                                  .first_line = code->first_line,
                                  .n_line_bytes = n_line_bytes,
                                  .n_name = name.n,
                                  .n_file = file.n,
                                  .name_kind = name.kind,
                                  .file_kind = file.kind,
                                  .is_name_cut = name.is_cut,
                                  .is_file_cut = file.is_cut,
                                  .has_lines = lines != NULL,
                                  .line_format = (uint8_t)python.layout.line_format };
  const LnsPart parts[] = { { .bytes = &said, .n_bytes = sizeof said },
                            { .bytes = name.bytes, .n_bytes = (size_t)name.n * name.kind },
                            { .bytes = file.bytes, .n_bytes = (size_t)file.n * file.kind },
                            { .bytes = lines, .n_bytes = n_line_bytes } };
  return lns_inject_stream_write_parts (stream, parts, n_line_bytes > 0 ? 4 : 3);
}

/* Finds or defines the function of CODE, whose object begins with HEAD. Returns its number, -EINVAL if it is none, or -ENOSPC. */
static long
number_of (const Reader *reader, LnsInjectStream *stream, uint64_t code, const uint8_t *head)
{
  const LnsPythonLayout *layout = &python.layout;
  Known *known = &reader->memory->known[(code >> 4) * UINT64_C (0x9e3779b97f4a7c15) >> 54];
  Known now = { .code = code,
                .name = pointer_at (head, layout->code_name),
                .file = pointer_at (head, layout->code_file),
                .lines = pointer_at (head, layout->code_lines),
                .first_line = (int32_t)number_at (head, layout->code_first_line),
                .number = known->number };
  if (pointer_at (head, layout->object_type) != python.code_type)
    return -EINVAL;
  if (memcmp (&now, known, sizeof now) == 0)
    return now.number;
  const int error = define (reader, stream, &now);
  if (error < 0)
    return error;
  *known = now;
  return now.number;
}
_Static_assert(N_KNOWN == 1u << (64 - 54), "a slot for each hash");
_Static_assert(sizeof (Known) == 40, "it has no padding, so that two can be compared");

/* --- Chains ----------------------------------------------------------------------------------- */

/* STREAM's memory for Python; NULL if there is none. */
static Memory *
memory_of (LnsInjectStream *stream)
{
  if (stream->python == NULL)
    stream->python = lns_inject_map (sizeof (Memory));
  Memory *memory = stream->python;
  if (memory != NULL &&
      (memory->n_gaps != stream->n_gaps || memory->generation != stream->generation))
    {
      memset (memory->known, 0, sizeof memory->known);
      memory->n_gaps = stream->n_gaps;
      memory->generation = stream->generation;
    }
  return memory;
}

long
lns_cuda_add_python_callers (LnsInjectStream *stream, uint64_t *chain, size_t n, uint8_t *flags)
{
  if (!__atomic_load_n (&is_found, __ATOMIC_ACQUIRE))
    return (long)n;
  Reader reader = { .memory = memory_of (stream), .stack = stream->stack };
  if (stream->tid != (uint32_t)lns_process.pid)
    reader.pid = LNS_SYSCALL (SYS_getpid);
  bool is_python_cut;
  if (reader.memory == NULL)
    return (long)n;
  const size_t n_frames = walk (&reader, &is_python_cut);
  const size_t n_heads = look_at_heads (&reader, n_frames);
  size_t n_native = 0, n_words = 0;
  uint64_t *words = reader.memory->words;
  for (; n_words < n_heads; n_words++)
    {
      const Frame *frame = &reader.memory->frames[n_words];
      const uint8_t *head = reader.pid == 0 ? (const uint8_t *)(uintptr_t)frame->code
                                            : reader.memory->heads[frame->head];
      const long number = number_of (&reader, stream, frame->code, head);
      if (number == -ENOSPC)
        return number;
      if (number < 0)
        break;
      words[n_words] = lns_wire_chain_python ((uint32_t)number, frame->offset);
    }
  if (n_words == 0)
    return (long)n;
  while (n_native < n && (chain[n_native] < python.start || chain[n_native] >= python.end))
    n_native++;
  if ((*flags & LNS_WIRE_CHAIN_STACK) != 0)
    {
      chain[n_native++] = lns_wire_stack_word (LNS_WIRE_STACK_PYTHON_START, python.start);
      chain[n_native++] = lns_wire_stack_word (LNS_WIRE_STACK_PYTHON_END, python.end);
    }
  else if (n_native == n)
    chain[n_native++] = lns_wire_chain_python (0, 0);
  memcpy (chain + n_native, words, n_words * sizeof *words);
  *flags &= (uint8_t)~LNS_WIRE_CHAIN_CUT;
  if (is_python_cut || n_words < n_frames)
    *flags |= LNS_WIRE_CHAIN_CUT;
  return (long)(n_native + n_words);
}
