/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/tally.h"
#include "src/base/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void
_lns_trace_tally_count (LnsTraceTally *tally, LnsTraceValue phase)
{
  if (phase.text == NULL)
    tally->n_without++;
  else if (phase.size_bytes == 1)
    tally->by_phase[(unsigned char)phase.text[0]]++;
  else
    tally->n_others++;
}

void
_lns_trace_tally_line (
    LnsBuffer *lines, uint64_t n, const char *one, const char *many, const char *more)
{
  char line[200];

  if (n > 0)
    lns_buffer_append (lines, line,
                       (size_t)snprintf (line, sizeof line, "%" PRIu64 " %.60s%.110s\n", n,
                                         lns_plural (n, one, many), more));
}

/* What the format calls events of PHASE. */
static const char *
name_of (unsigned char phase)
{
  switch (phase)
    {
    case 'c':
      return " (clock synchronization)";
    case 'v':
    case 'V':
      return " (memory dump)";
    case '(':
    case ')':
      return " (context)";
    case '=':
      return " (linked ids)";
    default:
      return "";
    }
}

void
_lns_trace_tally_write (const LnsTraceTally *tally, LnsBuffer *lines)
{
  char what[64];

  for (unsigned phase = 0; phase < 256; phase++)
    {
      const bool is_plain = phase > ' ' && phase < 0x7F;
      snprintf (what, sizeof what, is_plain ? " of phase %c%s" : " of phase \\x%02x%s", phase,
                name_of ((unsigned char)phase));
      _lns_trace_tally_line (lines, tally->by_phase[phase], "event", "events", what);
    }
  _lns_trace_tally_line (lines, tally->n_others, "event", "events",
                         " of phases that no viewer knows");
  _lns_trace_tally_line (lines, tally->n_without, "event", "events", " without a phase");
}
