/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A sink takes the rows of an export; each type has a file in sinks/. It gets the tables one after another, each with its
 * rows in the order of the table. A sink writes its file under a temporary name, which place.h renames. */

#pragma once

#include <sys/types.h>

#include "src/export/code.h"
#include "src/export/export.h"
#include "src/tables/tables.h"

#define LNS_SINK_MAX_COLUMNS 64

typedef struct LnsExportText LnsExportText;

/* One export. Its sink borrows it, and ends before it does. */
typedef struct
{
  LnsReport *report;
  const LnsExportType *type;
  LnsTables *tables;
  const LnsExportOptions *options;
  const LnsExportCode *code; /* of types that have chains: those of samples                     */
  LnsExportText *text; /* of types that are streams: their file, or the standard output           */
  const char *path;    /* what the person asked for: errors name it                           */
  const char
      *temporary; /* the file to write ("-": standard output), or an empty folder that is there */
  mode_t mode;    /* of files to create, before the umask */
} LnsExportJob;

typedef struct
{
  uint32_t lane; /* or LNS_ID_NONE: a definition                                                */
  LnsValue values[LNS_SINK_MAX_COLUMNS + 1]; /* of the columns; then the rowid                   */
} LnsSinkRow;

struct LnsExportType
{
  const char *name;
  const char *ending;
  const char *file_ending; /* of the files of a type that is a folder; else NULL                */
  bool is_stream;          /* one text, which may go to the standard output                    */
  bool has_chains;         /* it writes call chains of samples                                 */

  /* Returns whether the other programs that the type needs are there. NULL: it needs none. */
  bool (*check) (LnsError *error);
  /* Makes a sink. Returns NULL and fills ERROR if that fails. */
  void *(*open) (const LnsExportJob *job, LnsError *error);
  /* Returns whether the sink wants TABLE's rows. NULL: it wants those of all tables. */
  bool (*takes) (const LnsTable *table);
  bool (*begin) (void *sink, const LnsTable *table, LnsError *error);
  bool (*row) (void *sink, const LnsSinkRow *row, LnsError *error);
  bool (*end) (void *sink,
               LnsError *error); /* of the table that was begun last; NULL = nothing to do */
  /* Frees SINK. If GOOD, completes its file first. */
  bool (*close) (void *sink, bool good, LnsError *error);
};

extern const LnsExportType lns_sink_sqlite;
extern const LnsExportType lns_sink_jsonlines;
extern const LnsExportType lns_sink_csv;
extern const LnsExportType lns_sink_arrow;
extern const LnsExportType lns_sink_arrowdir;
extern const LnsExportType lns_sink_chrome;
extern const LnsExportType lns_sink_firefox;
extern const LnsExportType lns_sink_folded;
extern const LnsExportType lns_sink_parquetdir;
extern const LnsExportType lns_sink_perf_script;
extern const LnsExportType lns_sink_pprof;
extern const LnsExportType lns_sink_speedscope;
extern const LnsExportType lns_sink_svg;

/* Returns the track of LANE. Ids that definitions of a report refer to exist: lns_report_open () has checked them. */
static inline const LnsTrack *
lns_export_track (const LnsReport *report, uint32_t lane)
{
  return &lns_report_tracks (report, NULL)[lns_report_lanes (report, NULL)[lane].track];
}

/* Fills ERROR: the export cannot be written because of CODE, an errno value. Returns false. */
bool lns_export_fail (const LnsExportJob *job, int code, LnsError *error);
