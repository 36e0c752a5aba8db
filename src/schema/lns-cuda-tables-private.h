/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tables about CUDA, for lns-table.c. */

#pragma once

#include "src/schema/lns-table.h"

#define LNS_N_CUDA_TABLES 25

extern const LnsTable _lns_cuda_tables[LNS_N_CUDA_TABLES];
