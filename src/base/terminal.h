/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes untrusted text to a terminal: replaces control characters other than newlines and tabs as visible.h does. */

#pragma once

#include <stddef.h>
#include <stdio.h>

typedef struct
{
  int fd;          /* borrowed */
  char pending[3]; /* the beginning of a character that is not complete yet */
  size_t n_pending;
} LnsTerminal;

/* Writes all SIZE BYTES to FD as they are. Returns 0 or an errno value. */
int lns_write_all (int fd, const void *bytes, size_t size);

/* Writes SIZE BYTES. They may end within a character, which the next call completes. Returns 0 or an errno value.
 * O(size). */
int lns_terminal_write (LnsTerminal *terminal, const char *bytes, size_t size);

/* A stream that writes to TERMINAL in this way. TERMINAL must outlive it. */
FILE *lns_terminal_stream (LnsTerminal *terminal) __attribute__ ((returns_nonnull));
