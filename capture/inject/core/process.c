/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/process.h"

/* In a section of its own: with its alignment, it would have the rest lie on a page of its own too, and a fork's
 * child gets a copy of each page that it writes to. */
LnsOwnPage lns_own __attribute__ ((section (".bss.own")));
LnsProcessState lns_process;
