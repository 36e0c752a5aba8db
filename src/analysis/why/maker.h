/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the files in which the answer of why.h is made. */

#pragma once

#include "src/analysis/facts/launch-finder.h"
#include "src/analysis/facts/thread-facts.h"
#include "src/analysis/name-key.h"
#include "src/analysis/why/finding.h"
#include "src/base/id-map.h"
#include "src/base/language.h"
#include "src/tables/tables.h"

/* TEXT in the person's language, unless the thread stays English (lns_text_in_english ()). */
#define _(text) lns_text (text)

/* More steps are not told apart: their shares would take too much memory. */
#define LNS_WHY_MOST_STEPS 100000

/* A stretch of lost time that has one cause. */
typedef struct
{
  int64_t start_ns, end_ns;
  LnsCause cause;
  LnsConfidence confidence;
  uint32_t thread; /* that is accused, or LNS_ID_NONE                                            */
  uint32_t call, range;
  uint32_t lane; /* of the event that tells, or LNS_ID_NONE                                      */
  uint64_t ordinal;
  uint32_t waker; /* thread, or LNS_ID_NONE                                                      */
  bool is_for_python; /* of a wait: for the lock of Python's interpreter                         */
  /* Calls and ranges do not tell such parts apart: the group keeps those with most of its time. */
  bool is_any_place;
  bool is_omitted; /* the report leaves it out by intent                                         */
  uint32_t inner; /* … a short range within `range`, or 0                                        */
} LnsPart;

/* Finds what has most of the time of a group, in one pass (Boyer and Moore's majority vote, by weight). */
typedef struct
{
  uint32_t name;
  int64_t weight_ns;
} LnsVote;

/* Parts of one cause, thread, call and range. */
typedef struct
{
  LnsCause cause;
  size_t ledger;
  uint32_t thread, call, range;
  uint64_t range_key; /* hash of the range's name without numbers                                */
  bool is_many_ranges, is_for_python, is_omitted;
  LnsConfidence confidence; /* the worst of all                                                  */
  int64_t ns;
  LnsVote call_vote;  /* where is_any_call                                                        */
  LnsVote range_vote; /* where is_any_place                                                      */
  LnsVote inner_vote; /* of parts that have an inner one                                         */
  /* The thread that lost most of it, of those whose names differ by numbers alone … */
  LnsVote thread_vote;
  unsigned n_threads; /* … and how many they are                                      */
  bool is_any_place, is_any_call;
  /* 1 + thread that ended most of its waits, of those where that is known. */
  LnsVote waker_vote;
  uint64_t count, last_gap, n_steps, last_step;
  /* The gap at hand: what the group has of it, its last stretch without a break, and the longest one … */
  int64_t gap_ns;
  LnsPart stretch, gap_part;
  /* … and the gap that the group has most of. */
  int64_t longest_ns;
  LnsPart longest;
  LnsPart parts[LNS_MAX_EVIDENCE]; /* the longest, in no order                                   */
  unsigned n_parts;
} LnsGroup;

typedef struct
{
  LnsTables *tables;
  LnsReport *report;
  const atomic_bool *cancel;
  bool keeps_gaps, in_language;
  LnsThreadFacts *facts;
  LnsLaunchFinder *finder;
  LnsWhy *why;
  LNS_ARRAY (LnsGroup) groups;
  LnsIdMap group_of; /* hash of the key -> 1 + index                                             */
  LnsIdMap counted;  /* hashes of groups and threads                                              */
  LnsIdMap collectives; /* string id -> 1, or 2 if kernels of the name are of collectives         */
  LnsIdMap name_keys;   /* of lns_name_key ()                                                     */
  size_t ledger; /* that parts go to                                                         */
  uint64_t gap;  /* number of the gap that parts belong to, from 1 on                        */
  uint64_t last_gap[LNS_N_IDLE_CAUSES]; /* that each cause had a part of                         */
  LNS_ARRAY (LnsSpan) steps; /* in order                                                         */
  LnsCountedSteps
      counted_steps;  /* where the report keeps only some of them; else `n` is 0           */
  uint32_t step_lane; /* of their ranges, or LNS_ID_NONE: they are no ranges                     */
  size_t step;        /* the one at hand                                                          */
  int64_t *
      step_ns; /* [step][1 + cause]: how much of it each cause has, and first how long the GPU was busy */
} LnsWhyMaker;

/* ledger.c: what idle time is made of. */

/* Begins a ledger for SPAN; it is the last of WHY's. */
LnsLedger *_lns_why_begin_ledger (LnsWhyMaker *maker, const LnsSpan *span);

/* Adds PART, which is not empty, to the ledger. What of it the report leaves out by intent is not recorded. */
void _lns_why_add (LnsWhyMaker *maker, const LnsPart *part);

/* As lns_thread_facts_walk (), with ranges, but without the times that the report leaves out by intent: they are
 * added to the ledger. */
bool _lns_why_walk (LnsWhyMaker *maker,
                    uint32_t thread,
                    int64_t start_ns,
                    int64_t end_ns,
                    LnsDeedFunc take,
                    void *data,
                    LnsError *error);

/* How long the time of LEDGER is that the verdict is about, and how much of it nobody knows; neither has what the report leaves out by
 * intent. */
int64_t _lns_why_judged_ns (const LnsWhy *why, const LnsLedger *ledger);
int64_t _lns_why_unknown_ns (const LnsLedger *ledger);

/* Adds a stretch in which the GPU, or the thread, was busy. */
void _lns_why_add_busy (LnsWhyMaker *maker, int64_t start_ns, int64_t end_ns);

/* Says that the time of SPAN accuses nobody. REASON is printf's format. */
void _lns_why_abstain (LnsWhyMaker *maker,
                       const LnsSpan *span,
                       const char *advice,
                       const char *reason,
                       ...) __attribute__ ((format (printf, 4, 5)));

/* Adds NS for NAME to VOTE. */
void _lns_why_vote (LnsVote *vote, uint32_t name, int64_t ns);

/* device-ledger.c: a ledger for WORK. */
bool _lns_why_device (LnsWhyMaker *maker, const LnsDeviceWork *work, LnsError *error);

/* The cause of time in a call of CLASS of the OS or MPI, and of time in which a thread was blocked in no call. */
LnsCause _lns_why_cause_of_call (LnsCallClass class);
LnsCause _lns_why_cause_of_block (const LnsDeed *deed);

/* The cause of time in overhead of KIND, a CUpti_ActivityOverheadKind. */
LnsCause _lns_why_cause_of_overhead (uint32_t kind);

/* thread-ledger.c: a ledger for the thread that the program waits for, if one can be told, and its steps: ranges called
 * STEP_RANGE, if that is not NULL. */
bool _lns_why_thread (LnsWhyMaker *maker,
                      const LnsFilterSpan *span,
                      const char *step_range,
                      LnsError *error);

/* waits.c: fills in whom the thread of FINDING waited for, or the function that it was in, from GROUP. */
bool _lns_why_follow (LnsWhyMaker *maker,
                      const LnsGroup *group,
                      LnsWhyFinding *finding,
                      LnsError *error);

/* waits.c: fills in what the accused thread of FINDING did for most of its evidence, a part of cause PART alone. */
bool _lns_why_find_deed (LnsWhyMaker *maker, LnsWhyFinding *finding, LnsError *error);

/* ledger.c: notes what NS of the event from START_NS to END_NS are lost, in COSTS, if whoever asks keeps parts. */
void _lns_why_note_cost (
    const LnsWhyMaker *maker, LnsWhyCosts *costs, int64_t start_ns, int64_t end_ns, int64_t ns);

/* ledger.c: has FINDING, the last one, have COSTS, in order, as far as its time goes; and clears COSTS. */
void _lns_why_give_costs (LnsWhyMaker *maker, LnsWhyFinding *finding, LnsWhyCosts *costs);

/* waits.c: fills in the call that launched the longest operation of FINDING, its thread and its range. */
bool _lns_why_find_launch (LnsWhyMaker *maker, LnsWhyFinding *finding, LnsError *error);

/* rivals.c: fills in who had the CPU while the thread of GROUP could have run. */
bool _lns_why_find_rivals (LnsWhyMaker *maker,
                           const LnsGroup *group,
                           LnsWhyFinding *finding,
                           LnsError *error);

/* rivals.c: sets RET_LACKS to whether the thread of PART, which had no reason to wait any more when that begins, lacked a CPU: the one
 * on which it then ran was taken by others until then. PART then ends there, and has the event of scheduling. */
bool _lns_why_lacks_cpu (LnsWhyMaker *maker, LnsPart *part, bool *ret_lacks, LnsError *error);

/* waits.c: what THREAD did for most of the N stretches at PARTS. */
bool _lns_why_find_occupation (LnsWhyMaker *maker,
                               uint32_t thread,
                               const LnsPart *parts,
                               unsigned n,
                               LnsOccupation *ret_occupation,
                               LnsError *error);

/* function.c: fills in the function of THREAD, and its caller, that most of its samples in SPAN were in the kernel for just before the
 * thread waited for a disk: no sample is taken while it waits. Leaves OCCUPATION alone where they are few or differ. */
bool _lns_why_find_asker (LnsWhyMaker *maker,
                          uint32_t thread,
                          const LnsSpan *span,
                          LnsOccupation *occupation,
                          LnsError *error);

/* function.c: fills in the function in which THREAD was for most of the N stretches at PARTS, and its caller: of Python where that
 * was sampled, else of native code, unless only one OF_PYTHON is wanted, of a thread that waits. RAN: samples count in which the
 * thread ran. */
bool _lns_why_find_function (LnsWhyMaker *maker,
                             uint32_t thread,
                             const LnsPart *parts,
                             unsigned n,
                             bool of_python,
                             bool ran,
                             LnsOccupation *occupation,
                             LnsError *error);

/* function.c: the name of the module of Python whose source is PATH, "torch.optim" for …/site-packages/torch/optim/__init__.py; cut to
 * SIZE - 1 bytes. */
void _lns_why_python_module (const char *path, char *ret_module, size_t size);

/* collectives.c: what GPUs lose in collectives to the one that comes last. */
bool _lns_why_collectives (LnsWhyMaker *maker, const LnsDeviceWorks *works, LnsError *error);

/* slow-clocks.c: what kernels lose while something holds clocks down. */
bool _lns_why_clocks (LnsWhyMaker *maker, const LnsDeviceWorks *works, LnsError *error);

/* steps.c: finds the steps of THREAD within SPAN, which fill WORK, and says which were slow and by what. RANGE is what they are
 * called, or NULL: that is found, too. */
bool _lns_why_find_steps (LnsWhyMaker *maker,
                          uint32_t thread,
                          const LnsFilterSpan *span,
                          const LnsSpan *work,
                          const char *range,
                          LnsError *error);

/* The same: WORK is that of the first ledger's GPU, or NULL. */
bool _lns_why_judge_steps (LnsWhyMaker *maker, const LnsDeviceWork *work, LnsError *error);

/* step-work.c: adds to OWN_NS, for each step, how long the GPU took over what was launched in it. RET_KNOWN gets whether that was
 * found out: not where calls are missing, or too many. O(operations). */
bool _lns_why_step_work (LnsWhyMaker *maker,
                         const LnsDeviceWork *work,
                         int64_t *own_ns,
                         bool *ret_known,
                         LnsError *error);

/* step-work.c: fills in the kernels of WORK that made the slow steps of FINDING slow: those that have far more time in them than in
 * a typical one. */
bool _lns_why_find_slow_kernels (LnsWhyMaker *maker,
                                 const LnsDeviceWork *work,
                                 LnsWhyFinding *finding,
                                 LnsError *error);

/* kernel-steps.c: finds the steps of WORK, which THREAD launches, by the names of its kernels. Leaves the steps empty where the
 * names do not repeat. O(kernels), in bounded memory. */
bool _lns_why_find_kernel_steps (LnsWhyMaker *maker,
                                 const LnsDeviceWork *work,
                                 uint32_t thread,
                                 LnsError *error);

/* busy-findings.c: what is slow while a GPU is busy. */
bool _lns_why_busy (LnsWhyMaker *maker, const LnsDeviceWorks *works, LnsError *error);

/* Adds a finding of CAUSE about the ledger LEDGER. */
LnsWhyFinding *_lns_why_add_finding (
    LnsWhyMaker *maker, LnsCause cause, size_t ledger, int64_t ns, uint64_t count);

#define LNS_WHY_NS_SIZE 24

/* NS for a sentence: "353 ms", "0.71 s", "18.4 ms": three digits. Returns RET_TEXT. */
const char *_lns_why_ns (int64_t ns, char ret_text[LNS_WHY_NS_SIZE]);

/* sentences.c: the string ID, shortened as in a sentence. To be freed. */
char *_lns_why_name (LnsReport *report, uint32_t id);

/* write.c: what follows a forecast of between LOW_NS and HIGH_NS, of a run that took RUN_NS: that it lies within what runs differ by, or "".
 * Static. */
const char *_lns_why_unseen (int64_t run_ns, int64_t low_ns, int64_t high_ns);

/* order.c: puts the verdict's finding first, and the others by what they cost; but the reason of slow steps before these, and how the
 * program began and ended last where the verdict is on what was between. */
void _lns_why_sort_findings (LnsWhy *why);

/* From this share of a span on a finding is worth a verdict. */
#define LNS_WHY_WORTH 0.03

/* The finding that the verdict is about, or NULL: the first that says what is wrong, if it weighs enough. */
const LnsWhyFinding *_lns_why_main (const LnsWhy *why);

/* Whether SLOW, about slow steps, is most of what FINDING tells with more words. */
bool _lns_why_is_told_by (const LnsWhyFinding *slow, const LnsWhyFinding *finding);

/* The time of LEDGER from its first to its last work. */
LnsSpan _lns_why_work_span (const LnsLedger *ledger);

/* The first finding of the first finding's ledger that is about neither start nor end, and says what is wrong; or NULL. */
const LnsWhyFinding *_lns_why_in_work (const LnsWhy *why);

/* Whether CAUSE says what is wrong, rather than that nothing is known. */
bool _lns_why_accuses (LnsCause cause);

/* What FINDING is about, shortly: "fetch > sem_wait, woken by loader (decode)". To be freed. */
char *_lns_why_subject_of (LnsTables *tables, const LnsWhyFinding *finding);

/* sentences.c: fills in the sentences of findings, the verdict and what to do. */
void _lns_why_write_sentences (LnsTables *tables, LnsWhy *why, bool in_language);
