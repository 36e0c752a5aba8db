/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rebuilds damaged reports: reads all bytes of the file without trusting its b-tree, keeps for each (report, kind, lane,
 * level, sequence) the highest revision with a valid checksum, and writes a new report from these chunks. */

#pragma once

#include "src/store/read/report.h"

typedef struct
{
  uint64_t n_events;    /* in the new report, open ones included */
  uint64_t n_chunks;    /* event chunks kept */
  uint64_t n_damaged;   /* chunks with a valid magic and a wrong checksum */
  uint64_t n_missing;   /* chunks of lanes that are missing, according to the sequence numbers */
  uint64_t n_lost;      /* events of the old report that are not in the new one, as far as known */
  uint64_t n_lost_rows; /* likewise, rows of kept tables */
  bool is_lost_known;   /* the old report says how many events it had */
  char lost_text[160];  /* both numbers as text: "12 events" */
} LnsRecovery;

/* Rebuilds PATH, and the "-journal" beside it if there is one that may be used (lns_journal_open ()), into OUT_PATH, which
 * must not exist unless OVERWRITE. Only reads PATH. OPTIONS (may be NULL) get its progress and may cancel it. Returns false,
 * sets ERROR and leaves no file if no definition could be read. */
bool lns_recover (const char *path,
                  const char *out_path,
                  bool overwrite,
                  const LnsOpenOptions *options,
                  LnsRecovery *ret_recovery,
                  LnsError *error);

/* Opens PATH. If it is damaged, rebuilds it into a copy under $XDG_CACHE_HOME/lanescope/recovered, opens that, and sets
 * RET_RECOVERED; commands then say so on stderr. OPTIONS also get the progress of rebuilding and may cancel it, which
 * leaves no copy. */
LnsReport *lns_report_open_or_recover (const char *path,
                                       const LnsOpenOptions *options,
                                       bool *ret_recovered,
                                       LnsError *error);
