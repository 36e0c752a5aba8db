/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Getting a broken report back: reads the file's bytes from end to end without trusting its b-tree,
 * keeps for each (report, kind, lane, level, sequence) the highest revision whose checksum is
 * right, and writes a new report from them. */

#pragma once

#include "src/store/read/report.h"

typedef struct
{
  uint64_t n_events;  /* in the new report, open ones included                            */
  uint64_t n_chunks;  /* event chunks kept                                                */
  uint64_t n_damaged; /* chunks whose magic was found and whose checksum was wrong        */
  uint64_t n_missing; /* gaps in the sequences of lanes: chunks of which nothing was left */
  uint64_t
      n_lost; /* events that the report held and that are not in the new one, as far as known */
  uint64_t
      n_lost_rows;    /* likewise, rows of tables that the report keeps as they were             */
  bool is_lost_known; /* the report itself could tell how many it held                            */
  char
      lost_text[160]; /* the two as people read them: "12 events"                                 */
} LnsRecovery;

/* Rebuilds PATH (with its "-journal" beside it where there is one) into OUT_PATH, which must not
 * exist unless OVERWRITE. PATH is only read. OPTIONS (may be NULL) follow and cancel it. False and
 * ERROR if not one definition could be read; nothing is left then. */
bool lns_recover (const char *path,
                  const char *out_path,
                  bool overwrite,
                  const LnsOpenOptions *options,
                  LnsRecovery *ret_recovery,
                  LnsError *error);

/* Opens PATH; where it is damaged, rebuilds it into a copy under
 * $XDG_CACHE_HOME/lanescope/recovered and opens that, with RET_RECOVERED set. What commands use:
 * they then say so on stderr. OPTIONS follow and cancel the rebuilding too; no copy is left then. */
LnsReport *lns_report_open_or_recover (const char *path,
                                       const LnsOpenOptions *options,
                                       bool *ret_recovered,
                                       LnsError *error);
