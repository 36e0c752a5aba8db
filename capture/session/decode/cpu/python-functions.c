/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cpu/python-functions.h"

#include "capture/session/decode/python/line-table.h"
#include "capture/session/decode/python/text.h"
#include "capture/wire/call-chains.h"

#include <stdlib.h>

/* What the functions of a process may need: those of the largest programs need a hundredth. */
#define MOST_BYTES (64u << 20)

typedef struct
{
  char *name, *file; /* owned */
  int32_t first_line;
  bool has_lines;
  LnsPythonLines lines;
} Function;

static void
free_function (Function *function)
{
  if (function == NULL)
    return;
  free (function->name);
  free (function->file);
  lns_array_clear (&function->lines);
  free (function);
}

static bool
is_kind (uint8_t kind)
{
  return kind == 1 || kind == 2 || kind == 4;
}

bool
_lns_python_functions_add (LnsPythonFunctions *functions, const LnsWireRecord *record)
{
  LnsWirePythonCodeBytes said;
  const uint8_t *bytes = (const uint8_t *)record->raw.bytes + sizeof said;
  _lns_record_take (record, &said, sizeof said);
  const size_t n_name = (size_t)said.n_name * said.name_kind,
               n_file = (size_t)said.n_file * said.file_kind;
  if (record->raw.n_bytes < sizeof said || said.number == 0 || !is_kind (said.name_kind) ||
      !is_kind (said.file_kind) || said.line_format > LNS_PYTHON_LINES_LOCATIONS ||
      record->raw.n_bytes - sizeof said < n_name + n_file + said.n_line_bytes)
    return true; /* such a record means nothing */
  const size_t n_needed = sizeof (Function) + 4 * (n_name + n_file + said.n_line_bytes);
  Function *function =
      functions->n_bytes + n_needed <= MOST_BYTES ? calloc (1, sizeof *function) : NULL;
  if (function == NULL)
    return false;
  function->name = _lns_python_text_utf8 (bytes, said.n_name, said.name_kind, said.is_name_cut);
  function->file =
      _lns_python_text_utf8 (bytes + n_name, said.n_file, said.file_kind, said.is_file_cut);
  function->first_line = said.first_line;
  function->has_lines = said.has_lines;
  const bool is_good =
      function->name != NULL && function->file != NULL &&
      _lns_python_lines_decode ((LnsPythonLineFormat)said.line_format, said.first_line,
                                bytes + n_name + n_file, said.n_line_bytes, &function->lines);
  free_function (lns_id_map_take (&functions->by_number, said.number));
  if (!is_good || !lns_id_map_set (&functions->by_number, said.number, function))
    {
      free_function (function);
      return false;
    }
  functions->n_bytes += n_needed;
  return true;
}

bool
_lns_python_functions_find (const LnsPythonFunctions *functions,
                            uint64_t word,
                            LnsPythonPosition *ret_position)
{
  const uint32_t number = (uint32_t)(word >> 32) & LNS_WIRE_CHAIN_PYTHON_NUMBER_MAX;
  const Function *function = number != 0 ? lns_id_map_get (&functions->by_number, number) : NULL;
  if (function == NULL)
    return false;
  const int32_t offset = (int32_t)(uint32_t)word;
  *ret_position = (LnsPythonPosition){
    .name = function->name,
    .file = function->file,
    .line = function->has_lines
                ? _lns_python_line_at (&function->lines, function->first_line, offset)
                : 0,
  };
  return true;
}

void
_lns_python_functions_clear (LnsPythonFunctions *functions)
{
  size_t at = 0;
  for (Function *function; (function = lns_id_map_next (&functions->by_number, &at)) != NULL;)
    free_function (function);
  lns_id_map_clear (&functions->by_number);
  functions->n_bytes = 0;
}
