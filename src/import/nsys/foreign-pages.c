/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/foreign-pages.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/import/nsys/foreign-record.h"

/* Offsets in the file's header, and the values that this reader supports. */
#define HEADER_BYTES   100
#define PAGE_SIZE_AT   16
#define WRITE_FORMAT   18
#define READ_FORMAT    19
#define RESERVED_AT    20
#define ENCODING_AT    56
#define FORMAT_JOURNAL 1
#define ENCODING_UTF8  1

#define PAGE_INNER      5
#define PAGE_LEAF       13
#define INNER_HEAD      12
#define LEAF_HEAD       8
#define MIN_USABLE      480
#define ROW_BYTES_LIMIT ((uint64_t)LNS_FOREIGN_VALUE_BYTES)

static uint32_t
be16 (const uint8_t *bytes)
{
  return (uint32_t)bytes[0] << 8 | bytes[1];
}

static uint32_t
be32 (const uint8_t *bytes)
{
  return be16 (bytes) << 16 | be16 (bytes + 2);
}

static int
read_page (LnsForeignPages *pages, uint64_t number, uint8_t *bytes)
{
  /* A tree has each page once, but the pointers of a damaged one may form a circle. */
  if (number < 2 || number > pages->n_pages || pages->n_read++ > pages->n_pages)
    return SQLITE_CORRUPT;
  return pages->file->pMethods->xRead (pages->file, bytes, (int)pages->page_bytes,
                                       (sqlite3_int64)((number - 1) * pages->page_bytes));
}

/* Enters page NUMBER, a child of the page at hand. */
static int
enter_page (LnsForeignPages *pages, uint64_t number)
{
  if (pages->n_levels == LNS_PAGES_LEVELS_MAX)
    return SQLITE_CORRUPT;
  LnsForeignPage *page = &pages->levels[pages->n_levels];
  if (page->bytes == NULL)
    page->bytes = lns_calloc (1, pages->page_bytes);
  int code = read_page (pages, number, page->bytes);
  if (code != SQLITE_OK)
    return code;
  page->is_leaf = page->bytes[0] == PAGE_LEAF;
  page->n_cells = be16 (page->bytes + 3);
  page->next = 0;
  if ((!page->is_leaf && page->bytes[0] != PAGE_INNER) ||
      (page->is_leaf ? LEAF_HEAD : INNER_HEAD) + 2 * page->n_cells > pages->usable_bytes)
    return SQLITE_CORRUPT;
  pages->n_levels++;
  return SQLITE_OK;
}

/* Returns the next cell of PAGE, or NULL if its offset is not on the page. */
static const uint8_t *
next_cell (const LnsForeignPages *pages, LnsForeignPage *page)
{
  const unsigned head = page->is_leaf ? LEAF_HEAD : INNER_HEAD,
                 at = be16 (page->bytes + head + 2 * page->next++);

  return at >= head + 2 * page->n_cells && at + 4 <= pages->usable_bytes ? page->bytes + at : NULL;
}

/* Joins the pieces of a row of SIZE_BYTES. The first N_HERE are at HERE, followed by the number of the page with the
 * next piece. */
static int
gather (LnsForeignPages *pages, const uint8_t *here, size_t n_here, uint64_t size_bytes)
{
  uint32_t number = be32 (here + n_here);

  lns_buffer_reset (&pages->whole);
  lns_buffer_append (&pages->whole, here, n_here);
  while (pages->whole.size_bytes < size_bytes)
    {
      const uint64_t left = size_bytes - pages->whole.size_bytes,
                     n = left < pages->usable_bytes - 4 ? left : pages->usable_bytes - 4;
      uint8_t *to = lns_buffer_reserve (&pages->whole, pages->page_bytes);
      if (to == NULL)
        lns_out_of_memory ();
      int code = read_page (pages, number, to);
      if (code != SQLITE_OK)
        return code;
      number = be32 (to);
      memmove (to, to + 4, n);
      pages->whole.size_bytes += n;
    }
  return SQLITE_OK;
}

static int
read_row (LnsForeignPages *pages, LnsForeignPage *page, LnsForeignRow *row)
{
  const uint8_t *at = next_cell (pages, page), *end = page->bytes + pages->usable_bytes;
  const uint64_t usable = pages->usable_bytes, most = usable - 35,
                 least = (usable - 12) * 32 / 255 - 23;
  uint64_t size_bytes, rowid;

  if (at == NULL || !_lns_record_varint (&at, end, &size_bytes) ||
      !_lns_record_varint (&at, end, &rowid) || size_bytes > ROW_BYTES_LIMIT)
    return SQLITE_CORRUPT;
  *row = (LnsForeignRow){ (int64_t)rowid, at, size_bytes };
  if (size_bytes <= most)
    return size_bytes <= (uint64_t)(end - at) ? SQLITE_ROW : SQLITE_CORRUPT;
  uint64_t here = least + (size_bytes - least) % (usable - 4);
  here = here <= most ? here : least;
  if (here + 4 > (uint64_t)(end - at))
    return SQLITE_CORRUPT;
  int code = gather (pages, at, here, size_bytes);
  row->record = pages->whole.bytes;
  return code == SQLITE_OK ? SQLITE_ROW : code;
}

bool
_lns_foreign_pages_begin (LnsForeignPages *pages, LnsForeign *foreign, const LnsForeignTable *table)
{
  uint8_t header[HEADER_BYTES];
  sqlite3_int64 file_bytes;

  *pages = (LnsForeignPages){ 0 };
  if (!table->is_plain ||
      sqlite3_file_control (foreign->db, "main", SQLITE_FCNTL_FILE_POINTER, &pages->file) !=
          SQLITE_OK ||
      pages->file == NULL || pages->file->pMethods == NULL ||
      pages->file->pMethods->xFileSize (pages->file, &file_bytes) != SQLITE_OK ||
      pages->file->pMethods->xRead (pages->file, header, sizeof header, 0) != SQLITE_OK ||
      header[WRITE_FORMAT] != FORMAT_JOURNAL || header[READ_FORMAT] != FORMAT_JOURNAL ||
      be32 (header + ENCODING_AT) != ENCODING_UTF8)
    return false;
  const unsigned size = be16 (header + PAGE_SIZE_AT);
  pages->page_bytes = size == 1 ? 65536 : size;
  if (pages->page_bytes < 512 || (pages->page_bytes & (pages->page_bytes - 1)) != 0 ||
      pages->page_bytes - header[RESERVED_AT] < MIN_USABLE)
    return false;
  pages->usable_bytes = pages->page_bytes - header[RESERVED_AT];
  pages->n_pages = (uint64_t)file_bytes / pages->page_bytes;
  return enter_page (pages, table->root_page) == SQLITE_OK;
}

void
_lns_foreign_pages_clear (LnsForeignPages *pages)
{
  for (unsigned i = 0; i < LNS_PAGES_LEVELS_MAX; i++)
    free (pages->levels[i].bytes);
  lns_buffer_clear (&pages->whole);
}

int
_lns_foreign_pages_next (LnsForeignPages *pages, LnsForeignRow *ret_row)
{
  while (pages->n_levels > 0)
    {
      LnsForeignPage *page = &pages->levels[pages->n_levels - 1];
      /* An inner page has one child more than it has cells. */
      if (page->next >= page->n_cells + !page->is_leaf)
        pages->n_levels--;
      else if (page->is_leaf)
        return read_row (pages, page, ret_row);
      else
        {
          const bool is_last = page->next == page->n_cells;
          const uint8_t *cell = is_last ? page->bytes + 8 : next_cell (pages, page);
          page->next += is_last;
          int code = cell != NULL ? enter_page (pages, be32 (cell)) : SQLITE_CORRUPT;
          if (code != SQLITE_OK)
            return code;
        }
    }
  return SQLITE_DONE;
}
