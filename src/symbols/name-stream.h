/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names on their way from the process that reads a program's files to the one that wants them. The reader trusts nothing:
 * hostile files may have taken the writer over. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/symbols/symbol-frame.h"

/* --- Writing ------------------------------------------------------------------------------------- */

typedef struct LnsNameWriter LnsNameWriter;

/* Writes to FD, which the caller keeps. It never fails: if nobody reads, the process ends by SIGPIPE. */
LnsNameWriter *lns_name_writer_new (int fd) __attribute__ ((warn_unused_result));

/* Writes the N_FRAMES > 0 frames of address number I, whose functions are mangled or plain, and not NULL. */
void lns_name_writer_add (LnsNameWriter *writer,
                          size_t i,
                          const LnsSymbolFrame *frames,
                          size_t n_frames);

/* Writes that all addresses from START to before END have these frames; N_FRAMES may be 0. */
void lns_name_writer_add_span (LnsNameWriter *writer,
                               uint64_t start,
                               uint64_t end,
                               const LnsSymbolFrame *frames,
                               size_t n_frames);

/* Writes that all is done, and frees WRITER. */
void lns_name_writer_end (LnsNameWriter *writer);

/* --- Reading ------------------------------------------------------------------------------------- */

typedef struct LnsNameReader LnsNameReader;

/* Gives what it reads to FUNC: each I below N_ADDRESSES at most once. */
LnsNameReader *lns_name_reader_new (size_t n_addresses, LnsSymbolsFunc func, void *context)
    __attribute__ ((warn_unused_result));
void lns_name_reader_free (LnsNameReader *reader); /* NULL is fine */

/* Gives spans to FUNC, too; without this they are left out. */
typedef void (*LnsNameSpanFunc) (
    void *context, uint64_t start, uint64_t end, const LnsSymbolFrame *frames, size_t n_frames);
void lns_name_reader_take_spans (LnsNameReader *reader, LnsNameSpanFunc func, void *context);

/* Another writer begins: texts are numbered anew. What was read is kept. */
void lns_name_reader_restart (LnsNameReader *reader);

/* Reads once from FD, which may block. False when nothing more comes, or the bytes make no sense. */
bool lns_name_reader_read (LnsNameReader *reader, int fd);

bool
lns_name_reader_is_complete (const LnsNameReader *reader); /* the writer said that all is done */
bool lns_name_reader_has (const LnsNameReader *reader, size_t i);
