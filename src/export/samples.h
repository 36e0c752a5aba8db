/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples of CPUs and their call chains, for the types of other profilers. Reads the lanes of samples one after the other,
 * so that memory is bounded for a report of any size. Where CPUs were not sampled, these are the samples of Python's
 * functions. */

#pragma once

#include "src/base/array.h"
#include "src/export/text.h"
#include "src/store/read/call-walk.h"

typedef struct
{
  uint32_t lane;   /* of the thread's samples */
  int64_t time_ns; /* report clock, shifted as the job's options say */
  uint32_t node;   /* the call node that the chain ends with, or LNS_ID_NONE: it has none */
  uint32_t cpu;
  uint64_t cycles; /* since the thread's sample before; 0 = samples come by time */
  bool is_python;  /* found by the interpreter, not by the CPU */
} LnsExportSample;

/* Returns false and fills ERROR to end the walk. */
typedef bool (*LnsExportSampleFunc) (void *data, const LnsExportSample *sample, LnsError *error);

/* Whether the report has samples. O(lanes). */
bool lns_export_has_samples (const LnsReport *report);

/* Whether it has samples of CPUs and of Python, which must not be added up: both see the same threads. O(lanes). */
bool lns_export_has_both (const LnsReport *report);

/* Calls FUNCTION with each sample within the times of the job's options: thread by thread, each in the order of time, first
 * those of CPUs, then those of Python. If there is none, the job's options get the reason. Returns false and fills ERROR if a chunk is damaged or the export was
 * cancelled. O(samples). */
bool lns_export_each_sample (const LnsExportJob *job,
                             LnsExportSampleFunc function,
                             void *data,
                             LnsError *error);

typedef struct
{
  uint64_t n, cycles; /* of the samples whose chains end with the node */
  uint64_t n_python;  /* those of Python, where there are others, which `n` does not have then */
} LnsExportCount;

/* Counts the same samples by call node. The caller frees RET_COUNTS, which has one for each node of the job's code. */
bool lns_export_count_samples (const LnsExportJob *job,
                               LnsExportCount **ret_counts,
                               LnsError *error) __attribute__ ((warn_unused_result));

/* Puts the functions of the chain that ends with NODE into RET_FRAMES, the outermost first: the numbers of their frames.
 * RET_FRAMES grows as needed. */
typedef LNS_ARRAY (uint32_t) LnsExportChain;
void lns_export_chain (const LnsExportCode *code, uint32_t node, LnsExportChain *ret_frames);

/* The address that FRAME had in its process. 0 for code of the kernel: programs that export samples show its functions, and
 * keep its addresses to themselves, which help to attack it. */
uint64_t lns_export_address (const LnsExportCode *code, const LnsStackFrame *frame);

/* The id of the string that names FRAME: its function; until that is known its module and offset, or of the kernel's code
 * only that it is the kernel's. */
uint32_t lns_export_symbol (const LnsExportCode *code, const LnsStackFrame *frame);

/* Puts the SIZE_BYTES at BYTES with "_" for control characters, and for OTHER unless that is 0. */
void lns_export_put_clean (LnsExportText *text, const char *bytes, size_t size_bytes, char other);

/* Puts the text of STRING with "_" for control characters, and for OTHER unless that is 0. */
void lns_export_put_name (LnsExportText *text, uint32_t string, char other);
