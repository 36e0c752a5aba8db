/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The chunks that wait for a commit, in order. They stay until a commit has succeeded, so that a failed one can be
 * repeated. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/array.h"
#include "src/base/buffer.h"
#include "src/store/format/chunk-format.h"

typedef struct
{
  LnsChunkHeader header;
  int64_t end_ns;
  LnsBuffer blob; /* owned */
} LnsWriterRow;

/* Zero it before use. */
typedef struct
{
  LNS_ARRAY (LnsWriterRow) list;
  size_t n_inserted; /* in the transaction that is open */
  size_t bytes;      /* of the blobs */
  bool failed;       /* memory ran out: rows are missing, so nothing may be committed */
} LnsWriterRows;

/* Appends a row. Takes over the contents of BLOB. */
void _lns_writer_rows_add (LnsWriterRows *rows,
                           const LnsChunkHeader *header,
                           int64_t end_ns,
                           LnsBuffer *blob);

/* Drops the rows of KIND. Readers see strings whose chunks are missing as "". */
void _lns_writer_rows_drop (LnsWriterRows *rows, LnsChunkKind kind);

/* Drops all rows after a commit. Keeps the memory of the list for the next ones. */
void _lns_writer_rows_reset (LnsWriterRows *rows);

void _lns_writer_rows_clear (LnsWriterRows *rows);
