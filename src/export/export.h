/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Exports a report to the formats of other programs. Each row of src/tables goes to one sink (sink.h) as it is read, so
 * memory is bounded for a report of any size. */

#pragma once

#include "src/store/read/report.h"

typedef struct LnsExportType LnsExportType;

/* A range of the report clock. An event that crosses one of its ends is left out unless `may_…` includes it. */
typedef struct
{
  int64_t min_ns, max_ns; /* INT64_MIN, INT64_MAX: no bound                                     */
  bool may_begin_before, may_end_after;
} LnsExportTimes;

/* Which stacks folded and svg write. */
typedef enum
{
  LNS_EXPORT_ANY_STACKS, /* of GPU work; where there is none, of samples */
  LNS_EXPORT_GPU_STACKS,
  LNS_EXPORT_CPU_STACKS
} LnsExportStacks;

/* How GPU work is folded into stacks, for folded and svg. */
typedef struct
{
  bool strip_layer_number;     /* leave out ranges whose names begin with "Layer"               */
  bool strip_iteration_number; /* … with "Train step"                                           */
  const char
      *filter_out; /* POSIX extended regular expression: stacks with such a name go; or NULL */
  bool
      doubled; /* each frame twice, and each stack twice, as llm.c's script has them               */
} LnsExportFolding;

typedef enum
{
  LNS_EXPORT_EXPECTED_TABLES, /* those with rows and those that readers expect anyway            */
  LNS_EXPORT_FILLED_TABLES,
  LNS_EXPORT_ALL_TABLES
} LnsExportExtent;

typedef struct
{
  bool overwrite;         /* an existing file may be replaced                                 */
  bool append;            /* an existing folder keeps its files and gets those it lacks       */
  LnsExportExtent extent; /* which tables there are, of those that are asked for                */
  char *const *tables;    /* POSIX basic regular expressions of whole names, in any case      */
  size_t n_tables;        /* 0 = all tables                                                   */
  const LnsExportTimes *times; /* or NULL: all                                                   */
  bool no_json, no_blobs; /* NVTX payloads: NULL in place of their JSON text, of their bytes      */
  const char *
      source; /* the file that the report was opened from, if that is another one; may be NULL. Only those who
                           * may read it may read the export */
  int64_t shift_ns; /* added to each time                                               */
  LnsExportStacks stacks;
  LnsExportFolding folding;
  const atomic_bool *cancel; /* or NULL; true ends the export with LNS_ERROR_CANCELLED           */
  const char **ret_lacks; /* or NULL; gets why a file that was written is empty: static, or NULL  */
  LnsProgressFunc progress; /* or NULL; called on this thread, a few times a second             */
  void *progress_data;
} LnsExportOptions;

/* Returns the type called NAME, such as "sqlite", or NULL. O(types). */
const LnsExportType *lns_export_type_find (const char *name);

/* Returns whether this machine has what TYPE needs, such as pyarrow, which it starts to find out. If not, ERROR says
 * what to do. */
bool lns_export_type_check (const LnsExportType *type, LnsError *error);

/* Returns the ending of names of files of TYPE, such as ".sqlite", or of folders, such as "_csvdir". */
const char *lns_export_type_ending (const LnsExportType *type);

/* Reads TEXT as --times takes it: [:][start]/[end][:]. A time is a sum of numbers with units (ns us ms s m h; none =
 * s), such as 1s500ms. A colon includes events that cross that end. Returns false and fills ERROR for other texts. */
bool lns_export_times_parse (const char *text, LnsExportTimes *ret_times, LnsError *error);

/* Writes REPORT as TYPE to PATH and creates missing folders; "-" is the standard output. The file appears under its
 * name once it is complete, with the permissions of lns_mode_like (). OPTIONS may be NULL. Returns false and fills ERROR if PATH exists and may not be replaced
 * (checked before any work), if it cannot be written, if no table matches, or if a chunk of the report is damaged.
 * O(rows). */
bool lns_export (LnsReport *report,
                 const LnsExportType *type,
                 const char *path,
                 const LnsExportOptions *options,
                 LnsError *error);
