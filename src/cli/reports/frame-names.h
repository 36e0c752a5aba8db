/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Looks up the functions of the code that a report's call chains go through, and adds their names to the report. */

#pragma once

#include "src/base/array.h"
#include "src/store/read/report.h"
#include "src/symbols/symbols.h"

typedef struct
{
  const char *folders;      /* with programs and debug symbols, separated by colons; NULL: none */
  bool uses_debuginfod;     /* may wait for the network, if DEBUGINFOD_URLS is set */
  bool leaves_lines_out;    /* of the source */
  bool is_new;              /* the report was recorded just now, and may not be on the disk yet */
  const atomic_bool *stop;  /* or NULL; true ends the look-up */
  LnsProgressFunc progress; /* or NULL; called after each file, and at the end with 1 */
  void *progress_data;
} LnsFrameNamesOptions;

/* A file in which addresses have no names. */
typedef struct
{
  char *path; /* owned */
  uint64_t n_addresses;
  const char *why; /* a sentence without capital and full stop, not translated; static */
} LnsUnnamedFile;

/* What of the report's addresses has a name now. Clear it. */
typedef struct
{
  uint64_t n_addresses; /* frames in known code */
  uint64_t n_named;     /* of them, those that have a name */
  uint64_t n_new;       /* of these, those that had none, or not so good a one */
  LNS_ARRAY (LnsUnnamedFile) unnamed;
} LnsFrameNames;

void lns_cli_frame_names_clear (LnsFrameNames *names);

/* Names the frames of the report at PATH for which a better name is found than they have. They are added in one commit at
 * the end (lns_writer_amend ()). False with ERROR if the report stayed as it was: LNS_ERROR_CANCELLED if it was stopped.
 * RET_NAMES may be NULL. */
bool lns_cli_name_frames (const char *path,
                          const LnsFrameNamesOptions *options,
                          LnsFrameNames *ret_names,
                          LnsError *error);
