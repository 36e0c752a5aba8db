/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/database/careful-file.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

/* Offset of the number of pages in the first page: four bytes. A file with fewer pages is damaged. */
#define PAGE_COUNT_AT 28

typedef struct
{
  sqlite3_int64 offset;
  int n_bytes;
  char *bytes;
} Overwrite;

/* Replaces the methods of SQLite's file, and calls them. */
typedef struct
{
  sqlite3_io_methods methods;
  const sqlite3_io_methods *inner;
  sqlite3_int64 end; /* of the committed part; writing beyond it does no harm */
  LNS_ARRAY (Overwrite) overwrites;
} CarefulFile;

static CarefulFile *
careful (sqlite3_file *file)
{
  return (CarefulFile *)((char *)(uintptr_t)file->pMethods - offsetof (CarefulFile, methods));
}

static void
forget (CarefulFile *self)
{
  for (size_t i = 0; i < self->overwrites.n; i++)
    free (self->overwrites.items[i].bytes);
  self->overwrites.n = 0;
}

/* Writes copies of the waiting pages after the end of the file, as many as there is room for on the disk. */
static void
write_copies (CarefulFile *self, sqlite3_file *file, sqlite3_int64 end)
{
  for (size_t i = 0; i < self->overwrites.n; end += self->overwrites.items[i++].n_bytes)
    if (self->inner->xWrite (file, self->overwrites.items[i].bytes,
                             self->overwrites.items[i].n_bytes, end) != SQLITE_OK)
      return;
}

static int
overwrite (CarefulFile *self, sqlite3_file *file, bool first_page)
{
  int code = SQLITE_OK;
  for (size_t i = 0; i < self->overwrites.n && code == SQLITE_OK; i++)
    if ((self->overwrites.items[i].offset == 0) == first_page)
      code =
          self->inner->xWrite (file, self->overwrites.items[i].bytes,
                               self->overwrites.items[i].n_bytes, self->overwrites.items[i].offset);
  return code;
}

/* Writes the waiting pages to their places. The first page, which marks the file as whole, comes last. */
static int
flush (CarefulFile *self, sqlite3_file *file)
{
  static const unsigned char damaged[4] = { 0xFF, 0xFF, 0xFF, 0xFE };
  if (self->overwrites.n == 0)
    return SQLITE_OK;
  int code = self->inner->xFileSize (file, &self->end);
  if (code == SQLITE_OK)
    {
      write_copies (self, file, self->end);
      code = self->inner->xWrite (file, damaged, sizeof damaged, PAGE_COUNT_AT);
      if (code == SQLITE_OK)
        code = overwrite (self, file, false);
      if (code == SQLITE_OK)
        code = overwrite (self, file, true);
      (void)self->inner->xTruncate (file, self->end);
    }
  forget (self);
  return code;
}

static int
careful_write (sqlite3_file *file, const void *bytes, int n_bytes, sqlite3_int64 offset)
{
  CarefulFile *self = careful (file);
  if (offset >= self->end)
    return self->inner->xWrite (file, bytes, n_bytes, offset);
  char *copy = malloc ((size_t)n_bytes);
  Overwrite *one = copy != NULL ? lns_array_try_add (&self->overwrites) : NULL;
  if (one == NULL)
    {
      free (copy);
      return SQLITE_IOERR_NOMEM;
    }
  memcpy (copy, bytes, (size_t)n_bytes);
  *one = (Overwrite){ offset, n_bytes, copy };
  return SQLITE_OK;
}

static int
careful_read (sqlite3_file *file, void *bytes, int n_bytes, sqlite3_int64 offset)
{
  CarefulFile *self = careful (file);
  int code = flush (self, file);
  return code != SQLITE_OK ? code : self->inner->xRead (file, bytes, n_bytes, offset);
}

static int
careful_truncate (sqlite3_file *file, sqlite3_int64 n_bytes)
{
  CarefulFile *self = careful (file);
  int code = flush (self, file);
  if (code == SQLITE_OK)
    code = self->inner->xTruncate (file, n_bytes);
  if (self->end > n_bytes)
    self->end = n_bytes;
  return code;
}

static int
careful_sync (sqlite3_file *file, int flags)
{
  CarefulFile *self = careful (file);
  int code = flush (self, file);
  return code != SQLITE_OK ? code : self->inner->xSync (file, flags);
}

/* SQLite sends SQLITE_FCNTL_SYNC after it has written all pages of a commit and before it ends the journal, whatever
 * "synchronous" is. */
static int
careful_control (sqlite3_file *file, int operation, void *argument)
{
  CarefulFile *self = careful (file);
  int code = operation == SQLITE_FCNTL_SYNC ? flush (self, file) : SQLITE_OK;
  if (code != SQLITE_OK)
    return code;
  code = self->inner->xFileControl (file, operation, argument);
  if (operation == SQLITE_FCNTL_SYNC)
    (void)self->inner->xFileSize (file, &self->end);
  return code;
}

static int
careful_close (sqlite3_file *file)
{
  CarefulFile *self = careful (file);
  int flushed = flush (self, file);
  file->pMethods = self->inner;
  int closed = self->inner->xClose (file);
  lns_array_clear (&self->overwrites);
  free (self);
  return flushed != SQLITE_OK ? flushed : closed;
}

bool
lns_careful_file_install (sqlite3 *database)
{
  sqlite3_file *file = NULL;
  if (sqlite3_file_control (database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
      file == NULL || file->pMethods == NULL)
    return true; /* a database in memory */
  CarefulFile *self = calloc (1, sizeof *self);
  if (self == NULL || file->pMethods->xFileSize (file, &self->end) != SQLITE_OK)
    {
      free (self);
      return false;
    }
  self->inner = file->pMethods;
  self->methods = *self->inner;
  self->methods.iVersion = 1; /* no shared memory, no mapped pages */
  self->methods.xClose = careful_close;
  self->methods.xRead = careful_read;
  self->methods.xWrite = careful_write;
  self->methods.xTruncate = careful_truncate;
  self->methods.xSync = careful_sync;
  self->methods.xFileControl = careful_control;
  file->pMethods = &self->methods;
  return true;
}
