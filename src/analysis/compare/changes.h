/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which parts of steps take another time in B than in A, for sure. */

#pragma once

#include "src/analysis/compare/run-levels.h"

/* A change counts if the scatter of the steps gives one that large less often than this, with all comparisons that were made. */
#define LNS_SURE 0.01

/* … and if it is at least this share of what it changes: runs of one program differ by less without a reason. */
#define LNS_LEAST_CHANGE 0.01

/* Where the thread had no CPU for a larger share of the run, and when was not recorded, nothing is known of its steps. */
#define LNS_MOST_UNSEEN 0.1

typedef enum
{
  LNS_CHANGE_SLOWER,
  LNS_CHANGE_FASTER,
  LNS_CHANGE_NEW,
  LNS_CHANGE_GONE
} LnsChangeType;

typedef struct
{
  LnsPartKind kind;
  LnsChangeType type;
  size_t a, b;  /* 1 + index of the part in the times of each run, or 0                        */
  bool is_self; /* of a range or the step: what is in none of its parts                        */
  bool is_step; /* … of the step                                                               */
  bool is_renamed; /* b's part has another name                                                   */
  double a_ns, b_ns, change_ns; /* a step                                                         */
  double low_ns, high_ns;
  double change; /* share of a_ns; NAN of new ones                                                */
  double p;      /* corrected for all comparisons                                                 */
} LnsChange;

typedef LNS_ARRAY (LnsChange) LnsChanges;

/* A run: its times, which of its steps do not count, and what they were cleared of. */
typedef struct
{
  LnsStepTimes *times;
  bool *is_left_out;
  LnsSeriesLeft left;
} LnsComparedRun;

typedef struct
{
  LnsShift steps; /* of how long steps take                                                      */
  double p;       /* that they do by chance, corrected                                           */
  bool is_sure;   /* they do not                                                                 */
  double common;  /* the share by which most of what is in them changed alike                    */
  double cpu_pace, gpu_pace; /* the same of what the CPU did, and the GPU                         */
  bool knows_gpu_pace;
  bool is_contended; /* a thread of the steps lacked a CPU                                      */
  bool is_machine; /* … which explains what changed                                               */
  size_t n_compared; /* comparisons that were made                                                */
  LnsChanges changes; /* for sure: those by most time first                                       */
  bool has_suspect;
  LnsChange
      suspect; /* that most of what is not sure may be due to                                 */
} LnsChangesFound;

/* Compares RUNS, A and B, both with at least LNS_LEAST_COMPARED steps that count. RENAMED has the key of B's parts by the key of those
 * of A that they are, where it is another one. LEVELS, of A and B, are those of several runs, of which RUNS are the typical ones: how far runs lie
 * apart tells then what is sure, instead of the scatter of the steps; NULL: there is one run of each. To be cleared. O(parts × steps log steps). */
LnsChangesFound
lns_changes_find (const LnsComparedRun *runs, const LnsIdMap *renamed, const LnsRunLevels *levels);
void lns_changes_clear (LnsChangesFound *found);
