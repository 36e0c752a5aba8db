/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cpu/callers.h"
#include "capture/session/system/build-id.h"
#include "capture/session/system/mappings.h"
#include "capture/wire/call-chains.h"
#include "src/base/language.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* An address and a Python function each, and a word where some are missing. */
#define MOST_WORDS (LNS_WIRE_CHAIN_MAX + 1 + LNS_WIRE_CHAIN_PYTHON_MAX)

/* Code that was read so long ago may have been replaced by other code at the same place. */
#define OLD_NS INT64_C (1000000000)

/* Of the time that reading takes, so many times pass before the next, as a chain may lead nowhere. */
#define READING_PAUSES 10

#define UNKNOWN_CUDA                                                                               \
 LNS_SENTENCE ("callers of some CUDA calls are missing, as the program ended without exit() or "   \
               "executed another one before it was known where its code lies; "                    \
               "--sample=process-tree has the kernel tell it at once")
#define UNKNOWN_OS                                                                                 \
 LNS_SENTENCE ("callers of some calls of the C library are missing, as the program ended or "      \
               "executed another one before it was known where its code lies; "                    \
               "--sample=process-tree has the kernel tell it at once")

/* What is known of a chain of a stream. */
typedef struct
{
  LnsName *name; /* its addresses; a reference */
  LnsReportRef node;
  uint32_t n_changes; /* of the map when it was looked up */
} Chain;

typedef struct
{
  Chain chains[LNS_WIRE_STREAM_STRINGS]; /* by string id */
} Chains;

/* --- Code ------------------------------------------------------------------------------------- */

static int64_t
monotonic_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

typedef struct
{
  const LnsDecodedProcess *process;
  LnsCpuMap *map;
  LnsCpuCode *code;
  int64_t now_ns;
} Reading;

/* Whether MAP has what MAPPING says: the same code at the same place. */
static bool
has (const LnsCpuMap *map, const LnsCpuMapping *mapping)
{
  const LnsCpuModule *module = _lns_cpu_map_find (map, mapping->start);
  return module != NULL && module == _lns_cpu_map_find (map, mapping->end - 1) &&
         strcmp (module->path, mapping->path) == 0 &&
         (module->kind != LNS_MODULE_ELF ||
          module->start - module->file_offset == mapping->start - mapping->file_offset);
}

static void
take_code (void *data, const LnsMappedCode *code)
{
  const Reading *reading = data;
  struct
  {
    LnsCpuMapping mapping;
    char path[4096];
  } made = { 0 };
  LnsCpuMapping *mapping = &made.mapping;
  char *path = (char *)mapping + offsetof (LnsCpuMapping, path);
  const size_t n = strnlen (code->path, sizeof made.path - 1);
  mapping->head.process = reading->process->id;
  mapping->head.time_ns = reading->now_ns;
  mapping->start = code->start;
  mapping->end = code->end;
  mapping->file_offset = code->file_offset;
  /* As the kernel calls it where it tells of code itself. */
  if (n == 0)
    strcpy (path, "//anon");
  else
    memcpy (path, code->path, n);
  if (code->start >= code->end || has (reading->map, mapping))
    return;
  if (path[0] == '/' && path[1] != '/')
    mapping->n_build_id = (uint8_t)lns_build_id_read (path, mapping->build_id);
  _lns_cpu_map_add (reading->map, mapping);
  reading->code->n_changes++;
}

/* Whether PROCESS still runs the program that it joined with. If it runs another one, that has joined anew. */
static bool
runs_its_program (const LnsDecodedProcess *process)
{
  char link[64], path[4096];
  snprintf (link, sizeof link, "/proc/%d/exe", process->info.pid);
  const ssize_t n = readlink (link, path, sizeof path - 1);
  if (n < 0 || process->info.executable == NULL)
    return n >= 0;
  path[n] = '\0';
  return strcmp (path, process->info.executable) == 0;
}

static void
read_code (const LnsDecodedProcess *process, LnsCpuMap *map, LnsCpuCode *code)
{
  const int64_t now_ns = monotonic_ns ();
  Reading reading = { process, map, code, now_ns };
  if (now_ns < code->next_ns)
    return;
  if (runs_its_program (process))
    (void)lns_mapped_code_read (process->info.pid, take_code, &reading);
  code->read_ns = monotonic_ns ();
  code->next_ns = code->read_ns + READING_PAUSES * (code->read_ns - now_ns);
}

static void
define_native (LnsDecoder *decoder,
               const LnsDecodedProcess *process,
               const LnsWireRecord *record,
               LnsCpuMap *map,
               LnsCpuCode *code)
{
  const size_t n_head = sizeof (LnsWireCodeBytes);
  LnsWireCodeBytes said;
  char path[4096] = "";
  _lns_record_take (record, &said, sizeof said);
  if (record->raw.n_bytes < n_head || said.n_path_bytes > record->raw.n_bytes - n_head ||
      said.n_path_bytes >= sizeof path)
    return;
  memcpy (path, record->raw.bytes + n_head, said.n_path_bytes);
  Reading reading = { process, map, code, monotonic_ns () };
  const LnsMappedCode told = { said.start, said.end, said.file_offset, path };
  take_code (&reading, &told);
}

void
_lns_callers_define (LnsDecoder *decoder,
                     const LnsDecodedProcess *process,
                     const LnsWireRecord *record,
                     LnsCpuMap *map,
                     LnsCpuCode *code)
{
  if (record->type == (LnsWireType)LNS_WIRE_CODE)
    define_native (decoder, process, record, map, code);
  else if (!_lns_python_functions_add (&code->python, record))
    decoder->counters.n_refused++;
}

void
_lns_callers_clear (LnsCpuCode *code)
{
  lns_array_clear (&code->maps);
  _lns_python_functions_clear (&code->python);
}

/* --- Chains ----------------------------------------------------------------------------------- */

static Chain *
chain_of (LnsDecoder *decoder, LnsStream *stream, uint32_t string)
{
  Chains *chains = stream->state[LNS_SOURCE_CPU];
  if (chains == NULL)
    stream->state[LNS_SOURCE_CPU] = chains = calloc (1, sizeof *chains);
  if (chains == NULL)
    decoder->counters.n_refused++;
  return chains != NULL && string < LNS_WIRE_STREAM_STRINGS ? &chains->chains[string] : NULL;
}

void
_lns_callers_forget (LnsStream *stream)
{
  Chains *chains = stream->state[LNS_SOURCE_CPU];
  for (size_t i = 0; chains != NULL && i < LNS_WIRE_STREAM_STRINGS; i++)
    lns_name_unref (chains->chains[i].name);
  free (chains);
  stream->state[LNS_SOURCE_CPU] = NULL;
}

static const char *
file_name (const char *path)
{
  const char *slash = strrchr (path, '/');
  return slash != NULL ? slash + 1 : "";
}

/* Whether PATH is of CUPTI, or of Lanescope, which CUPTI calls and whose wrappers the program does. */
static bool
is_recorder (const char *path)
{
  static const char *const names[] = { "libcupti.so", "liblanescope-inject.so",
                                       "liblanescope-osrt.so" };
  const char *name = file_name (path);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp (name, names[i], strlen (names[i])) == 0)
      return true;
  return false;
}

/* Whether ADDRESS is in a C library, which calls main () and the functions of threads. */
static bool
is_start (const LnsCpuMap *map, uint64_t address)
{
  const LnsCpuModule *module = _lns_cpu_map_find (map, address);
  const char *name = module != NULL ? file_name (module->path) : "";
  return lns_wire_is_c_library (name, strlen (name));
}

/* How many of the N addresses at CHAIN are in known code, up to the first that is not. */
static size_t
count_known (const LnsCpuMap *map, const uint64_t *chain, size_t n)
{
  size_t n_known = 0;
  while (n_known < n && _lns_cpu_map_find (map, chain[n_known] - 1) != NULL)
    n_known++;
  return n_known;
}

/* The node of the N WORDS of Python functions, the innermost first. IS_CUT: there were more. */
static uint32_t
look_up_python (LnsDecoder *decoder,
                LnsCpuTree *tree,
                const LnsCpuCode *code,
                const LnsCpuMap *map,
                const uint64_t *words,
                size_t n,
                bool is_cut)
{
  static const uint64_t cut = LNS_CPU_CUT;
  LnsPythonPosition position;
  uint32_t node = LNS_ID_NONE;
  if (is_cut && n > 0)
    node = _lns_cpu_tree_node (tree, decoder, map, &cut, 1, node);
  for (size_t i = n; i-- > 0;)
    if (_lns_python_functions_find (&code->python, words[i], &position))
      node = _lns_cpu_tree_python_node (tree, decoder, &position, node);
    else
      node = _lns_cpu_tree_node (tree, decoder, map, &cut, 1, node);
  return node;
}

/* The callers of a call. */
typedef struct
{
  uint64_t addresses[LNS_WIRE_CHAIN_MAX + 2]; /* to which calls return, the innermost first */
  size_t n, n_known;                          /* in known code, up to the first that is not */
  bool is_whole;                              /* they lead to the start of the thread … */
  bool has_gap; /* … or they do not lead to the Python functions, which come behind them */
  const uint64_t *python;
  size_t n_python;
} Callers;

/* What a process that is recorded tells of its calls, and what is known of it. */
typedef struct
{
  LnsDecoder *decoder;
  const LnsDecodedProcess *process;
  LnsCpuTree *tree;
  LnsUnwinder *unwinder;
  LnsCpuMap *map;
  LnsCpuCode *code;
} Place;

/* Takes the addresses among the N WORDS, as frame pointers led to them. */
static size_t
take_addresses (const Place *place, const uint64_t *words, size_t n, bool is_cut, Callers *callers)
{
  size_t at = 0;
  while (at < n && at < LNS_WIRE_CHAIN_MAX && !lns_wire_chain_is_python (words[at]))
    at++;
  callers->n = at;
  memcpy (callers->addresses, words, at * sizeof *words);
  callers->n_known = count_known (place->map, callers->addresses, at);
  callers->has_gap = at < n && words[at] == lns_wire_chain_python (0, 0);
  callers->is_whole = at > 0 && callers->n_known == at && !is_cut &&
                      is_start (place->map, callers->addresses[at - 1] - 1);
  return at + callers->has_gap;
}

/* A stack as the words of a chain tell it. */
typedef struct
{
  LnsRegisters registers;
  uint8_t bytes[LNS_WIRE_STACK_SLOTS * sizeof (uint64_t)];
  size_t n_bytes;
  uint64_t python_start, python_end;
} Stack;

/* Puts the words of a stack among the N WORDS into RET_STACK. Returns how many they are. */
static size_t
take_stack (const uint64_t *words, size_t n, Stack *ret_stack)
{
  size_t at = 0;
  memset (ret_stack, 0, sizeof *ret_stack);
  for (; at < n && !lns_wire_chain_is_python (words[at]); at++)
    {
      const uint32_t place = lns_wire_stack_place (words[at]);
      const uint64_t value = lns_wire_stack_value (words[at]);
      if (place >= LNS_WIRE_STACK_SLOT && place < LNS_WIRE_STACK_SLOT + LNS_WIRE_STACK_SLOTS)
        memcpy (ret_stack->bytes + (place - LNS_WIRE_STACK_SLOT) * sizeof value, &value,
                sizeof value);
      else if (place >= LNS_WIRE_STACK_REGISTER &&
               place < LNS_WIRE_STACK_REGISTER + LNS_N_REGISTERS)
        lns_register_set (&ret_stack->registers, place - LNS_WIRE_STACK_REGISTER, value);
      else if (place == LNS_WIRE_STACK_BYTES)
        ret_stack->n_bytes = value < sizeof ret_stack->bytes ? value : sizeof ret_stack->bytes;
      else if (place == LNS_WIRE_STACK_PYTHON_START)
        ret_stack->python_start = value;
      else if (place == LNS_WIRE_STACK_PYTHON_END)
        ret_stack->python_end = value;
    }
  return at;
}

/* Finds the callers from the words of a stack among the N WORDS. */
static size_t
unwind (const Place *place, const uint64_t *words, size_t n, Callers *callers)
{
  const LnsMachine *machine = lns_machine_here ();
  LnsCpuCode *code = place->code;
  LnsUnwindEnd end;
  Stack stack;
  const size_t n_words = take_stack (words, n, &stack);
  callers->has_gap = n_words < n;
  if (place->unwinder == NULL || machine == NULL ||
      !lns_register_is_known (&stack.registers, machine->stack_pointer) ||
      !lns_register_is_known (&stack.registers, machine->program_counter))
    return n_words;
  if (code->n_listed != code->n_changes + 1)
    _lns_unwinding_list (place->unwinder, place->process->info.pid, place->map, &code->maps);
  code->n_listed = code->n_changes + 1;
  const LnsStackCopy copy = { stack.bytes, stack.n_bytes,
                              stack.registers.values[machine->stack_pointer] };
  callers->n = _lns_unwinding_chain (place->unwinder, &stack.registers, &copy, &code->maps,
                                     callers->addresses, LNS_WIRE_CHAIN_MAX, &end);
  callers->is_whole = end == LNS_UNWIND_COMPLETE;
  for (size_t i = 0; i < callers->n && callers->has_gap; i++)
    if (callers->addresses[i] >= stack.python_start && callers->addresses[i] < stack.python_end)
      {
        callers->n = i;
        callers->has_gap = false;
      }
  callers->n_known = count_known (place->map, callers->addresses, callers->n);
  return n_words;
}

static void
find_callers (const Place *place, const uint64_t *words, size_t n, uint8_t flags, Callers *callers)
{
  *callers = (Callers){ .n = 0 };
  const size_t n_native =
      (flags & LNS_WIRE_CHAIN_STACK) != 0
          ? unwind (place, words, n, callers)
          : take_addresses (place, words, n, (flags & LNS_WIRE_CHAIN_CUT) != 0, callers);
  callers->python = words + n_native;
  callers->n_python = n - n_native;
}

/* Whether something is missing of CALLERS, so that the process may have code that is not known. */
static bool
misses_code (const Callers *callers)
{
  return callers->n_known < callers->n ||
         (callers->n_python > 0 ? callers->has_gap : !callers->is_whole);
}

/* The node of the callers of NAME, MOST of them; LNS_ID_NONE if none is known. */
static uint32_t
look_up (const Place *place, const LnsName *name, uint8_t flags, size_t most, bool is_new)
{
  uint64_t words[LNS_WIRE_STACK_WORDS_MAX + MOST_WORDS];
  const size_t n_said = name->n_bytes / sizeof *words, n_most = sizeof words / sizeof *words;
  const size_t n_words = n_said < n_most ? n_said : n_most;
  const bool is_stack = (flags & LNS_WIRE_CHAIN_STACK) != 0;
  Callers callers;
  size_t first = 0;
  memcpy (words, name->bytes, n_words * sizeof *words);
  find_callers (place, words, n_words, flags, &callers);
  if (callers.n_known < callers.n || (is_stack && misses_code (&callers)) ||
      (is_new && monotonic_ns () - place->code->read_ns > OLD_NS))
    {
      const uint32_t n_changes = place->code->n_changes;
      read_code (place->process, place->map, place->code);
      if (place->code->n_changes != n_changes)
        find_callers (place, words, n_words, flags, &callers);
    }
  const uint32_t caller =
      look_up_python (place->decoder, place->tree, place->code, place->map, callers.python,
                      callers.n_python, (flags & LNS_WIRE_CHAIN_CUT) != 0);
  while (first < callers.n_known &&
         is_recorder (_lns_cpu_map_find (place->map, callers.addresses[first] - 1)->path))
    first++;
  if (first == callers.n_known)
    {
      if (callers.n_known < callers.n || (callers.n > 0 && callers.n_python == 0))
        {
          const bool is_os = (flags & LNS_WIRE_CHAIN_OS) != 0;
          _lns_decoder_tell_once (place->decoder, is_os ? "LNS-OSRT-006" : "LNS-CUDA-031",
                                  is_os ? UNKNOWN_OS : UNKNOWN_CUDA);
        }
      return caller;
    }
  callers.addresses[first]--; /* it is a return address, too */
  const bool is_cut = callers.n_known - first > most || misses_code (&callers);
  if (callers.n_known - first > most)
    callers.n_known = first + most;
  if (is_cut)
    callers.addresses[callers.n_known++] = LNS_CPU_CUT;
  return _lns_cpu_tree_node (place->tree, place->decoder, place->map, callers.addresses + first,
                             callers.n_known - first, caller);
}

void
_lns_callers_play (LnsDecoder *decoder,
                   LnsStream *stream,
                   const LnsWireRecord *record,
                   LnsCpuTree *tree,
                   LnsUnwinder *unwinder,
                   LnsCpuMap *map,
                   LnsCpuCode *code)
{
  const Place place = { decoder, stream->process, tree, unwinder, map, code };
  const uint32_t string = lns_wire_chain_string (record->event.string);
  LnsName *name = _lns_stream_name (stream, string);
  Chain *chain = name != NULL ? chain_of (decoder, stream, string) : NULL;
  if (chain == NULL || decoder->writer == NULL)
    return;
  const bool is_new = chain->name != name;
  if (is_new)
    {
      lns_name_unref (chain->name);
      *chain = (Chain){ .name = lns_name_ref (name) };
    }
  const uint8_t generation = record->event.depth / LNS_WIRE_CHAIN_CODE;
  if (code->generation != generation)
    {
      code->next_ns = 0;
      read_code (stream->process, map, code);
    }
  code->generation = generation;
  const bool is_os = (record->event.depth & LNS_WIRE_CHAIN_OS) != 0;
  const uint32_t correlation = lns_wire_chain_correlation (record->domain, record->event.string);
  if (chain->node.report != decoder->report || chain->n_changes != code->n_changes)
    {
      chain->node.id = look_up (&place, name, record->event.depth,
                                is_os ? correlation : LNS_WIRE_CHAIN_MAX, is_new);
      chain->node.report = decoder->report;
      chain->n_changes = code->n_changes;
    }
  const uint64_t is_runtime = record->event.depth & LNS_WIRE_CHAIN_RUNTIME;
  if (is_os)
    {
      stream->callers = chain->node;
      stream->callers_ticks = record->ticks;
    }
  else if (chain->node.id != LNS_ID_NONE)
    _lns_call_nodes_keep (&stream->process->call_nodes, decoder->report,
                          correlation | is_runtime << 32, chain->node.id);
}
