/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Call chains of samples that come with the thread's registers and a copy of the top of its stack: found by the unwind
 * tables of what each process has mapped (src/symbols/unwinder.h). Processes are told apart by their pid. Files are read
 * when a sample first needs them. Used by one thread. */

#pragma once

#include "capture/session/decode/cpu/map.h"
#include "src/symbols/unwinder.h"

typedef struct LnsStacks LnsStacks;

/* What tells a file from others: MMAP2's build-id, or device and inode. */
#define LNS_FILE_IDENTITY_BYTES 24

/* For threads of MACHINE. */
LnsStacks *lns_stacks_new (const LnsMachine *machine) __attribute__ ((warn_unused_result));
void lns_stacks_free (LnsStacks *stacks); /* accepts NULL */

/* Notes that PID mapped MAPPING's file, which has IDENTITY. */
void lns_stacks_map (LnsStacks *stacks,
                     int32_t pid,
                     const LnsCpuMapping *mapping,
                     const uint8_t identity[static LNS_FILE_IDENTITY_BYTES]);

/* Notes that PARENT_PID forked PID, which has its mappings. */
void lns_stacks_fork (LnsStacks *stacks, int32_t pid, int32_t parent_pid);

/* Notes that PID ended, or runs another program: it has no mappings. */
void lns_stacks_end (LnsStacks *stacks, int32_t pid);

/* Puts the addresses of the calls of a thread of PID into RET_CHAIN, the leaf first, and returns how many there are: 1 to
 * MOST. Each but the first is a return address. The last may be LNS_CPU_CUT. BY_FRAME_POINTERS are the N addresses that
 * the kernel found: they continue the chain where the copy of the stack ends. */
size_t lns_stacks_unwind (LnsStacks *stacks,
                          int32_t pid,
                          const LnsRegisters *registers,
                          const LnsStackCopy *stack,
                          const uint64_t *by_frame_pointers,
                          size_t n,
                          uint64_t *ret_chain,
                          size_t most);
