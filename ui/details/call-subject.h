/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a call of the OS runtime was about: its lock and who held that, or its file and how many bytes went there. A report
 * keeps this beside the call's lane. */

#pragma once

#include "src/store/read/report.h"

typedef struct
{
  bool has_lock, has_file;
  uint64_t lock;    /* address                                              */
  uint32_t holder;  /* thread, or LNS_ID_NONE                               */
  const char *path; /* not terminated; the report's                         */
  size_t path_bytes;
  uint64_t n_bytes;
} LnsCallSubject;

/* Finds what the call with REMAINDER, its column of that name, was about. False: the report does not tell. O(threads). */
bool lns_call_subject_find (LnsReport *report, uint64_t remainder, LnsCallSubject *ret_subject);
