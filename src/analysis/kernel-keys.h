/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Keys by which kernels are summed up: their name, and the shape of their launch. An event has its kernel's name, its
 * launch has the shape. Kernels of different names may share one launch, because launches from files without mangled names
 * may be equal. */

#pragma once

#include "src/base/array.h"
#include "src/base/id-map.h"
#include "src/store/read/report.h"

/* Which of its names identifies a kernel. */
typedef enum
{
  LNS_KERNEL_NAME, /* with template arguments and parameters                                     */
  LNS_KERNEL_SHORT_NAME,
  LNS_KERNEL_MANGLED_NAME,
} LnsKernelName;

/* The string id of the name that NAMING asks for of an event of REPORT called NAME (a string id) with the launch LAUNCH;
 * NAME itself where the launch has none of that kind. O(1). */
uint32_t
lns_kernel_name (const LnsReport *report, LnsKernelName naming, uint32_t name, uint64_t launch);

/* Kernels of one name and one launch. */
typedef struct
{
  uint32_t name, launch; /* of the events: a string id, and a LnsCudaLaunch id                   */
  uint32_t shown;        /* string id of what they are called                                   */
  uint32_t key;          /* index of the first kind that is summed up with this one             */
  uint64_t n;            /* events                                                              */
} LnsKernelKind;

/* To be cleared; an empty one is { 0 }. */
typedef struct
{
  LNS_ARRAY (LnsKernelKind) kinds; /* by launch, then by name */
  LnsIdMap by_both;                /* index + 1 by name and launch */
  uint32_t *by_launch; /* index + 1 of a kind of each of the report's launches, or 0            */
  uint32_t n_launches;
  uint64_t n_unnamed; /* events without a name of the kind that was asked for                   */
} LnsKernelKeys;

/* Reads all kernels of REPORT and gives those one key that NAMING calls alike and that, BY_SHAPE, have one
 * grid and block. CANCEL may be NULL. False and ERROR where a chunk is damaged, or cancelled. O(kernels), in memory
 * that grows with kinds. */
bool lns_kernel_keys_init (LnsKernelKeys *keys,
                           LnsReport *report,
                           LnsKernelName naming,
                           bool by_shape,
                           const atomic_bool *cancel,
                           LnsError *error);
void lns_kernel_keys_clear (LnsKernelKeys *keys);

/* The key of a kernel of the report: an index of `kinds`. Any thread. O(1). */
uint32_t lns_kernel_keys_find (const LnsKernelKeys *keys, uint32_t name, uint64_t launch);
