/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a report keeps beside its lanes about single events: their column LNS_COLUMN_REMAINDER says where. */

#pragma once

#include "src/store/read/report.h"

/* What a call of the OS runtime was about: its lock and who held that, or its file and how many bytes went there. */
typedef struct
{
  bool has_lock, has_file;
  uint64_t lock;    /* address                                              */
  uint32_t holder;  /* thread, or LNS_ID_NONE                               */
  const char *path; /* not terminated; the report's                         */
  size_t path_bytes;
  uint64_t n_bytes;
} LnsCallSubject;

/* Finds what the call with REMAINDER was about. False: the report does not tell. O(threads). */
bool lns_call_subject_find (LnsReport *report, uint64_t remainder, LnsCallSubject *ret_subject);

/* Who had a thread run. */
typedef struct
{
  uint32_t thread;    /* or LNS_ID_NONE: an interrupt, or a thread that the report does not have */
  int64_t latency_ns; /* from the waking to when it ran */
} LnsWaking;

/* Finds who had the thread run that EVENT of LANE is about: EVENT is one of scheduling, when it got a CPU, or when it left one
 * and waited until the next. RET_RUN gets when it got the CPU. False: the report does not tell. Reads at most one chunk.
 * O(threads). */
bool lns_waking_find (
    LnsReport *report, uint32_t lane, uint64_t ordinal, LnsWaking *ret_waking, LnsEvent *ret_run);
