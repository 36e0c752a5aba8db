/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The functions of NVML, found in libnvidia-ml.so.1. */

#pragma once

#include <stddef.h>

#include "capture/sampler/nvml-abi.h"

/* A function that this version of NVML lacks answers LNS_NVML_FUNCTION_NOT_FOUND. */
typedef struct
{
#define LNS_NVML_MEMBER(name, ...) int (*name) (__VA_ARGS__);
  LNS_NVML_FUNCTIONS (LNS_NVML_MEMBER)
#undef LNS_NVML_MEMBER
} LnsNvml;

extern LnsNvml lns_nvml;

/* Loads the library. Returns NULL, or the loader's words for what failed, which are valid until the next call. */
const char *lns_nvml_load (void);

/* NVML's words for RESULT. */
const char *lns_nvml_text (int result);
