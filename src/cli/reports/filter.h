/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* --filter-nvtx and --filter-time: the report of a part of the time, in a folder of its own. */

#pragma once

#include "src/cli/options/options.h"
#include "src/tables/tables.h"

/* The values of the switches; each NULL or what was given. */
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
    .help = N_ ("Use only events that overlap this time, in ns or with a unit: 1.5s/2s, 200ms/.") }
/* clang-format on */

/* A report that is open, and the part of it to look at. */
typedef struct
{
  LnsReport *whole;
  LnsReport *part;   /* or NULL                                                                 */
  LnsTables *tables; /* of the part, or else of the whole                                       */
  char *folder;
  char *path; /* of the part                                                                    */
} LnsCliFilter;

/* Opens the report at PATH, as lns_cli_open_report () does, and makes the part of it that VALUES say, if they
 * do: to be cleared, whatever comes back. False and ERROR where it cannot be opened, there is no such part, or
 * it cannot be written. */
bool lns_cli_filter_open (LnsCliFilter *filter,
                          const LnsCliFilterValues *values,
                          const char *path,
                          LnsError *error);
void lns_cli_filter_clear (LnsCliFilter *filter);
