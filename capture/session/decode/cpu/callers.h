/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Call chains that the program itself finds, of calls of CUDA and the C library. They are nodes of the same tree as those of samples. Their
 * addresses lie in code that the kernel told of, if CPUs are sampled. Where it did not, the program's mappings are read,
 * and the program tells of them itself at its end. */

#pragma once

#include "capture/session/decode/core/source.h"
#include "capture/session/decode/cpu/chains.h"
#include "capture/session/decode/cpu/unwinding.h"

/* How well the code of a process is known. */
typedef struct
{
  uint32_t n_changes; /* of the map, so that a chain is looked up again after each */
  int64_t read_ns;    /* CLOCK_MONOTONIC, when it was last read; 0: never */
  int64_t next_ns;    /* it is not read again before … */
  uint8_t generation; /* … unless the program says that code was unmapped since this one */
  LnsUnwindMaps maps;
  uint32_t n_listed; /* 1 + `n_changes` when `maps` was listed */
  LnsPythonFunctions python;
} LnsCpuCode;

/* Plays a LNS_WIRE_CALL_CHAIN of a process whose code is CODE, in MAP. UNWINDER finds the callers of code without frame
 * pointers. */
void _lns_callers_play (LnsDecoder *decoder,
                        LnsStream *stream,
                        const LnsWireRecord *record,
                        LnsCpuTree *tree,
                        LnsUnwinder *unwinder,
                        LnsCpuMap *map,
                        LnsCpuCode *code);

/* Takes the code that RECORD, a LNS_WIRE_CODE or LNS_WIRE_PYTHON_CODE, tells of. */
void _lns_callers_define (LnsDecoder *decoder,
                          const LnsDecodedProcess *process,
                          const LnsWireRecord *record,
                          LnsCpuMap *map,
                          LnsCpuCode *code);

void _lns_callers_clear (LnsCpuCode *code);

/* Forgets the chains of STREAM. */
void _lns_callers_forget (LnsStream *stream);
