/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/python/frames.h"

#include "capture/session/python/memory.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES    4096u
#define MOST_PAGES    1024
#define MOST_READINGS 6
/* Pages that are read between two looks at the innermost frame. The time that this takes is short against a call. */
#define TIGHT_PAGES 2

struct _LnsPythonPages
{
  uint8_t bytes[MOST_PAGES][PAGE_BYTES];
  uint8_t again[TIGHT_PAGES][PAGE_BYTES]; /* the first pages, read after all others */
  uint64_t addresses[MOST_PAGES];
  bool is_read[MOST_PAGES];
  size_t n;
  uint16_t used[MOST_PAGES]; /* in the order of the frames */
  size_t n_used;
  LnsPythonRawFrames frames[2]; /* of this reading and the one before */
};

/* What one reading found. */
typedef struct
{
  size_t n_window;     /* pages that were read in one call */
  bool is_same_top;    /* the innermost frame was the same before and after the first pages */
  bool is_whole;       /* all frames lay on pages of this call */
  bool is_broken;      /* a frame could not be read */
  bool has_more;       /* there are more frames than are read */
  uint64_t last_tight; /* the outermost frame on the first pages; 0: none */
} Reading;

LnsPythonPages *
_lns_python_pages_new (void)
{
  return calloc (1, sizeof (LnsPythonPages));
}

void
_lns_python_pages_free (LnsPythonPages *pages)
{
  if (pages == NULL)
    return;
  lns_array_clear (&pages->frames[0]);
  lns_array_clear (&pages->frames[1]);
  free (pages);
}

void
_lns_python_walk_clear (LnsPythonWalk *walk)
{
  lns_array_clear (&walk->pages);
}

/* The number of the page at ADDRESS, which is read now if it was not; MOST_PAGES if that fails. */
static size_t
get_page (LnsPythonPages *pages, int32_t pid, uint64_t address, Reading *reading)
{
  size_t at = pages->n_used > 0 ? pages->used[pages->n_used - 1] : 0;

  if (at >= pages->n || pages->addresses[at] != address)
    for (at = 0; at < pages->n && pages->addresses[at] != address; at++)
      ;
  if (at == pages->n)
    {
      reading->is_whole = false;
      if (pages->n == MOST_PAGES)
        return MOST_PAGES;
      pages->addresses[pages->n] = address;
      pages->is_read[pages->n] =
          _lns_remote_read (pid, address, pages->bytes[pages->n], PAGE_BYTES);
      pages->n++;
    }
  if (pages->n_used == 0 || pages->used[pages->n_used - 1] != at)
    {
      size_t i = 0;
      while (i < pages->n_used && pages->used[i] != at)
        i++;
      if (i == pages->n_used)
        pages->used[pages->n_used++] = (uint16_t)at;
    }
  return pages->is_read[at] ? at : MOST_PAGES;
}

/* Copies the SIZE bytes of the frame at ADDRESS, at most two pages. */
static bool
get_frame (LnsPythonPages *pages,
           int32_t pid,
           uint64_t address,
           uint8_t *frame,
           size_t size,
           Reading *reading)
{
  const uint64_t start = address & -(uint64_t)PAGE_BYTES;
  const size_t offset = address - start,
               n_first = offset + size > PAGE_BYTES ? PAGE_BYTES - offset : size;
  const size_t first = get_page (pages, pid, start, reading);

  if (address % 8 != 0 || first == MOST_PAGES)
    return false;
  memcpy (frame, pages->bytes[first] + offset, n_first);
  if (n_first < size)
    {
      const size_t second = get_page (pages, pid, start + PAGE_BYTES, reading);
      if (second == MOST_PAGES)
        return false;
      memcpy (frame + n_first, pages->bytes[second], size - n_first);
    }
  else if (first < TIGHT_PAGES && first < reading->n_window)
    reading->last_tight = address;
  return true;
}

/* Follows the frames from TOP on. */
static void
follow (LnsPythonPages *pages,
        int32_t pid,
        const LnsPythonLayout *layout,
        uint64_t top,
        Reading *reading)
{
  LnsPythonRawFrames *frames = &pages->frames[0];
  uint8_t bytes[LNS_PYTHON_MOST_FRAME_BYTES];
  uint64_t at = top;

  frames->n = 0;
  pages->n_used = 0;
  for (unsigned n = 0; at != 0; n++)
    {
      reading->has_more = n == LNS_PYTHON_MOST_FRAMES;
      if (reading->has_more)
        return;
      LnsPythonRawFrame *frame = NULL;
      reading->is_broken = !get_frame (pages, pid, at, bytes, layout->frame_bytes, reading) ||
                           (frame = lns_array_try_add (frames)) == NULL;
      if (reading->is_broken)
        return;
      frame->address = at;
      frame->code = lns_python_frame_code (layout, bytes);
      frame->instruction = _lns_python_pointer_at (bytes, layout->frame_instruction);
      if (!lns_python_frame_has_function (layout, bytes))
        frames->n--;
      at = _lns_python_pointer_at (bytes, layout->frame_previous);
    }
}

/* Reads the pages that WALK remembers, with the innermost frame before and after the first of them, and follows the frames.
 * Returns false if the thread cannot be read. */
static bool
read_once (LnsPythonWalk *walk,
           LnsPythonPages *pages,
           int32_t pid,
           const LnsPythonLayout *layout,
           uint64_t thread,
           Reading *ret_reading)
{
  LnsRemotePiece pieces[MOST_PAGES + TIGHT_PAGES + 4];
  uint64_t head[2] = { 0, 0 }, tail[2] = { 0, 0 };
  const size_t n_words = layout->has_c_frame ? 2 : 1, n_pages = walk->pages.n;
  const size_t n_tight = n_pages < TIGHT_PAGES ? n_pages : TIGHT_PAGES;
  const uint64_t words[2] = { thread + layout->thread_frame,
                              walk->c_frame + layout->c_frame_frame };
  size_t n = 0, first_page = 0;

  for (size_t i = 0; i < n_words; i++)
    pieces[n++] = (LnsRemotePiece){ words[i], &head[i], sizeof head[i], false };
  first_page = n;
  for (size_t i = 0; i < n_pages; i++)
    {
      pages->addresses[i] = walk->pages.items[i];
      if (i == n_tight)
        for (size_t k = 0; k < n_words; k++)
          pieces[n++] = (LnsRemotePiece){ words[k], &tail[k], sizeof tail[k], false };
      pieces[n++] = (LnsRemotePiece){ pages->addresses[i], pages->bytes[i], PAGE_BYTES, false };
    }
  if (n_pages <= TIGHT_PAGES)
    for (size_t k = 0; k < n_words; k++)
      pieces[n++] = (LnsRemotePiece){ words[k], &tail[k], sizeof tail[k], false };
  else
    for (size_t i = 0; i < n_tight; i++)
      pieces[n++] = (LnsRemotePiece){ pages->addresses[i], pages->again[i], PAGE_BYTES, false };
  _lns_remote_read_pieces (pid, pieces, n);
  *ret_reading = (Reading){ .n_window = n_pages, .is_whole = true };
  pages->n = n_pages;
  pages->frames[0].n = 0;
  pages->n_used = 0;
  for (size_t i = 0; i < n_pages; i++)
    pages->is_read[i] = pieces[first_page + i + (i >= TIGHT_PAGES ? n_words : 0)].is_read;
  if (!pieces[0].is_read)
    return false;
  if (layout->has_c_frame && head[0] != walk->c_frame)
    {
      walk->c_frame = head[0];
      ret_reading->is_broken = true;
      return true;
    }
  ret_reading->is_same_top = memcmp (head, tail, sizeof head) == 0;
  follow (pages, pid, layout, head[n_words - 1], ret_reading);
  /* What lies outside of the first pages was read later. It was not replaced if the frame that it called is still there. */
  if (n_pages > TIGHT_PAGES && ret_reading->last_tight != 0)
    {
      const uint64_t at = ret_reading->last_tight;
      const size_t page = (at & -(uint64_t)PAGE_BYTES) == pages->addresses[0] ? 0 : 1;
      const uint8_t *now = pages->again[page] + at % PAGE_BYTES,
                    *then = pages->bytes[page] + at % PAGE_BYTES;
      ret_reading->is_same_top &= _lns_python_pointer_at (now, layout->frame_previous) ==
                                      _lns_python_pointer_at (then, layout->frame_previous) &&
                                  _lns_python_pointer_at (now, layout->frame_code) ==
                                      _lns_python_pointer_at (then, layout->frame_code);
    }
  else if (n_pages > TIGHT_PAGES)
    ret_reading->is_same_top = false;
  return true;
}

/* Remembers on which pages the frames were. */
static void
remember (LnsPythonWalk *walk, const LnsPythonPages *pages)
{
  walk->pages.n = 0;
  for (size_t i = 0; i < pages->n_used; i++)
    {
      uint64_t *address = lns_array_try_add (&walk->pages);
      if (address == NULL)
        return;
      *address = pages->addresses[pages->used[i]];
    }
}

/* Leaves of the frames of the last reading those, from the outermost on, that the one before had, too. */
static void
keep_common (LnsPythonPages *pages)
{
  LnsPythonRawFrames *now = &pages->frames[0], *then = &pages->frames[1];
  size_t n = 0;

  while (n < now->n && n < then->n &&
         now->items[now->n - 1 - n].address == then->items[then->n - 1 - n].address &&
         now->items[now->n - 1 - n].code == then->items[then->n - 1 - n].code)
    n++;
  if (n > 0)
    memmove (now->items, now->items + now->n - n, n * sizeof now->items[0]);
  now->n = n;
}

unsigned
_lns_python_walk (LnsPythonWalk *walk,
                  LnsPythonPages *pages,
                  int32_t pid,
                  const LnsPythonLayout *layout,
                  uint64_t thread,
                  const LnsPythonRawFrames **ret_frames,
                  bool *ret_is_cut,
                  bool *ret_lacks_outermost)
{
  bool was_to_the_end = false;

  *ret_frames = &pages->frames[0];
  *ret_is_cut = true;
  *ret_lacks_outermost = false;
  for (unsigned n = 0;; n++)
    {
      Reading reading;
      if (!read_once (walk, pages, pid, layout, thread, &reading))
        return n;
      const bool is_to_the_end = !reading.is_broken && !reading.has_more;
      if (reading.is_same_top && reading.is_whole && !reading.is_broken)
        {
          remember (walk, pages);
          *ret_is_cut = false;
          *ret_lacks_outermost = reading.has_more;
          return n;
        }
      if (pages->n_used > 0)
        remember (walk, pages);
      if (n + 1 == MOST_READINGS)
        {
          if (is_to_the_end && was_to_the_end)
            keep_common (pages);
          else
            pages->frames[0].n = 0;
          return n;
        }
      const LnsPythonRawFrames last = pages->frames[0];
      pages->frames[0] = pages->frames[1];
      pages->frames[1] = last;
      was_to_the_end = is_to_the_end;
    }
}
