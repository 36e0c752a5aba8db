/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What `why` says of a report: data, of which sentences, tables and JSON are made. */

#pragma once

#include <stdatomic.h>

#include "src/analysis/facts/device-work.h"
#include "src/analysis/why/cause.h"
#include "src/tables/omissions.h"

/* An event that shows what a finding says, and the part of it that counts. */
typedef struct
{
  int64_t start_ns, end_ns;
  uint32_t lane; /* or LNS_ID_NONE: a time in which nothing was recorded                         */
  uint64_t ordinal;
} LnsEvidence;

#define LNS_MAX_EVIDENCE 8

/* What a thread did for most of a time. */
typedef struct
{
  uint32_t thread;   /* instance, or LNS_ID_NONE                                                 */
  uint32_t call;     /* string id of the call that it was in, or 0                               */
  uint32_t range;    /* string id of its NVTX range, or 0                                        */
  uint32_t function; /* string id of the function that samples found most, or 0                  */
  /* Of Python: string ids of the program's own function around that one, of the source of its innermost own one, and the line; or 0. */
  uint32_t caller, file, line;
  /* Of Python: string id of the source of the module that was being imported, or 0. */
  uint32_t import;
  bool is_python; /* the function is of Python                                                   */
  bool is_fault;  /* in most samples there, the kernel gave it a page of memory                  */
  bool is_minor;  /* most samples are in others, though in none as many                          */
} LnsOccupation;

#define LNS_MAX_WAITS 4

/* Of so many findings, the first ones, it is foretold how long the run would take without them. */
#define LNS_WHY_GAINS 3

/* How long the run would take without a finding. */
typedef struct
{
  bool is_known;
  int64_t run_ns;              /* how long it took                                               */
  int64_t ns, low_ns, high_ns; /* how long it would take, and between what with 90 %             */
} LnsWhyGain;

typedef struct
{
  LnsCause cause;
  LnsWhySeverity severity;
  LnsConfidence confidence;
  size_t ledger;  /* index of its ledger                                                          */
  uint32_t group; /* where it is made: 1 + index of its group, or 0                              */
  size_t first_cost, n_costs; /* in LnsWhy.costs                                               */
  int64_t ns;
  double share; /* of the ledger's span, 0 – 1                                                   */
  uint64_t count;    /* gaps, calls or operations                                                 */
  uint64_t n_steps;  /* in so many steps, of LnsWhy.steps                                         */
  LnsOccupation own; /* of the thread that is accused                                            */
  /* So many lost it, whose names differ by numbers alone; `own` has the one with most. */
  unsigned n_threads;
  bool is_many_calls;  /* the call is the one with most of it                                     */
  bool is_many_ranges; /* names that differ by numbers alone: the first one stands for all       */
  LnsOccupation waits[LNS_MAX_WAITS]; /* whom it waited for, and whom that one waited for, …     */
  unsigned n_waits;
  /* Of time without a CPU: threads that had it for a tenth of that or more; `waits` has the one with most. */
  unsigned n_rivals;
  bool is_taken_by_others; /* … or other programs had it, of which nothing was recorded          */
  bool is_many_awaited; /* each wait was for another process, of the same name                   */
  bool is_for_python; /* … for the lock of Python's interpreter, which that thread held          */
  bool waits_on; /* the last of them waited, too                                                 */
  /* What the one of COUNT that cost most did cost; and its event: of a gap that was lost in several stretches, the longest of them. */
  int64_t longest_ns;
  LnsEvidence longest;
  LnsEvidence evidence[LNS_MAX_EVIDENCE]; /* the longest so many, in order of time               */
  unsigned n_evidence;
  int64_t own_ns; /* of start-up and tear-down: how long `own` was so */
  /* Of slow steps: what made them slow, and for how much longer than the median; LNS_CAUSE_UNKNOWN: the GPU's work itself. */
  LnsCause part;
  int64_t part_ns;
  LnsWhyGain gain;
  const char *advice; /* static: a clause for the end of a sentence                              */
  char *sentence; /* owned                                                                       */
} LnsWhyFinding;

/* One time span divided into its causes. */
typedef struct
{
  bool is_device;
  uint32_t device;  /* LnsCudaDevice or LNS_ID_NONE                                              */
  uint32_t process; /* instance                                                                  */
  uint32_t thread;  /* of a thread's ledger; of a device's: the thread that launched most        */
  unsigned n_processes;
  LnsSpan span;
  int64_t busy_ns;
  int64_t cause_ns[LNS_N_IDLE_CAUSES]; /* their sum is the span without busy_ns                  */
  int64_t
      omitted_ns; /* of LNS_CAUSE_NOT_RECORDED: time that the report leaves out by intent      */
  uint64_t n_gaps[LNS_N_IDLE_CAUSES];
  size_t n_launches, n_missing; /* calls that queued work, and those whose work was not recorded */
  int64_t graphs_ns;  /* of graphs that are recorded as a whole                                  */
  int64_t kernels_ns; /* how long any kernel ran                                                 */
  uint32_t kernel; /* string id of the kernels that took most of the time, or 0                  */
  int64_t kernel_ns;
} LnsLedger;

/* What the answer does not say, and why. */
typedef struct
{
  char *reason; /* owned, a sentence                                                             */
  const char *advice;
  LnsSpan span;
} LnsAbstention;

typedef struct
{
  int64_t start_ns, end_ns;
  int64_t busy_ns; /* how long the GPU was busy in it                                            */
  /* That has most of it; of an outlier: what made it so. */
  LnsCause cause;
  bool is_busy; /* … the GPU's work itself                                                     */
  int64_t excess_ns;
  size_t index;
  bool is_slow; /* much longer than the median, as few others are                              */
} LnsStep;

typedef struct
{
  uint32_t name; /* string id of the range that is a step, or of the kernel that begins one, or 0 */
  bool is_kernel;
  bool
      is_cut; /* there may be more steps than the N first, which are told apart                   */
  uint32_t thread;
  size_t n, n_slow;
  uint64_t n_counted; /* steps that there were, where the report keeps only some of them; else 0 */
  int64_t p50_ns, p99_ns;  /* of all that there were                                              */
  LNS_ARRAY (LnsStep) all; /* in order, at most 100,000                                     */
  LNS_ARRAY (LnsStep) outliers; /* the slowest first, at most 8                                  */
  /* [step][1 + cause]: how much of it each idle cause has, and first how long the GPU was busy; owned, or NULL without steps. */
  int64_t *ns;
} LnsWhySteps;

/* A part of idle time with one cause. */
typedef struct
{
  int64_t start_ns, end_ns;
  LnsCause cause;
  uint32_t ledger, thread; /* index; instance or LNS_ID_NONE                                     */
  uint32_t call, range;    /* string ids, or 0                                                   */
  uint32_t finding;        /* 1 + index of the finding that it is part of, or 0                  */
} LnsWhyGap;

/* A part of what a finding lost while the GPU was busy: of a copy, a kernel or a step. */
typedef struct
{
  int64_t start_ns, end_ns; /* of the event                                                      */
  int64_t ns;               /* that would come back                                              */
  uint32_t finding;         /* 1 + index                                                         */
} LnsWhyCost;

typedef LNS_ARRAY (LnsWhyCost) LnsWhyCosts;

typedef struct
{
  LnsSpan span;
  LnsOmissions omissions; /* of the report                                                       */
  LnsWhyCosts costs; /* as the next, but for findings that gaps do not tell                    */
  LNS_ARRAY (LnsWhyGap) gaps; /* only where they were asked for                                  */
  LNS_ARRAY (LnsLedger) ledgers;
  LNS_ARRAY (LnsWhyFinding) findings; /* what costs most first                                   */
  LNS_ARRAY (LnsAbstention) abstained;
  LnsWhySteps steps;
  /* What another thread did while it is not known what the first ledger's waited for; or no thread. */
  LnsOccupation meanwhile;
  /* The verdict is on the time from the first to the last work: starting and ending take much more. */
  bool is_about_work;
  char *verdict; /* owned: a sentence                                                            */
  /* How many bytes at its start say how it is, before why that is so. */
  size_t lead_size;
  /* Something is to be done, and the program ran long enough for that to be worth it. */
  bool is_slow;
  bool is_unknown; /* … or most of the time is not known                                         */
  char *next; /* owned: what to do, or NULL                                                   */
  atomic_uint n_more_owners; /* beside the first one                                              */
} LnsWhy;
