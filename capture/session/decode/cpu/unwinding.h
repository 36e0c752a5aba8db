/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Unwinds stacks of a process through what it has mapped. */

#pragma once

#include "capture/session/decode/cpu/map.h"
#include "src/base/array.h"
#include "src/symbols/unwinder.h"

/* The code of a process, as the unwinder wants it. */
typedef LNS_ARRAY (LnsUnwindMap) LnsUnwindMaps;

/* UNWINDER's number of the file at PATH, as PID sees it; BUILD_ID may have 0 bytes. */
uint32_t _lns_unwinding_add_file (LnsUnwinder *unwinder,
                                  int32_t pid,
                                  const char *path,
                                  const LnsBuildId *build_id);

/* Puts MAP, of PID, into MAPS. Adds the files of modules that have no number yet to UNWINDER. */
void
_lns_unwinding_list (LnsUnwinder *unwinder, int32_t pid, const LnsCpuMap *map, LnsUnwindMaps *maps);

/* Puts the addresses of the calls of a thread into RET_CHAIN, the leaf first, and returns how many there are: 1 to MOST.
 * Each but the first is a return address: where a signal interrupted a function, the address behind its instruction.
 * RET_END tells whether there are more. */
size_t _lns_unwinding_chain (LnsUnwinder *unwinder,
                             const LnsRegisters *registers,
                             const LnsStackCopy *stack,
                             const LnsUnwindMaps *maps,
                             uint64_t *ret_chain,
                             size_t most,
                             LnsUnwindEnd *ret_end);
