/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Blocks of kept rows in a recovery: strings of the file that hold ids of other strings, which come before
 * them and so have their new ids already. */

#include <stdlib.h>

#include "src/store/format/kept-codec.h"
#include "src/store/recover/recover-private.h"

static int
compare_ids (const void *a, const void *b)
{
  uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
  return ia < ib ? -1 : ia > ib;
}

bool
_lns_recover_find_blocks (LnsRecover *recover)
{
  const LnsRecoveredTable *rows = &recover->tables[LNS_DEFINITION_KEPT_ROWS];
  const LnsRecoveredTable *tables = &recover->tables[LNS_DEFINITION_KEPT_TABLE];

  recover->blocks = calloc ((size_t)rows->n + tables->n + 1, sizeof *recover->blocks);
  if (recover->blocks == NULL)
    return _lns_recover_no_memory (recover);
  for (uint32_t i = 0; i < rows->n; i++)
    recover->blocks[recover->n_blocks++] = rows->definitions[i].kept_rows.rows;
  for (uint32_t i = 0; i < tables->n; i++)
    recover->blocks[recover->n_blocks++] = tables->definitions[i].kept_table.columns;
  qsort (recover->blocks, recover->n_blocks, sizeof *recover->blocks, compare_ids);
  return true;
}

bool
_lns_recover_is_block (const LnsRecover *recover, uint32_t old_id)
{
  return bsearch (&old_id, recover->blocks, recover->n_blocks, sizeof *recover->blocks,
                  compare_ids) != NULL;
}

uint32_t
_lns_recover_write_block (LnsRecover *recover, const uint8_t *bytes, size_t size_bytes)
{
  uint32_t n_rows, n_columns, id = 0;
  LnsKeptValue *values = lns_kept_decode ((const char *)bytes, size_bytes, &n_rows, &n_columns);
  LnsBuffer block = { 0 };

  if (values == NULL)
    return 0;
  for (size_t i = 0; i < (size_t)n_rows * n_columns; i++)
    if (values[i].type == LNS_KEPT_STRING)
      values[i].integer =
          _lns_recover_string (recover, (uint32_t)values[i].integer, recover->lost_name);
  lns_kept_encode (&block, values, n_rows, n_columns);
  if (!block.failed)
    id = lns_writer_bytes (recover->writer, block.bytes, block.size_bytes);
  lns_buffer_clear (&block);
  free (values);
  return id;
}
