/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writing to a terminal what may hold anything: all but newlines and tabs is shown as visible.h has it. */

#pragma once

#include <stddef.h>
#include <stdio.h>

typedef struct
{
  int fd;          /* borrowed                                                                   */
  char pending[3]; /* a character's beginning, whose end has not come                            */
  size_t n_pending;
} LnsTerminal;

/* Writes SIZE BYTES, of which a character may be cut off that the next call goes on with. Returns 0 or an
 * errno value. O(size). */
int lns_terminal_write (LnsTerminal *terminal, const char *bytes, size_t size);

/* A stream to FD, which is borrowed, that writes so. NULL without memory. */
FILE *lns_terminal_stream (int fd);
