/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/code-map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/id-map.h"
#include "src/base/memory.h"
#include "src/symbols/byte-cursor.h"

#define MOST_BYTES (UINT64_C (1) << 30)

/* Reads a regular file that is no link, whole, with a NUL behind it. NULL if that is impossible. */
static char *
read_file (const char *path, size_t *ret_n)
{
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  struct stat status;
  char *text = NULL;
  size_t n = 0, room = 0;
  bool is_good = fd >= 0 && fstat (fd, &status) == 0 && S_ISREG (status.st_mode);
  while (is_good)
    {
      if (room - n < 2)
        {
          room = room > 0                   ? 2 * room
                 : status.st_size < 1 << 20 ? (size_t)status.st_size + 2
                                            : 1 << 20;
          text = lns_realloc (text, room, 1);
        }
      const ssize_t n_read = read (fd, text + n, room - n - 1);
      if (n_read == 0)
        break;
      n += n_read > 0 ? (size_t)n_read : 0;
      is_good = (n_read > 0 || errno == EINTR) && n <= MOST_BYTES;
    }
  if (fd >= 0)
    close (fd);
  if (!is_good)
    {
      free (text);
      return NULL;
    }
  text[n] = '\0';
  *ret_n = n;
  return text;
}

static void
add_function (LnsCodeMap *map, uint64_t start, uint64_t n_bytes, uint64_t name)
{
  const LnsSpan span = { start, start + n_bytes, map->functions.n, name };
  if (n_bytes > 0 && span.end > start && map->functions.n < LNS_SPAN_NONE)
    *lns_array_add (&map->functions) = span;
}

/* Ends the line that AT is in, and returns the next one. */
static char *
end_line (char *at, char *end)
{
  char *newline = memchr (at, '\n', (size_t)(end - at));
  if (newline == NULL)
    return end;
  *newline = '\0';
  return newline + 1;
}

bool
lns_code_map_read_perf (const char *path, LnsCodeMap *ret_map)
{
  size_t n;
  char *text = read_file (path, &n);
  if (text == NULL)
    return false;
  ret_map->text = text;
  for (char *line = text, *next; line < text + n; line = next)
    {
      char *after_start, *after_size;
      next = end_line (line, text + n);
      errno = 0;
      const uint64_t start = strtoull (line, &after_start, 16),
                     size = strtoull (after_start, &after_size, 16);
      if (errno == 0 && after_start > line && *after_start == ' ' && after_size > after_start &&
          *after_size == ' ' && after_size[1] != '\0')
        add_function (ret_map, start, size, (uint64_t)(after_size + 1 - text));
    }
  lns_span_list_sort (&ret_map->functions);
  return true;
}

/* --- jitdump ------------------------------------------------------------------------------------- */

enum
{
  JIT_CODE_LOAD,
  JIT_CODE_MOVE,
  JIT_CODE_DEBUG_INFO
};

typedef struct
{
  LnsCodeMap *map;
  LnsIdMap loads;          /* from code indices to 1 + numbers of spans */
  LnsCodeLines next_lines; /* of the function that is loaded next */
} JitDump;

static void
read_load (JitDump *dump, LnsByteCursor *record)
{
  lns_cursor_skip (record, 8); /* process and thread */
  lns_cursor_skip (record, 8); /* where the code was when it was written */
  const uint64_t address = lns_cursor_take (record, 8), n_bytes = lns_cursor_take (record, 8);
  const uint64_t index = lns_cursor_take (record, 8);
  const char *name = lns_cursor_take_text (record);
  const size_t n_before = dump->map->functions.n;
  if (name != NULL)
    add_function (dump->map, address, n_bytes, (uint64_t)(name - (const char *)record->bytes));
  if (dump->map->functions.n > n_before)
    {
      *lns_array_add (&dump->map->lines_of) = dump->next_lines;
      lns_id_map_set_number (&dump->loads, index, 1 + n_before);
    }
  dump->next_lines = (LnsCodeLines){ 0, 0 };
}

static void
read_move (JitDump *dump, LnsByteCursor *record)
{
  lns_cursor_skip (record, 8 + 8 + 8); /* process and thread, the new place, the old one */
  const uint64_t address = lns_cursor_take (record, 8), n_bytes = lns_cursor_take (record, 8);
  const uint64_t number = lns_id_map_number (&dump->loads, lns_cursor_take (record, 8));
  if (!record->is_broken && number > 0)
    {
      const size_t n_before = dump->map->functions.n;
      add_function (dump->map, address, n_bytes, dump->map->functions.items[number - 1].name);
      if (dump->map->functions.n > n_before)
        *lns_array_add (&dump->map->lines_of) = (LnsCodeLines){ 0, 0 };
    }
}

static void
read_lines (JitDump *dump, LnsByteCursor *record)
{
  lns_cursor_skip (record, 8);
  const uint64_t n = lns_cursor_take (record, 8);
  uint64_t file = 0;
  dump->next_lines.first = dump->map->lines.n;
  for (uint64_t i = 0; i < n; i++)
    {
      const uint64_t address = lns_cursor_take (record, 8), line = lns_cursor_take (record, 4);
      lns_cursor_skip (record, 4); /* discriminator */
      const char *name = lns_cursor_take_text (record);
      if (name == NULL)
        break;
      /* Writers shorten a file's name that is that of the line before to these two bytes. */
      if (strcmp (name, "\xff") != 0)
        file = (uint64_t)(name - (const char *)record->bytes);
      *lns_array_add (&dump->map->lines) = (LnsCodeLine){ address, file, (uint32_t)line };
    }
  dump->next_lines.n = dump->map->lines.n - dump->next_lines.first;
}

bool
lns_code_map_read_jitdump (const char *path, LnsCodeMap *ret_map)
{
  size_t n;
  char *text = read_file (path, &n);
  if (text == NULL)
    return false;
  ret_map->text = text;
  LnsByteCursor file = { .bytes = (const uint8_t *)text, .n = n };
  const uint64_t magic = lns_cursor_take (&file, 4), version = lns_cursor_take (&file, 4);
  const uint64_t header_bytes = lns_cursor_take (&file, 4);
  if (file.is_broken || magic != 0x4A695444 || version == 0 || header_bytes < 40 ||
      header_bytes > n)
    return false;
  file.at = header_bytes;
  JitDump dump = { .map = ret_map };
  for (;;)
    {
      const size_t start = file.at;
      const uint64_t kind = lns_cursor_take (&file, 4), n_bytes = lns_cursor_take (&file, 4);
      if (file.is_broken || n_bytes < 16 || n_bytes > n - start)
        break;
      LnsByteCursor record = { .bytes = file.bytes, .at = start + 16, .n = start + n_bytes };
      if (kind == JIT_CODE_LOAD)
        read_load (&dump, &record);
      else if (kind == JIT_CODE_MOVE)
        read_move (&dump, &record);
      else if (kind == JIT_CODE_DEBUG_INFO)
        read_lines (&dump, &record);
      file.at = start + n_bytes;
    }
  lns_id_map_clear (&dump.loads);
  lns_span_list_sort (&ret_map->functions);
  return true;
}

const LnsCodeLine *
lns_code_map_line (const LnsCodeMap *map, uint32_t span, uint64_t address)
{
  const uint64_t rank = map->functions.items[span].rank;
  const LnsCodeLine *found = NULL;
  if (rank < map->lines_of.n)
    {
      const LnsCodeLines *lines = &map->lines_of.items[rank];
      for (size_t i = lines->first; i < lines->first + lines->n; i++)
        if (map->lines.items[i].address <= address &&
            (found == NULL || map->lines.items[i].address >= found->address))
          found = &map->lines.items[i];
    }
  return found;
}

void
lns_code_map_clear (LnsCodeMap *map)
{
  lns_array_clear (&map->functions);
  lns_array_clear (&map->lines);
  lns_array_clear (&map->lines_of);
  free (map->text);
  map->text = NULL;
}
