/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays what Python programs report about the functions that they were asked to trace (capture/wire/layout.h). A function
 * that a process has not found gets one diagnostic, unless another process has found it: a program's helper processes
 * load other modules than the program. */

#include "capture/session/decode/python/python.h"
#include "src/base/hash.h"

#include <string.h>

/* What is known of the session. */
typedef struct
{
  bool has_begun;
  LnsIdMap functions; /* LnsUnrecorded by hash of the function's name */
} Session;

static LnsUnrecorded found; /* stands for what was found */

static void
define (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  Session *session = decoder->state[LNS_SOURCE_PYTHON];
  const LnsWireText said = record->named.text;
  const char *text = said.n_bytes > 0 ? said.bytes : "";
  const int n = (int)said.n_bytes;
  session->has_begun = true;
  if (n == 0 || text[0] == LNS_WIRE_PYTHON_BEGAN)
    return;
  if (text[0] != LNS_WIRE_PYTHON_FOUND && text[0] != LNS_WIRE_PYTHON_MISSED)
    {
      _lns_decoder_tell (decoder, process, "LNS-PYTHON-001", "process %d: %.*s", process->info.pid,
                         n, text);
      return;
    }
  const char *why = memchr (text, '\t', said.n_bytes);
  const size_t n_which = why != NULL ? (size_t)(why - text) - 1 : said.n_bytes - 1;
  const uint64_t key = lns_hash (text + 1, n_which);
  LnsUnrecorded *told = lns_id_map_get (&session->functions, key);
  if (text[0] == LNS_WIRE_PYTHON_FOUND)
    {
      if (told != NULL && told != &found)
        told->is_settled = true;
      told = &found;
    }
  else if (told != NULL)
    return;
  else
    told = _lns_decoder_tell (decoder, process, "LNS-PYTHON-001",
                              "process %d: Python function %.*s is not traced: %.*s",
                              process->info.pid, (int)n_which, text + 1,
                              why != NULL ? n - 2 - (int)n_which : 0, why != NULL ? why + 1 : "");
  if (told == NULL || !lns_id_map_set (&session->functions, key, told))
    decoder->counters.n_refused++;
}

bool
lns_decoder_has_python (const LnsDecoder *decoder)
{
  return ((const Session *)decoder->state[LNS_SOURCE_PYTHON])->has_begun;
}

static void
free_session (LnsDecoder *decoder)
{
  lns_id_map_clear (&((Session *)decoder->state[LNS_SOURCE_PYTHON])->functions);
}

const LnsDecoderOps _lns_python_ops = {
  .types = { { LNS_WIRE_PYTHON_SAID, LNS_WIRE_PYTHON_SAID } },
  .session_bytes = sizeof (Session),
  .define = define,
  .free_session = free_session,
};
