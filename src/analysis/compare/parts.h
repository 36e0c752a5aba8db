/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the steps of a run were spent on: its parts, each with its time in each step. Parts of two runs are the same if their keys
 * are: these have names without numbers, where they were, and whose they are, but no ids. */

#pragma once

#include "src/analysis/why/finding.h"
#include "src/base/id-map.h"
#include "src/store/read/report.h"

/* Longer runs are told by so many steps, evenly spread: more would tell nothing new. */
#define LNS_MOST_COMPARED 2048

/* Parts beyond are left out, and counted. */
#define LNS_MOST_PARTS 4096

#define LNS_PART_EVENTS 3

typedef enum
{
  LNS_PART_KERNEL,
  LNS_PART_COPY,     /* and sets, and graphs that were recorded as a whole                       */
  LNS_PART_RANGE,    /* of NVTX                                                                  */
  LNS_PART_CALL,     /* of CUDA, its libraries, MPI and the OS                                   */
  LNS_PART_GAP,      /* time in which the GPU was idle, of one cause                             */
  LNS_PART_FUNCTION, /* in which samples found the thread                                        */
  LNS_N_PART_KINDS
} LnsPartKind;

/* "kernel": what KIND is called in JSON. Static. */
const char *lns_part_kind_name (LnsPartKind kind);

typedef struct
{
  LnsPartKind kind;
  uint64_t key;
  uint32_t parent; /* 1 + index of the range it is in, on the thread of the steps; 0: in the step */
  uint32_t name;   /* string id; of copies 0                                                     */
  uint32_t range;  /* string id of the range it is in, or that launched it; or 0                  */
  uint32_t device; /* CUDA's number, or LNS_ID_NONE                                               */
  uint32_t thread; /* instance, or LNS_ID_NONE                                                    */
  uint32_t copy;   /* of copies: LNS_COLUMN_COPY_KIND, or LNS_PART_SET or _GRAPH                 */
  LnsCause cause;  /* of gaps                                                                     */
  bool is_on_thread; /* its time is a part of that of the step                                    */
  bool is_wait;      /* it waits for the GPU                                                      */
  bool is_total; /* of all calls or kernels of one name, whatever range they are in              */
  bool is_many_names; /* which differ by numbers alone                                            */
  uint64_t n_events;
  double *ns; /* by step; time without a CPU left out                                      */
  LnsEvidence events[LNS_PART_EVENTS]; /* the longest, longest first                            */
  unsigned n_events_kept;
} LnsStepPart;

#define LNS_PART_SET   256
#define LNS_PART_GRAPH 257

/* An operation of a GPU in a typical step. */
typedef struct
{
  int64_t start_ns;
  uint32_t part; /* index                                                                         */
  uint32_t total;                          /* 1 + index of that of all of its name, or 0 */
  uint64_t name, short_name, shape, range; /* hashes                                              */
} LnsStepOperation;

typedef struct
{
  size_t n;     /* steps that are told                                                            */
  size_t n_all; /* that the run has                                                               */
  LnsSpan *spans;
  size_t *indices; /* in LnsWhySteps.all                                                          */
  double *ns;      /* how long they took, without `waited_ns`                                     */
  double *waited_ns; /* for how long their thread could have run and had no CPU                   */
  double waited_share; /* of all of that                                                          */
  bool knows_waits;
  double unseen_share; /* of the run, that the main thread had no CPU; 0 if `knows_waits`         */
  bool is_python; /* samples found the thread of the steps in Python                              */
  bool are_ranges;
  size_t typical; /* the one that is nearest to the median                                        */
  LNS_ARRAY (LnsStepPart) parts;
  LnsIdMap by_key; /* 1 + index                                                                   */
  uint64_t n_left_out; /* events of parts that did not fit                                        */
  LNS_ARRAY (LnsStepOperation) order; /* of the typical step, by start                            */
} LnsStepTimes;

/* The part with KEY, which is new if *RET_IS_NEW; NULL where there is no room for more. Valid until the next one is new. */
LnsStepPart *_lns_step_part (LnsStepTimes *times, uint64_t key, bool *ret_is_new);

/* Adds NS in step STEP to PART, of EVENT. */
void _lns_step_part_add (LnsStepPart *part, size_t step, double ns, const LnsEvidence *event);

/* By step, what of the time of a part (PART: 1 + index), or of the steps (0), is in none of its own parts on the thread of the steps; sets
 * *RET_HAS_PARTS if it has some, and leaves it else. To be freed. O(parts × steps). */
double *_lns_step_own (const LnsStepTimes *times, size_t part, bool *ret_has_parts);

/* The step that TIME_NS is in, or SIZE_MAX. NEAR is one that it may be in. O(log steps), or O(1) if it is in that or the next. */
size_t _lns_step_at (const LnsStepTimes *times, int64_t time_ns, size_t near);
