/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What this machine lets Lanescope record. All of it is tried out, by the same functions as in a recording. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "capture/session/system/cupti.h"

/* Prints whether each kind of data can be recorded, by which switch, and why not: a table, or an array of JSON. Takes as long as
 * NVIDIA's driver needs to start. */
void lns_status_print_data (bool is_json);

/* Prints the facts of the machine that matter: lines "name: value", or an array of JSON. */
void lns_status_print_machine (bool is_json);

/* NVIDIA's driver, and the copies of CUPTI that a program which is started here finds, in the order in which it tries them. */
typedef struct
{
  char version[256]; /* as the kernel's module tells it; "": none is loaded, or it does not tell */
  bool is_loaded;
  int cuda; /* 13000 is CUDA 13.0; 0: not known */
  size_t n_copies;
  LnsCuptiCopy copies[LNS_CUPTI_COPIES_MAX];
} LnsStatusCuda;

void lns_status_find_cuda (LnsStatusCuda *ret_cuda);

/* The kind of container that this process runs in; NULL: none is seen. */
const char *lns_status_container (void);
