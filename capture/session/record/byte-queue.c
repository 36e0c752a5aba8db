/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/record/byte-queue.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

struct LnsByteQueuePart
{
  LnsByteQueuePart
      *next;      /* of the last one: it was made for bytes that did not fit after all, or NULL */
  size_t at, end; /* in `bytes`: the oldest that waits, and behind the newest */
  uint8_t bytes[];
};

#define ROOM (LNS_BYTE_QUEUE_PART_BYTES - sizeof (LnsByteQueuePart))

/* A part of its own behind LAST (NULL: the first). */
static bool
append (LnsByteQueue *queue, LnsByteQueuePart *last)
{
  LnsByteQueuePart *part = mmap (NULL, LNS_BYTE_QUEUE_PART_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (part == MAP_FAILED)
    return false;
  queue->held_bytes += LNS_BYTE_QUEUE_PART_BYTES;
  if (last == NULL)
    queue->first = queue->last = part;
  else
    last->next = part;
  return true;
}

static void
drop_first (LnsByteQueue *queue)
{
  LnsByteQueuePart *part = queue->first;
  queue->first = part->next;
  if (queue->last == part)
    queue->last = part->next;
  munmap (part, LNS_BYTE_QUEUE_PART_BYTES);
  queue->held_bytes -= LNS_BYTE_QUEUE_PART_BYTES;
}

/* Makes room for N bytes at the end, before any of them is written. */
static bool
make_room (LnsByteQueue *queue, size_t n)
{
  if (queue->last == NULL && !append (queue, NULL))
    return false;
  LnsByteQueuePart *part = queue->last;
  for (size_t room = ROOM - part->end; room < n; room += ROOM, part = part->next)
    if (part->next == NULL && !append (queue, part))
      return false;
  return true;
}

bool
lns_byte_queue_push (LnsByteQueue *queue, const void *bytes, size_t n)
{
  const uint8_t *from = bytes;
  if (!make_room (queue, n))
    return false;
  queue->n_bytes += n;
  while (n > 0)
    {
      LnsByteQueuePart *part = queue->last;
      const size_t n_here = n < ROOM - part->end ? n : ROOM - part->end;
      memcpy (part->bytes + part->end, from, n_here);
      part->end += n_here;
      from += n_here;
      n -= n_here;
      if (n > 0)
        queue->last = part->next;
    }
  return true;
}

bool
lns_byte_queue_pop (LnsByteQueue *queue, void *ret_bytes, size_t n)
{
  uint8_t *to = ret_bytes;
  if (n > queue->n_bytes)
    return false;
  queue->n_bytes -= n;
  while (n > 0)
    {
      LnsByteQueuePart *part = queue->first;
      const size_t n_here = n < part->end - part->at ? n : part->end - part->at;
      if (to != NULL)
        to = mempcpy (to, part->bytes + part->at, n_here);
      part->at += n_here;
      n -= n_here;
      if (part->at == ROOM)
        drop_first (queue);
    }
  return true;
}

void
lns_byte_queue_clear (LnsByteQueue *queue)
{
  while (queue->first != NULL)
    drop_first (queue);
  *queue = (LnsByteQueue){ 0 };
}
