/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The functions that the extension module which traces Python functions (capture/python) calls in the injection
 * library. It loads the library by the path in NVTX_INJECTION64_PATH. Any thread may call them. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Looked up in the injection by this name: const LnsPythonHooks *lanescope_python_hooks (void). */
#define LNS_PYTHON_HOOKS     "lanescope_python_hooks"
#define LNS_PYTHON_HOOKS_ABI 1u

/* A function whose calls are ranges. Plain value; also good in a fork's child. */
typedef struct
{
  uint32_t domain;
  uint32_t string;
  uint32_t category; /* 0: none */
  uint32_t color;    /* 0xAARRGGBB; 0: none */
} LnsPythonFunction;

typedef struct
{
  uint32_t abi;
  /* Makes RET_FUNCTION of texts: a DOMAIN or CATEGORY of "" is none. False: this process is in no
   * session that records ranges. */
  bool (*define) (const char *domain,
                  const char *category,
                  uint32_t color,
                  const char *name,
                  LnsPythonFunction *ret_function);
  /* A call begins and ends on this thread. */
  void (*push) (const LnsPythonFunction *function);
  void (*pop) (const LnsPythonFunction *function);
  /* Tells the report TEXT, a sentence of at most 400 bytes. */
  void (*say) (const char *text);
} LnsPythonHooks;
