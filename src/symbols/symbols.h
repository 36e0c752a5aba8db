/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names of a program's code: functions, inlined calls and source lines of addresses within its modules.
 *
 *   LnsSymbols *symbols = lns_symbols_new (&options);
 *   if (!lns_symbols_look_up (symbols, &module, offsets, n, on_frames, context, &error)) …
 *   lns_symbols_free (symbols);
 *
 * Look all addresses of a module up at once: its tables are read for each call, in a process of its own (name-worker.h), so
 * a damaged or hostile file costs that module its names and nothing else. What no name is found for is called
 * "module+0x1234". README.md says what is kept for the next run. */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/symbols/elf-image.h"
#include "src/symbols/symbol-frame.h"

typedef struct
{
  const char *const
      *folders; /* with separate debug files, searched before /usr/lib/debug; copied */
  size_t n_folders;
  bool
      uses_debuginfod; /* ask the servers in DEBUGINFOD_URLS, if it is set; may wait for the network */
  const atomic_bool *
      stop; /* ends a call when it becomes true; another thread or a signal handler sets it. May be NULL */
  unsigned most_seconds; /* of processor time for the debug information of one module; 0: 60 */
  const char *
      cache_folder; /* in which names are kept for the next time, with a slash at its end; NULL: none. Copied */
} LnsSymbolsOptions;

typedef enum
{
  LNS_SYMBOL_MODULE_ELF, /* a program or a library; "[vdso]" is that of this machine */
  LNS_SYMBOL_MODULE_PERF_MAP, /* code that a just-in-time compiler lists in a perf map: /tmp/perf-PID.map */
  LNS_SYMBOL_MODULE_JITDUMP, /* the same in a jitdump file */
  LNS_SYMBOL_MODULE_KERNEL   /* the kernel: its list of functions, which needs privileges */
} LnsSymbolModuleKind;

typedef struct
{
  LnsSymbolModuleKind kind;
  const char *
      path; /* of the file, as the recorded process had mapped it, or of the map. Not used for the kernel */
  LnsBuildId
      build_id; /* of the file: one with another build-id is not used. Of 0 bytes: whatever is there now. For
                          the kernel: the boot's id (lns_symbols_boot_id()), because its addresses change with each boot */
} LnsSymbolModule;

typedef struct LnsSymbols LnsSymbols;

/* NULL means the defaults: no folders, no debuginfod. */
LnsSymbols *lns_symbols_new (const LnsSymbolsOptions *options) __attribute__ ((warn_unused_result));
void lns_symbols_free (LnsSymbols *symbols); /* NULL is fine */

/* Names the N addresses of MODULE: offsets in its file of an ELF module, addresses in the process for the others. They
 * may be in any order; ascending ones are faster. The caller of a frame is found at its return address less 1. FUNC is
 * called once for each of the addresses, in any order, in this thread. False with ERROR if *stop became true
 * (LNS_ERROR_CANCELLED) or no process can be started (LNS_ERROR_IO); FUNC may have been called for some of them then.
 * Different threads may use the same SYMBOLS at a time. O(n log n), and reading the module's tables. */
bool lns_symbols_look_up (const LnsSymbols *symbols,
                          const LnsSymbolModule *module,
                          const uint64_t *offsets,
                          size_t n,
                          LnsSymbolsFunc func,
                          void *context,
                          LnsError *error) __attribute__ ((warn_unused_result));

/* The id of this boot of the kernel; of 0 bytes if it is not known. */
LnsBuildId lns_symbols_boot_id (void);
