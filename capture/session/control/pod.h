/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the injector of data/kubernetes has written into the environment of a container: capture/wire/pod.h. */

#pragma once

#include <stdint.h>

typedef struct
{
  char *switches;   /* as in a shell, the word profile first; NULL: the container has none */
  char *executable; /* the file of the program that became this process; NULL: none did */
  uint64_t report_max_bytes; /* 0: any number */
} LnsPod;

/* Takes the variables out of the environment of this process, and the library of the pod out of LD_PRELOAD, so that what it
 * starts is what it would be without them. Free the parts of RET_POD. Not while other threads run. */
void lns_pod_take (LnsPod *ret_pod);
