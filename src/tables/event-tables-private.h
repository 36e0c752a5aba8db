/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tables whose columns say by LnsCell what they are made of. */

#pragma once

#include "src/tables/table.h"

#define LNS_N_CUDA_TABLES   25
#define LNS_N_SYSTEM_TABLES 8

extern const LnsTable _lns_cuda_tables[LNS_N_CUDA_TABLES];
extern const LnsTable _lns_system_tables[LNS_N_SYSTEM_TABLES];
