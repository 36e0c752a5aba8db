/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* --filter-nvtx and --filter-time, which write the selected part of a report into a temporary report. */

#pragma once

#include <stdio.h>

#include "src/analysis/filter.h"
#include "src/cli/options/options.h"
#include "src/tables/tables.h"

/* The values of the switches; NULL if not given. */
typedef struct
{
  const char *range, *time;
} LnsCliFilterValues;

/* Rows of the table of switches of a command whose VALUES have the member LnsCliFilterValues filter.  */
/* clang-format off */
#define LNS_CLI_FILTER_SWITCHES(Values)                                                            \
  { LNS_SWITCH ("filter-nvtx", TEXT, Values, filter.range),                                        \
    .value_name = "RANGE[@DOMAIN][/INDEX]",                                                        \
    .help = N_ ("Use only events that overlap this NVTX range, in its process. INDEX selects one of several ranges of that name, counted from 0; the first is the default. DOMAIN is its domain (* is any); without it, the default domain.") },   \
  { LNS_SWITCH ("filter-time", TEXT, Values, filter.time),                                         \
    .value_name = "[START]/[END]",                                                                 \
    .help = N_ ("Use only events that overlap this time, counted from the session's start as in all tables, in ns or with a unit: 1.5s/2s, 200ms/.") }
/* clang-format on */

/* An open report, and the part of it that was selected. */
typedef struct
{
  LnsReport *whole;
  LnsReport *part;    /* or NULL                                                                 */
  LnsTables *tables;  /* of the part if there is one, else of the whole                          */
  LnsFilterSpan span; /* of the part                                                            */
  char *folder;
  char *path; /* of the part                                                                    */
} LnsCliFilter;

/* Opens the report at PATH with lns_cli_open_report (), and if VALUES select a part of it, writes that part. Clear FILTER
 * whatever is returned. False with ERROR if the report cannot be opened, or the part does not exist or cannot be
 * written. */
bool lns_cli_filter_open (LnsCliFilter *filter,
                          const LnsCliFilterValues *values,
                          const char *path,
                          LnsError *error);

/* The same for what looks at a span of the whole report: writes no part, and `span` is what VALUES select, within the time that
 * the report covers. */
bool lns_cli_filter_open_span (LnsCliFilter *filter,
                               const LnsCliFilterValues *values,
                               const char *path,
                               LnsError *error);
void lns_cli_filter_clear (LnsCliFilter *filter);

/* Prints to STREAM the end of a sentence about a report that has some data, of lanes of KINDS (1 << LnsLaneKind each; 0 =
 * all), but none in the part that FILTER selected; and between which times the report has them. */
void lns_cli_filter_tell_none (FILE *stream, const LnsCliFilter *filter, uint32_t kinds);
