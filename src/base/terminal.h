/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes text of any origin to a terminal: visible.h decides what is shown for control characters other than newlines and
 * tabs. */

#pragma once

#include <stddef.h>
#include <stdio.h>

typedef struct
{
  int fd;          /* borrowed                                                                   */
  char pending[3]; /* a character's beginning, whose end has not come                            */
  size_t n_pending;
} LnsTerminal;

/* Writes all SIZE BYTES to FD as they are. Returns 0 or an errno value. */
int lns_write_all (int fd, const void *bytes, size_t size);

/* Writes SIZE BYTES. They may end within a character; the next call goes on with it. Returns 0 or an errno value.
 * O(size). */
int lns_terminal_write (LnsTerminal *terminal, const char *bytes, size_t size);

/* A stream that writes to FD in this way. FD is borrowed. */
FILE *lns_terminal_stream (int fd) __attribute__ ((returns_nonnull));
