/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The style in which a table of `stats` or `analyze` is written: its format, and what follows that after colons. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"

typedef enum
{
  LNS_STATS_COLUMN,
  LNS_STATS_TABLE,
  LNS_STATS_CSV,
  LNS_STATS_TSV,
  LNS_STATS_JSON,
  LNS_STATS_HDOC,
  LNS_STATS_HTABLE,
  LNS_STATS_N_FORMATS
} LnsStatsFormat;

/* In thousands from one to the next: the value of a time is shifted by 3 digits a unit. */
typedef enum
{
  LNS_STATS_NS,
  LNS_STATS_US,
  LNS_STATS_MS,
  LNS_STATS_S
} LnsStatsUnit;

#define LNS_STATS_MAX_WIDTHS 64
#define LNS_STATS_AUTO       (-1)

/* Zero is the default of each member. */
typedef struct
{
  LnsStatsFormat format;
  LnsStatsUnit unit;
  bool no_header;
  bool is_terminal; /* where it goes: column and table show control characters                   */
  bool no_limit;    /* columns may be wider than 100 characters                                  */
  bool escapes;     /* tabs and newlines become \t and \n instead of spaces                      */
  short widths[LNS_STATS_MAX_WIDTHS]; /* in characters; 0 hides the column, LNS_STATS_AUTO      */
  unsigned n_widths;     /* further columns have the width that fits                            */
  const char *separator; /* between groups of three digits, for people; "" or NULL = none       */
  const char *title;     /* of a document, or NULL; neither this nor `css` is terminated        */
  size_t title_size;
  const char *css; /* address of a document's style sheet, or NULL                              */
  size_t css_size;
} LnsStatsStyle;

typedef struct
{
  const char *name;      /* "column"                                                            */
  const char *arguments; /* "[:nohdr]…", or ""                                                  */
  const char *ending;    /* of files: "txt"                                                     */
  const char *help;      /* a sentence                                                          */
  bool is_for_people;    /* told what table follows, numbers in groups of digits                */
} LnsStatsFormatInfo;

const LnsStatsFormatInfo *lns_stats_format_info (LnsStatsFormat format);

/* Reads TEXT ("column:nohdr:.:20") into the format of STYLE and what belongs to it. STYLE borrows from TEXT. False and
 * ERROR where a word is unknown. */
bool lns_stats_style_parse (LnsStatsStyle *style, const char *text, LnsError *error);
