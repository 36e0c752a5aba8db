/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/name-cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/buffer.h"
#include "src/base/hash.h"
#include "src/base/memory.h"
#include "src/base/search.h"
#include "src/base/string-table.h"
#include "src/base/terminal.h"

#define MAGIC           UINT64_C (0x31656D614E736E4C) /* the format, too */
#define MOST_FILE_BYTES (UINT32_C (128) << 20)
#define MOST_KEY_BYTES  (16u << 10)
#define BLOCK_BYTES     4096u
#define RENEWAL_SECONDS (24 * 60 * 60) /* a file's time says when it was used, to within this */
#define MOST_TEXT_BYTES (64u << 10)

typedef struct
{
  uint64_t magic;
  uint64_t base; /* what all addresses are less by */
  uint32_t n_key_bytes;
  uint32_t n_spans;
  uint32_t n_records_bytes;
  uint32_t n_texts_bytes;
  uint64_t check; /* of what is above and the key */
} Head;

typedef struct
{
  uint32_t start, end;
  uint32_t record;
  uint32_t check; /* of what is above and of the record */
} Span;

static uint64_t
check_of_head (const Head *head, const char *key)
{
  return lns_hash (head, offsetof (Head, check)) ^ lns_hash (key, head->n_key_bytes);
}

static uint32_t
check_of_span (const Span *span, const uint8_t *record, size_t n_record)
{
  const uint64_t hash = lns_hash (span, offsetof (Span, check)) * 31 + lns_hash (record, n_record);
  return (uint32_t)(hash ^ hash >> 32);
}

/* A text's check has its place, too. */
static uint32_t
check_of_text (uint32_t at, const char *text, size_t n)
{
  const uint64_t hash = lns_hash (text, n) * 31 + at;
  return (uint32_t)(hash ^ hash >> 32);
}

/* --- Reading ------------------------------------------------------------------------------------- */

struct LnsNameCache
{
  int fd;
  Head head;
  uint64_t size_bytes;
  uint8_t *bytes; /* the file, as far as it was read; the rest of the memory was never touched */
  uint8_t *has_block; /* of BLOCK_BYTES */
  uint64_t spans_at, records_at, texts_at;
};

/* The N bytes at AT, and at least one more block where there is one. NULL if they are not there. */
static const uint8_t *
bytes_at (LnsNameCache *cache, uint64_t at, uint64_t n)
{
  if (at > cache->size_bytes || n > cache->size_bytes - at)
    return NULL;
  for (uint64_t block = at / BLOCK_BYTES; block * BLOCK_BYTES < at + n; block++)
    if (!cache->has_block[block])
      {
        const uint64_t start = block * BLOCK_BYTES;
        const uint64_t n_block =
            cache->size_bytes - start < BLOCK_BYTES ? cache->size_bytes - start : BLOCK_BYTES;
        if (pread (cache->fd, cache->bytes + start, n_block, (off_t)start) != (ssize_t)n_block)
          return NULL;
        cache->has_block[block] = 1;
      }
  return cache->bytes + at;
}

/* Reads the head, and returns whether it fits the file and KEY. */
static bool
read_head (LnsNameCache *cache, const char *key)
{
  const size_t n_key = strlen (key);
  Head *head = &cache->head;
  const uint8_t *bytes = bytes_at (cache, 0, sizeof *head);
  if (bytes == NULL)
    return false;
  memcpy (head, bytes, sizeof *head);
  if (head->magic != MAGIC || head->n_key_bytes != n_key)
    return false;
  bytes = bytes_at (cache, sizeof *head, n_key);
  cache->spans_at = (sizeof *head + n_key + sizeof (Span) - 1) / sizeof (Span) * sizeof (Span);
  cache->records_at = cache->spans_at + (uint64_t)head->n_spans * sizeof (Span);
  cache->texts_at = cache->records_at + head->n_records_bytes;
  return bytes != NULL && memcmp (bytes, key, n_key) == 0 &&
         head->check == check_of_head (head, key) &&
         cache->texts_at + head->n_texts_bytes == cache->size_bytes;
}

LnsNameCache *
lns_name_cache_open (const char *folder, const char *name, const char *key)
{
  char path[PATH_MAX];
  struct stat status;
  if (snprintf (path, sizeof path, "%s%s", folder, name) >= (int)sizeof path)
    return NULL;
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0)
    return NULL;
  if (fstat (fd, &status) != 0 || !S_ISREG (status.st_mode) || status.st_uid != geteuid () ||
      (status.st_mode & 022) != 0 || status.st_size < (off_t)sizeof (Head) ||
      status.st_size > MOST_FILE_BYTES)
    {
      close (fd);
      return NULL;
    }
  LnsNameCache *cache = lns_calloc (1, sizeof *cache);
  cache->fd = fd;
  cache->size_bytes = (uint64_t)status.st_size;
  cache->bytes = lns_realloc (NULL, cache->size_bytes, 1);
  cache->has_block = lns_calloc (cache->size_bytes / BLOCK_BYTES + 1, 1);
  if (!read_head (cache, key))
    {
      lns_name_cache_free (cache);
      return NULL;
    }
  if (time (NULL) - status.st_mtime > RENEWAL_SECONDS)
    futimens (fd, NULL);
  return cache;
}

void
lns_name_cache_free (LnsNameCache *cache)
{
  if (cache == NULL)
    return;
  close (cache->fd);
  free (cache->bytes);
  free (cache->has_block);
  free (cache);
}

static bool
span_at (LnsNameCache *cache, uint64_t i, Span *ret_span)
{
  const uint8_t *bytes = bytes_at (cache, cache->spans_at + i * sizeof (Span), sizeof (Span));
  if (bytes != NULL)
    memcpy (ret_span, bytes, sizeof *ret_span);
  else
    *ret_span = (Span){ .start = 0 };
  return bytes != NULL;
}

static uint32_t
start_of (LnsNameCache *cache, uint64_t i)
{
  Span span;
  span_at (cache, i, &span);
  return span.start;
}

void
lns_name_cache_range (const LnsNameCache *cache, uint64_t *ret_start, uint64_t *ret_end)
{
  LnsNameCache *file = (LnsNameCache *)cache;
  Span first = { .start = 0 }, last = { .end = 0 };
  if (cache->head.n_spans > 0)
    {
      span_at (file, 0, &first);
      span_at (file, cache->head.n_spans - 1, &last);
    }
  *ret_start = cache->head.base + first.start;
  *ret_end = cache->head.base + last.end;
}

/* The text at AT, or NULL. */
static const char *
text_at (LnsNameCache *cache, uint64_t at)
{
  const uint64_t n_all = cache->head.n_texts_bytes;
  uint32_t check;
  if (at > n_all || n_all - at < sizeof check + 1)
    return NULL;
  const uint64_t start = at + sizeof check;
  const uint8_t *bytes;
  for (uint64_t n = 64; n <= 2 * MOST_TEXT_BYTES; n *= 4)
    {
      const uint64_t n_here = n < n_all - start ? n : n_all - start;
      bytes = bytes_at (cache, cache->texts_at + at, sizeof check + n_here);
      if (bytes == NULL)
        return NULL;
      memcpy (&check, bytes, sizeof check);
      const char *text = (const char *)bytes + sizeof check;
      const size_t length = strnlen (text, n_here);
      if (length < n_here)
        return check == check_of_text ((uint32_t)at, text, length) ? text : NULL;
      if (n_here == n_all - start)
        return NULL;
    }
  return NULL;
}

/* Reads the frames of the record at AT, and moves *AT behind it. */
static bool
read_record (LnsNameCache *cache,
             const uint8_t **at,
             const uint8_t *end,
             LnsSymbolFrame *ret_frames,
             size_t *ret_n)
{
  uint64_t n, function, file, line, source;
  if (!lns_take_varint (at, end, &n) || n > LNS_NAME_MOST_FRAMES)
    return false;
  for (size_t i = 0; i < n; i++)
    {
      if (!lns_take_varint (at, end, &function) || !lns_take_varint (at, end, &file) ||
          !lns_take_varint (at, end, &line) || !lns_take_varint (at, end, &source) ||
          line > UINT32_MAX || source > LNS_NAME_DEBUG_INFO)
        return false;
      ret_frames[i] =
          (LnsSymbolFrame){ text_at (cache, function), file > 0 ? text_at (cache, file - 1) : NULL,
                            (uint32_t)line, (LnsNameSource)source };
      if (ret_frames[i].function == NULL || (file > 0 && ret_frames[i].file == NULL))
        return false;
    }
  *ret_n = n;
  return true;
}

/* The frames of SPAN. False if it is damaged. */
static bool
frames_of_span (LnsNameCache *cache, const Span *span, LnsSymbolFrame *ret_frames, size_t *ret_n)
{
  const uint64_t n_all = cache->head.n_records_bytes;
  if (span->record >= n_all)
    return false;
  for (uint64_t n = 64; n <= 64 << 10; n *= 4)
    {
      const uint64_t n_here = n < n_all - span->record ? n : n_all - span->record;
      const uint8_t *record = bytes_at (cache, cache->records_at + span->record, n_here);
      const uint8_t *at = record;
      /* What is not whole fails, too: then more of it is tried. */
      if (record != NULL && read_record (cache, &at, record + n_here, ret_frames, ret_n))
        return span->check == check_of_span (span, record, (size_t)(at - record));
      if (record == NULL || n_here < n)
        return false;
    }
  return false;
}

bool
lns_name_cache_find (LnsNameCache *cache,
                     uint64_t address,
                     LnsSymbolFrame ret_frames[LNS_NAME_MOST_FRAMES],
                     size_t *ret_n_frames)
{
  const uint64_t wanted = address - cache->head.base;
  if (address < cache->head.base || wanted > UINT32_MAX)
    return false;
  const uint64_t after =
      LNS_LOWER_BOUND (cache->head.n_spans, i, start_of (cache, i) <= (uint32_t)wanted);
  Span span;
  return after > 0 && span_at (cache, after - 1, &span) && span.start <= wanted &&
         wanted < span.end && frames_of_span (cache, &span, ret_frames, ret_n_frames);
}

/* --- Writing ------------------------------------------------------------------------------------- */

typedef struct
{
  uint64_t start, end;
  uint32_t record, n_record;
  uint32_t number;
} NewSpan;

struct LnsNameSpans
{
  LNS_ARRAY (NewSpan) spans;
  LnsBuffer records, texts, record;
  LnsStringTable *known_records, *known_texts; /* by their places */
};

LnsNameSpans *
lns_name_spans_new (void)
{
  LnsNameSpans *spans = lns_calloc (1, sizeof *spans);
  spans->known_records = lns_string_table_new ();
  spans->known_texts = lns_string_table_new ();
  if (spans->known_records == NULL || spans->known_texts == NULL)
    lns_out_of_memory ();
  return spans;
}

void
lns_name_spans_free (LnsNameSpans *spans)
{
  if (spans == NULL)
    return;
  lns_array_clear (&spans->spans);
  lns_buffer_clear (&spans->records);
  lns_buffer_clear (&spans->texts);
  lns_buffer_clear (&spans->record);
  lns_string_table_free (spans->known_records);
  lns_string_table_free (spans->known_texts);
  free (spans);
}

/* The place of TEXT, which is added if it is new. */
static uint32_t
place_of_text (LnsNameSpans *spans, const char *text, bool is_new)
{
  const uint32_t next = (uint32_t)spans->texts.size_bytes;
  const size_t n = strlen (text);
  const uint32_t at = is_new ? next : lns_string_table_intern (spans->known_texts, text, n, next);
  if (at == next)
    {
      lns_buffer_append_int (&spans->texts, check_of_text (at, text, n), 4);
      lns_buffer_append (&spans->texts, text, n + 1);
    }
  return at;
}

void
lns_name_spans_add (LnsNameSpans *spans,
                    uint64_t start,
                    uint64_t end,
                    const LnsSymbolFrame *frames,
                    size_t n_frames,
                    bool are_new)
{
  if (end <= start || spans->spans.n >= MOST_FILE_BYTES / sizeof (Span) ||
      spans->texts.size_bytes + spans->records.size_bytes > MOST_FILE_BYTES)
    return;
  lns_buffer_reset (&spans->record);
  lns_buffer_append_varint (&spans->record, n_frames);
  for (size_t i = 0; i < n_frames; i++)
    {
      lns_buffer_append_varint (&spans->record, place_of_text (spans, frames[i].function, are_new));
      lns_buffer_append_varint (&spans->record,
                                frames[i].file != NULL
                                    ? UINT64_C (1) + place_of_text (spans, frames[i].file, are_new)
                                    : 0);
      lns_buffer_append_varint (&spans->record, frames[i].line);
      lns_buffer_append_varint (&spans->record, frames[i].source);
    }
  const uint32_t next = (uint32_t)spans->records.size_bytes;
  const uint32_t n_record = (uint32_t)spans->record.size_bytes;
  const uint32_t record =
      are_new ? next
              : lns_string_table_intern (spans->known_records, spans->record.bytes, n_record, next);
  if (record == next)
    lns_buffer_append (&spans->records, spans->record.bytes, n_record);
  *lns_array_add (&spans->spans) =
      (NewSpan){ start, end, record, n_record, (uint32_t)spans->spans.n };
}

void
lns_name_spans_add_cache (LnsNameSpans *spans, LnsNameCache *cache)
{
  LnsSymbolFrame frames[LNS_NAME_MOST_FRAMES];
  Span span;
  size_t n;
  for (uint64_t i = 0; i < cache->head.n_spans; i++)
    if (span_at (cache, i, &span) && frames_of_span (cache, &span, frames, &n))
      lns_name_spans_add (spans, cache->head.base + span.start, cache->head.base + span.end, frames,
                          n, false);
}

static int
compare_spans (const void *a, const void *b)
{
  const NewSpan *x = a, *y = b;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

/* Makes the file's bytes. False if they cannot be made. */
static bool
make_file (LnsNameSpans *spans, const char *key, LnsBuffer *file)
{
  const size_t n_key = strlen (key);
  NewSpan *items = spans->spans.items;
  size_t n = 0;
  bool is_sorted = true;
  for (size_t i = 1; i < spans->spans.n; i++)
    is_sorted &= items[i - 1].start <= items[i].start;
  if (!is_sorted)
    qsort (items, spans->spans.n, sizeof *items, compare_spans);
  for (size_t i = 0; i < spans->spans.n; i++)
    if (n > 0 && items[i].start < items[n - 1].end && items[i].end <= items[n - 1].end)
      continue;
    else if (n > 0 && items[i].start <= items[n - 1].end && items[i].record == items[n - 1].record)
      items[n - 1].end = items[i].end;
    else
      {
        items[n] = items[i];
        if (n > 0 && items[n].start < items[n - 1].end)
          items[n].start = items[n - 1].end;
        n++;
      }
  Head head = { .magic = MAGIC,
                .base = n > 0 ? items[0].start : 0,
                .n_key_bytes = (uint32_t)n_key,
                .n_spans = (uint32_t)n,
                .n_records_bytes = (uint32_t)spans->records.size_bytes,
                .n_texts_bytes = (uint32_t)spans->texts.size_bytes };
  head.check = check_of_head (&head, key);
  if (n == 0 || n_key > MOST_KEY_BYTES || items[n - 1].end - head.base > UINT32_MAX)
    return false;
  lns_buffer_append (file, &head, sizeof head);
  lns_buffer_append (file, key, n_key);
  while (file->size_bytes % sizeof (Span) != 0)
    lns_buffer_append_int (file, 0, 1);
  for (size_t i = 0; i < n; i++)
    {
      Span span = { (uint32_t)(items[i].start - head.base), (uint32_t)(items[i].end - head.base),
                    items[i].record, 0 };
      span.check = check_of_span (&span, spans->records.bytes + span.record, items[i].n_record);
      lns_buffer_append (file, &span, sizeof span);
    }
  lns_buffer_append (file, spans->records.bytes, spans->records.size_bytes);
  lns_buffer_append (file, spans->texts.bytes, spans->texts.size_bytes);
  return !file->failed && !spans->records.failed && !spans->texts.failed && !spans->record.failed &&
         file->size_bytes <= MOST_FILE_BYTES;
}

/* Removes the oldest of FOLDER's files, but not NEWEST, if they have more than MOST_BYTES. Returns whether it did. */
static bool
remove_oldest (DIR *folder, const char *newest, uint64_t most_bytes)
{
  char oldest[NAME_MAX + 1] = "";
  struct stat status, oldest_status = { .st_mtime = 0 };
  uint64_t n_bytes = 0;
  rewinddir (folder);
  for (struct dirent *entry; (entry = readdir (folder)) != NULL;)
    {
      if (fstatat (dirfd (folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
          !S_ISREG (status.st_mode))
        continue;
      n_bytes += (uint64_t)status.st_size;
      if (strcmp (entry->d_name, newest) == 0 ||
          (oldest[0] != '\0' && status.st_mtime >= oldest_status.st_mtime))
        continue;
      snprintf (oldest, sizeof oldest, "%s", entry->d_name);
      oldest_status = status;
    }
  return n_bytes > most_bytes && oldest[0] != '\0' && unlinkat (dirfd (folder), oldest, 0) == 0;
}

bool
lns_name_spans_write (LnsNameSpans *spans,
                      const char *folder_path,
                      const char *name,
                      const char *key,
                      uint64_t most_folder_bytes)
{
  char path[PATH_MAX], temporary[PATH_MAX];
  LnsBuffer file = { .bytes = NULL };
  if (snprintf (path, sizeof path, "%s%s", folder_path, name) >= (int)sizeof path ||
      snprintf (temporary, sizeof temporary, "%s.%s-XXXXXX", folder_path, name) >=
          (int)sizeof temporary)
    return false;
  bool is_good = make_file (spans, key, &file);
  const int fd = is_good ? mkostemp (temporary, O_CLOEXEC) : -1;
  is_good = fd >= 0 && lns_write_all (fd, file.bytes, file.size_bytes) == 0;
  if (fd >= 0 && (close (fd) != 0 || !is_good || rename (temporary, path) != 0))
    {
      unlink (temporary);
      is_good = false;
    }
  lns_buffer_clear (&file);
  DIR *folder = is_good ? opendir (folder_path) : NULL;
  while (folder != NULL && remove_oldest (folder, name, most_folder_bytes))
    ;
  if (folder != NULL)
    closedir (folder);
  return is_good;
}
