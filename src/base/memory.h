/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Memory for code that cannot continue without it: analysis, import, export, the command line, the start of a session, and
 * the viewer. If memory runs out, these functions print an error once and end the process with exit code 125.
 *
 * Two places use malloc() and handle NULL instead: those that record a program (capture), and those that write, recover or
 * open a report (src/store), because recorded events must still reach the file.
 *
 * All memory is freed with free(). Any thread may call these functions. */

#pragma once

#include <stddef.h>
#include <stdio.h>

/* Prints that memory ran out and ends the process. */
_Noreturn void lns_out_of_memory (void);

/* N items of SIZE_BYTES each, all zero. Never NULL, even if N is 0. */
void *lns_calloc (size_t n, size_t size_bytes)
    __attribute__ ((malloc, returns_nonnull, alloc_size (1, 2), warn_unused_result));

/* ITEMS (or NULL), resized to N items of SIZE_BYTES each. New bytes are undefined. Never NULL, even if N is 0. */
void *lns_realloc (void *items, size_t n, size_t size_bytes)
    __attribute__ ((returns_nonnull, alloc_size (2, 3), warn_unused_result));

/* A copy of TEXT. */
char *lns_strdup (const char *text) __attribute__ ((malloc, returns_nonnull, warn_unused_result));

/* A copy of the SIZE_BYTES at BYTES, with a NUL after them. */
void *lns_memdup (const void *bytes, size_t size_bytes)
    __attribute__ ((malloc, returns_nonnull, warn_unused_result));

/* The text that FORMAT gives. */
char *lns_asprintf (const char *format, ...)
    __attribute__ ((malloc, returns_nonnull, warn_unused_result, format (printf, 1, 2)));

/* A stream whose bytes become *RET_TEXT, *RET_N_BYTES of them and a NUL. lns_memory_stream_end() closes it and completes
 * both. Never NULL. */
FILE *lns_memory_stream (char **ret_text, size_t *ret_n_bytes)
    __attribute__ ((returns_nonnull, warn_unused_result));
void lns_memory_stream_end (FILE *stream);
