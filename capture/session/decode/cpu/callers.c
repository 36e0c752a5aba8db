/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cpu/callers.h"
#include "capture/session/system/build-id.h"
#include "capture/session/system/mappings.h"
#include "capture/wire/cuda-layout.h"
#include "src/base/language.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Code that was read so long ago may have been replaced by other code at the same place. */
#define OLD_NS INT64_C (1000000000)

/* Of the time that reading takes, so many times pass before the next, as a chain may lead nowhere. */
#define READING_PAUSES 10

#define UNKNOWN_CODE                                                                               \
 LNS_SENTENCE ("callers of some CUDA calls are missing, as the program ended without exit() or "   \
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

/* Whether the name of the file at PATH begins as one of the N NAMES does. */
static bool
is_one_of (const char *path, const char *const *names, size_t n)
{
  const char *slash = strrchr (path, '/');
  for (size_t i = 0; slash != NULL && i < n; i++)
    if (strncmp (slash + 1, names[i], strlen (names[i])) == 0)
      return true;
  return false;
}

/* Whether PATH is of CUPTI, or of Lanescope, which CUPTI calls. */
static bool
is_recorder (const char *path)
{
  static const char *const names[] = { "libcupti.so", "liblanescope-inject.so" };
  return is_one_of (path, names, sizeof names / sizeof *names);
}

/* Whether PATH is of a C library, which calls main () and the functions of threads. Frame pointers that end elsewhere have
 * missed callers: those of code without frame pointers, or the start of a static program, which cannot be told from them. */
static bool
is_start (const char *path)
{
  static const char *const names[] = { "libc.so", "libc-", "libpthread", "ld-musl" };
  return is_one_of (path, names, sizeof names / sizeof *names);
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

/* The node of NAME's addresses and functions; LNS_ID_NONE if none is known. */
static uint32_t
look_up (LnsDecoder *decoder,
         const LnsDecodedProcess *process,
         const LnsName *name,
         bool is_cut,
         LnsCpuTree *tree,
         LnsCpuMap *map,
         LnsCpuCode *code,
         bool is_new)
{
  uint64_t chain[LNS_WIRE_CHAIN_MAX + 1 + LNS_WIRE_CHAIN_PYTHON_MAX];
  const size_t n_most = sizeof chain / sizeof *chain, n_said = name->n_bytes / sizeof *chain;
  const size_t n_whole = n_said < n_most ? n_said : n_most;
  size_t n = 0, first = 0;
  memcpy (chain, name->bytes, n_whole * sizeof *chain);
  while (n < n_whole && n < LNS_WIRE_CHAIN_MAX && !lns_wire_chain_is_python (chain[n]))
    n++;
  const bool has_python = n < n_whole && lns_wire_chain_is_python (chain[n]);
  const bool has_gap = has_python && chain[n] == lns_wire_chain_python (0, 0);
  const size_t first_python = n + has_gap;
  size_t n_known = count_known (map, chain, n);
  if (n_known < n || (is_new && monotonic_ns () - code->read_ns > OLD_NS))
    {
      read_code (process, map, code);
      n_known = count_known (map, chain, n);
    }
  const uint32_t caller = has_python
                              ? look_up_python (decoder, tree, code, map, chain + first_python,
                                                n_whole - first_python, is_cut)
                              : LNS_ID_NONE;
  while (first < n_known && is_recorder (_lns_cpu_map_find (map, chain[first] - 1)->path))
    first++;
  if (first == n_known)
    {
      if (n_known < n || (n > 0 && !has_python))
        _lns_decoder_tell_once (decoder, "LNS-CUDA-031", UNKNOWN_CODE);
      return caller;
    }
  chain[first]--; /* it is a return address, too */
  if (n_known < n || has_gap ||
      (!has_python &&
       (is_cut || !is_start (_lns_cpu_map_find (map, chain[n_known - 1] - 1)->path))))
    chain[n_known++] = LNS_CPU_CUT;
  return _lns_cpu_tree_node (tree, decoder, map, chain + first, n_known - first, caller);
}

void
_lns_callers_play (LnsDecoder *decoder,
                   LnsStream *stream,
                   const LnsWireRecord *record,
                   LnsCpuTree *tree,
                   LnsCpuMap *map,
                   LnsCpuCode *code)
{
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
  if (chain->node.report != decoder->report || chain->n_changes != code->n_changes)
    {
      const bool is_cut = (record->event.depth & LNS_WIRE_CHAIN_CUT) != 0;
      chain->node.id = look_up (decoder, stream->process, name, is_cut, tree, map, code, is_new);
      chain->node.report = decoder->report;
      chain->n_changes = code->n_changes;
    }
  const uint64_t is_runtime = record->event.depth & LNS_WIRE_CHAIN_RUNTIME;
  const uint32_t correlation = lns_wire_chain_correlation (record->domain, record->event.string);
  if (chain->node.id != LNS_ID_NONE)
    _lns_call_nodes_keep (&stream->process->call_nodes, decoder->report,
                          correlation | is_runtime << 32, chain->node.id);
}
