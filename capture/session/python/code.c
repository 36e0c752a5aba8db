/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/python/code.h"

#include "capture/session/decode/python/text.h"
#include "capture/session/python/memory.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CODES      65536
#define MOST_CHARACTERS 1024
#define MOST_HEAD       80 /* of a str, from its length on; the layout has checked it */
#define MOST_RAW        (MOST_HEAD + 4 * MOST_CHARACTERS)
#define MOST_LINE_BYTES (256 << 10)
/* Objects compared at once, with what is read of each. */
#define BATCH      64
#define ROOM_BYTES (BATCH * (LNS_PYTHON_MOST_CODE_BYTES + 2 * MOST_RAW))

static uint64_t
pointer_at (const void *bytes, size_t offset)
{
  uint64_t pointer;

  memcpy (&pointer, (const char *)bytes + offset, sizeof pointer);
  return pointer;
}

static uint32_t
number_at (const void *bytes, size_t offset)
{
  uint32_t number;

  memcpy (&number, (const char *)bytes + offset, sizeof number);
  return number;
}

static void
free_text (LnsPythonText *text)
{
  free (text->raw);
  free (text->utf8);
}

static void
free_file (LnsPythonFile *file)
{
  free_text (&file->text);
  free (file);
}

static void
free_code (LnsPythonCode *code)
{
  free_text (&code->name);
  lns_array_clear (&code->lines);
  free (code);
}

/* Copies the str at ADDRESS. Returns false if it is none, or memory is short. */
static bool
copy_text (int32_t pid, const LnsPythonLayout *layout, uint64_t address, LnsPythonText *ret_text)
{
  uint8_t raw[MOST_RAW];
  const uint32_t start = layout->text_length, head = layout->text_compact - start;
  const size_t n = _lns_remote_read_some (pid, address + start, raw, head + 64);

  if (n < head)
    return false;
  const uint64_t length = pointer_at (raw, 0);
  const uint32_t state = number_at (raw, layout->text_state - start),
                 kind = LNS_PYTHON_TEXT_KIND (state);
  const uint64_t n_kept = length < MOST_CHARACTERS ? length : MOST_CHARACTERS;
  const uint32_t data =
      ((state & LNS_PYTHON_TEXT_ASCII) != 0 ? layout->text_ascii : layout->text_compact) - start;
  const uint32_t n_raw = data + (uint32_t)n_kept * kind;
  if ((state & LNS_PYTHON_TEXT_COMPACT) == 0 || (kind != 1 && kind != 2 && kind != 4) ||
      length > INT32_MAX || (n_raw > n && !_lns_remote_read (pid, address + start, raw, n_raw)))
    return false;
  *ret_text =
      (LnsPythonText){ .address = address,
                       .n_raw = n_raw,
                       .data = data,
                       .raw = malloc (n_raw),
                       .utf8 = _lns_python_text_utf8 (raw + data, n_kept, kind, n_kept < length) };
  if (ret_text->raw != NULL)
    memcpy (ret_text->raw, raw, n_raw);
  if (ret_text->raw == NULL || ret_text->utf8 == NULL)
    {
      free_text (ret_text);
      return false;
    }
  return true;
}

char *
_lns_python_text_read (int32_t pid, const LnsPythonLayout *layout, uint64_t address)
{
  LnsPythonText text;
  if (!copy_text (pid, layout, address, &text))
    return NULL;
  free (text.raw);
  return text.utf8;
}

/* Whether RAW, read at the address of TEXT, is still that text. Its hash and other caches in its head may change. */
static bool
is_same_text (const LnsPythonLayout *layout, const LnsPythonText *text, const uint8_t *raw)
{
  const size_t state = layout->text_state - layout->text_length;

  return pointer_at (raw, 0) == pointer_at (text->raw, 0) &&
         ((number_at (raw, state) ^ number_at (text->raw, state)) & LNS_PYTHON_TEXT_FIXED) == 0 &&
         memcmp (raw + text->data, text->raw + text->data, text->n_raw - text->data) == 0;
}

/* Whether HEAD is that of the object that CODE is a copy of, as far as addresses tell. */
static bool
is_same_head (const LnsPythonCodes *codes, const LnsPythonCode *code, const uint8_t *head)
{
  const LnsPythonLayout *layout = codes->layout;

  return pointer_at (head, layout->object_type) == codes->code_type &&
         pointer_at (head, layout->code_name) == code->name.address &&
         pointer_at (head, layout->code_file) == code->file->text.address &&
         pointer_at (head, layout->code_lines) == code->lines_address &&
         (int32_t)number_at (head, layout->code_first_line) == code->first_line;
}

/* The copy of the file name at ADDRESS, compared or copied at NOW. */
static LnsPythonFile *
get_file (LnsPythonCodes *codes, uint64_t address, uint64_t now)
{
  LnsPythonFile *file = lns_id_map_get (&codes->files, address);
  uint8_t raw[MOST_RAW];

  if (file != NULL && file->checked == now)
    return file;
  if (file != NULL &&
      _lns_remote_read (codes->pid, address + codes->layout->text_length, raw, file->text.n_raw) &&
      is_same_text (codes->layout, &file->text, raw))
    {
      file->checked = now;
      return file;
    }
  LnsPythonFile **old = file == NULL ? NULL : lns_array_try_add (&codes->old_files);
  if (file != NULL && old == NULL)
    return NULL;
  if (file != NULL)
    {
      *old = lns_id_map_take (&codes->files, address);
      file->is_replaced = true;
    }
  file = calloc (1, sizeof *file);
  if (file == NULL)
    return NULL;
  file->checked = now;
  if (!copy_text (codes->pid, codes->layout, address, &file->text))
    {
      free (file);
      return NULL;
    }
  if (!lns_id_map_set (&codes->files, address, file))
    {
      free_file (file);
      return NULL;
    }
  return file;
}

static void
copy_lines (const LnsPythonCodes *codes, LnsPythonCode *code)
{
  const LnsPythonLayout *layout = codes->layout;
  uint64_t n = 0;

  if (!_lns_remote_read (codes->pid, code->lines_address + layout->bytes_size, &n, sizeof n) ||
      n > MOST_LINE_BYTES)
    return;
  uint8_t *bytes = malloc (n + 1);
  if (bytes != NULL &&
      _lns_remote_read (codes->pid, code->lines_address + layout->bytes_data, bytes, n))
    _lns_python_lines_decode (layout->line_format, code->first_line, bytes, n, &code->lines);
  free (bytes);
}

/* Takes the copy of ADDRESS out of the cache. */
static void
retire (LnsPythonCodes *codes, uint64_t address)
{
  LnsPythonCode **place = lns_array_try_add (&codes->retired);
  LnsPythonCode *code = lns_id_map_take (&codes->codes, address);

  if (place != NULL)
    *place = code;
  /* Without memory to note it, it is never freed: this sample may still show it. */
}

/* Copies the object at ADDRESS, if it is a code object before and after. */
static void
copy_code (LnsPythonCodes *codes, uint64_t address, uint64_t now)
{
  const LnsPythonLayout *layout = codes->layout;
  uint8_t head[LNS_PYTHON_MOST_CODE_BYTES];

  if (!_lns_remote_read (codes->pid, address, head, layout->code_head_bytes) ||
      pointer_at (head, layout->object_type) != codes->code_type)
    return;
  LnsPythonCode *code = calloc (1, sizeof *code);
  if (code == NULL)
    return;
  code->address = address;
  code->first_line = (int32_t)number_at (head, layout->code_first_line);
  code->lines_address = pointer_at (head, layout->code_lines);
  code->since = code->checked = now;
  if (copy_text (codes->pid, layout, pointer_at (head, layout->code_name), &code->name) &&
      (code->file = get_file (codes, pointer_at (head, layout->code_file), now)) != NULL)
    {
      copy_lines (codes, code);
      if (_lns_remote_read (codes->pid, address, head, layout->code_head_bytes) &&
          is_same_head (codes, code, head) && lns_id_map_set (&codes->codes, address, code))
        {
          code->id = ++codes->n_codes_made;
          return;
        }
    }
  free_code (code);
}

/* Compares N copies, at most BATCH, with their objects; those that differ are copied anew. */
static void
compare (LnsPythonCodes *codes, LnsPythonCode **batch, size_t n, uint64_t now)
{
  const LnsPythonLayout *layout = codes->layout;
  LnsRemotePiece pieces[3 * BATCH];
  LnsPythonFile *files[BATCH];
  size_t n_pieces = 0, n_files = 0;
  uint8_t *room = codes->room;

#define ADD_PIECE(where, n_bytes)                                                                  \
 (pieces[n_pieces++] = (LnsRemotePiece){ .address = (where), .bytes = room, .size = (n_bytes) },   \
  room += (n_bytes))
  for (size_t i = 0; i < n; i++)
    {
      ADD_PIECE (batch[i]->address, layout->code_head_bytes);
      ADD_PIECE (batch[i]->name.address + layout->text_length, batch[i]->name.n_raw);
    }
  for (size_t i = 0; i < n; i++)
    if (batch[i]->file->checked != now && !batch[i]->file->is_replaced)
      {
        files[n_files++] = batch[i]->file;
        batch[i]->file->checked = now; /* so that it is read once */
        ADD_PIECE (batch[i]->file->text.address + layout->text_length, batch[i]->file->text.n_raw);
      }
#undef ADD_PIECE
  _lns_remote_read_pieces (codes->pid, pieces, n_pieces);
  for (size_t i = 0; i < n_files; i++)
    if (!pieces[2 * n + i].is_read ||
        !is_same_text (layout, &files[i]->text, pieces[2 * n + i].bytes))
      files[i]->checked = now - 1;
  for (size_t i = 0; i < n; i++)
    {
      const uint64_t address = batch[i]->address;
      if (pieces[2 * i].is_read && pieces[2 * i + 1].is_read &&
          is_same_head (codes, batch[i], pieces[2 * i].bytes) &&
          is_same_text (layout, &batch[i]->name, pieces[2 * i + 1].bytes) &&
          batch[i]->file->checked == now && !batch[i]->file->is_replaced)
        {
          batch[i]->checked = now;
          continue;
        }
      retire (codes, address);
      copy_code (codes, address, now);
    }
}

void
_lns_python_codes_check (LnsPythonCodes *codes, const uint64_t *addresses, size_t n, uint64_t now)
{
  LnsPythonCode *batch[BATCH];
  size_t n_batch = 0;

  for (size_t i = 0; i < n; i++)
    {
      LnsPythonCode *code = lns_id_map_get (&codes->codes, addresses[i]);
      if (code != NULL && code->checked == now)
        continue;
      if (code == NULL)
        {
          copy_code (codes, addresses[i], now);
          continue;
        }
      size_t same = 0;
      while (same < n_batch && batch[same] != code)
        same++;
      if (same < n_batch)
        continue;
      batch[n_batch++] = code;
      if (n_batch == BATCH)
        {
          compare (codes, batch, n_batch, now);
          n_batch = 0;
        }
    }
  compare (codes, batch, n_batch, now);
}

const LnsPythonCode *
_lns_python_codes_get (const LnsPythonCodes *codes, uint64_t address, uint64_t now)
{
  const LnsPythonCode *code = lns_id_map_get (&codes->codes, address);

  return code != NULL && code->checked == now ? code : NULL;
}

static void
forget_all (LnsPythonCodes *codes)
{
  size_t at = 0;

  codes->n_freed++;
  for (LnsPythonCode *code; (code = lns_id_map_next (&codes->codes, &at)) != NULL;)
    free_code (code);
  at = 0;
  for (LnsPythonFile *file; (file = lns_id_map_next (&codes->files, &at)) != NULL;)
    free_file (file);
  for (size_t i = 0; i < codes->old_files.n; i++)
    free_file (codes->old_files.items[i]);
  lns_array_clear (&codes->old_files);
  lns_id_map_clear (&codes->codes);
  lns_id_map_clear (&codes->files);
}

void
_lns_python_codes_begin (LnsPythonCodes *codes)
{
  for (size_t i = 0; i < codes->retired.n; i++)
    free_code (codes->retired.items[i]);
  codes->n_freed += codes->retired.n > 0;
  codes->retired.n = 0;
  if (codes->codes.n + codes->files.n + codes->old_files.n > MOST_CODES)
    forget_all (codes);
}

bool
_lns_python_codes_init (LnsPythonCodes *codes,
                        int32_t pid,
                        uint64_t code_type,
                        const LnsPythonLayout *layout)
{
  *codes = (LnsPythonCodes){
    .pid = pid, .code_type = code_type, .layout = layout, .room = malloc (ROOM_BYTES)
  };
  return codes->room != NULL;
}

void
_lns_python_codes_clear (LnsPythonCodes *codes)
{
  _lns_python_codes_begin (codes);
  lns_array_clear (&codes->retired);
  forget_all (codes);
  free (codes->room);
}
