/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Call chains from a thread's registers and a copy of the top of its stack, through the call frame information of its
 * modules. Where code has none, such as that of a just-in-time compiler, frame pointers are followed. The registers, the
 * stack and the modules' files come from the program and may be hostile: they give a shorter chain, never a read outside
 * the copy or an endless loop. An unwinder may be used by one thread at a time. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/symbols/elf-image.h"
#include "src/symbols/expression.h"
#include "src/symbols/registers.h"

typedef struct LnsUnwinder LnsUnwinder;

#define LNS_UNWIND_NO_FILE UINT32_MAX /* of code that lies in no file */

/* A mapping of code into the process, at the moment of the sample. */
typedef struct
{
  uint64_t start, end;  /* addresses; end > start */
  uint64_t file_offset; /* that start has in the file */
  uint32_t file;        /* from lns_unwinder_add_file(), or LNS_UNWIND_NO_FILE */
} LnsUnwindMap;

typedef enum
{
  LNS_UNWIND_COMPLETE,    /* the chain goes up to the thread's first function */
  LNS_UNWIND_STACK_ENDED, /* the next frame lies above the copy */
  LNS_UNWIND_NO_RULE,     /* nothing says where the caller of the last frame is */
  LNS_UNWIND_LIMIT        /* there are more frames than the caller has room for */
} LnsUnwindEnd;

/* For threads of MACHINE. */
LnsUnwinder *lns_unwinder_new (const LnsMachine *machine) __attribute__ ((warn_unused_result));
void lns_unwinder_free (LnsUnwinder *unwinder); /* NULL is fine */

/* Adds the module at PATH, or the vdso of this machine if PATH is "[vdso]", and returns its number. The file is read when
 * it is first needed, and used only if its build-id is *BUILD_ID; one of 0 bytes accepts any. A file that cannot be used
 * has a number, too. The same path and build-id get the same number. */
uint32_t
lns_unwinder_add_file (LnsUnwinder *unwinder, const char *path, const LnsBuildId *build_id);

/* Unwinds from REGISTERS, whose program counter and stack pointer are known, over STACK, which begins at the stack pointer
 * or below. MAPS are sorted by start and do not overlap. Puts the address of each frame into RET_ADDRESSES, the innermost
 * first, at most MOST > 0 of them, and returns their number, at least 1: the program counter itself. The others are return
 * addresses, except that of a frame that a signal interrupted: *RET_INTERRUPTED (may be NULL) has bit N set if frame
 * N < 64 was, and always bit 0. To name the call of a return address, look the address before it up. O(frames). */
size_t lns_unwinder_unwind (LnsUnwinder *unwinder,
                            const LnsRegisters *registers,
                            const LnsStackCopy *stack,
                            const LnsUnwindMap *maps,
                            size_t n_maps,
                            uint64_t *ret_addresses,
                            size_t most,
                            uint64_t *ret_interrupted,
                            LnsUnwindEnd *ret_end);
