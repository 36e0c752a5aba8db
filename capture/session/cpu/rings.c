/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/cpu/rings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/compare.h"

typedef struct
{
  LnsCpuRecordIds ids;
  size_t at; /* in `bytes` */
} Entry;

typedef struct
{
  uint8_t *bytes;
  size_t n_bytes, n_allocated;
  LNS_ARRAY (Entry) entries;
} Records;

struct LnsCpuOrder
{
  const LnsCpuEvents *events;
  size_t n_page_bytes;
  Records waiting; /* of the thread that takes records                                          */
  pthread_mutex_t lock;
  Records collected; /* under the lock, as the next, and the tails of the rings                 */
  int64_t *last_ns;  /* by ring                                                                 */
};

/* What ends each record but samples, in front of the event's id: see `common ()` in events.c. A sample begins with that id,
 * and has the same behind it, but samples of CPUs have their address in between. */
typedef struct
{
  uint32_t pid, tid;
  uint64_t time_ns;
  uint32_t cpu, reserved;
} Trailer;

/* What each record has at least behind its header: that, an id, and an address if it is a sample. */
#define LEAST_BYTES (sizeof (Trailer) + sizeof (uint64_t))

LnsCpuOrder *
lns_cpu_order_new (const LnsCpuEvents *events)
{
  LnsCpuOrder *order = calloc (1, sizeof *order);
  if (order == NULL)
    return NULL;
  order->events = events;
  order->n_page_bytes = (size_t)sysconf (_SC_PAGESIZE);
  order->last_ns = malloc (events->rings.n * sizeof *order->last_ns);
  for (size_t i = 0; order->last_ns != NULL && i < events->rings.n; i++)
    order->last_ns[i] = INT64_MIN;
  if (order->last_ns == NULL)
    {
      free (order);
      return NULL;
    }
  pthread_mutex_init (&order->lock, NULL);
  return order;
}

static void
clear_records (Records *records)
{
  free (records->bytes);
  lns_array_clear (&records->entries);
}

void
lns_cpu_order_free (LnsCpuOrder *order)
{
  if (order == NULL)
    return;
  clear_records (&order->waiting);
  clear_records (&order->collected);
  free (order->last_ns);
  pthread_mutex_destroy (&order->lock);
  free (order);
}

static bool
reserve (Records *records, size_t n_bytes)
{
  if (records->n_bytes + n_bytes <= records->n_allocated)
    return true;
  size_t n = records->n_allocated > 0 ? records->n_allocated : (size_t)64 << 10;
  while (n < records->n_bytes + n_bytes)
    n *= 2;
  uint8_t *bytes = realloc (records->bytes, n);
  if (bytes == NULL)
    return false;
  records->bytes = bytes;
  records->n_allocated = n;
  return true;
}

/* Notes the record at AT, of ring I. */
static void
add_entry (LnsCpuOrder *order, size_t at, size_t i)
{
  const struct perf_event_header *header = (const void *)(order->collected.bytes + at);
  Trailer trailer;
  uint64_t id;
  const bool is_sample = header->type == PERF_RECORD_SAMPLE;
  memcpy (&id,
          order->collected.bytes + at + (is_sample ? sizeof *header : header->size - sizeof id),
          sizeof id);
  const int tracepoint =
      is_sample ? (int)lns_id_map_number (&order->events->tracepoint_ids, id) - 1 : -1;
  const size_t place = tracepoint >= 0 ? sizeof *header + sizeof id
                       : is_sample     ? sizeof *header + sizeof id + sizeof (uint64_t)
                                       : header->size - sizeof trailer - sizeof id;
  memcpy (&trailer, order->collected.bytes + at + place, sizeof trailer);
  Entry *entry = lns_array_try_add (&order->collected.entries);
  if (entry == NULL)
    return;
  *entry = (Entry){ .ids = { (int64_t)trailer.time_ns, trailer.pid, trailer.tid, trailer.cpu,
                             order->last_ns[i], tracepoint, id },
                    .at = at };
  order->last_ns[i] = (int64_t)trailer.time_ns;
}

typedef struct
{
  const uint8_t *bytes;
  size_t n; /* a power of two */
} Ring;

/* Copies the N bytes at AT of RING. */
static void
copy (const Ring *ring, uint64_t at, void *ret, size_t n)
{
  const size_t from = (size_t)(at & (ring->n - 1)),
               n_first = n < ring->n - from ? n : ring->n - from;
  memcpy (ret, ring->bytes + from, n_first);
  memcpy ((uint8_t *)ret + n_first, ring->bytes, n - n_first);
}

/* Copies the record at AT of RING, which has HEADER, behind the others, and returns its size. Of the stack at the end of a
 * sample, the kernel says how much of it there is: most are much less deep than there is room for. */
static size_t
copy_record (LnsCpuOrder *order,
             const Ring *ring,
             uint64_t at,
             const struct perf_event_header *header)
{
  uint8_t *to = order->collected.bytes + order->collected.n_bytes;
  uint64_t n_room = 0, n_used = 0;
  const size_t most = order->events->n_stack_bytes, n_ends = 2 * sizeof (uint64_t),
               n_head = header->size - (most + n_ends);
  if (header->type == PERF_RECORD_SAMPLE && most > 0 && header->size > most + n_ends)
    {
      copy (ring, at + n_head, &n_room, sizeof n_room);
      copy (ring, at + header->size - sizeof n_used, &n_used, sizeof n_used);
    }
  if (n_room != most || n_room == 0 || n_used > n_room)
    {
      copy (ring, at, to, header->size);
      return header->size;
    }
  n_room = (n_used + 7) / 8 * 8;
  struct perf_event_header shorter = *header;
  shorter.size = (uint16_t)(n_head + n_room + n_ends);
  copy (ring, at, to, n_head + sizeof n_room + n_room);
  memcpy (to, &shorter, sizeof shorter);
  memcpy (to + n_head, &n_room, sizeof n_room);
  memcpy (to + n_head + sizeof n_room + n_room, &n_used, sizeof n_used);
  return shorter.size;
}

/* Copies what ring I has. Under the lock. */
static void
read_ring (LnsCpuOrder *order, size_t i)
{
  struct perf_event_mmap_page *page = order->events->rings.items[i].page;
  const uint64_t head = __atomic_load_n (&page->data_head, __ATOMIC_ACQUIRE);
  uint64_t at = page->data_tail;
  const Ring ring = { (const uint8_t *)page + order->n_page_bytes, order->events->n_ring_bytes };
  struct perf_event_header header;
  if (head == at || !reserve (&order->collected, (size_t)(head - at)))
    return;
  for (; head - at >= sizeof header; at += header.size)
    {
      copy (&ring, at, &header, sizeof header);
      if (header.size < sizeof header + LEAST_BYTES || header.size > head - at)
        break; /* the kernel writes no such record */
      const size_t to = order->collected.n_bytes;
      order->collected.n_bytes += copy_record (order, &ring, at, &header);
      add_entry (order, to, i);
    }
  __atomic_store_n (&page->data_tail, head, __ATOMIC_RELEASE);
}

static int
compare_entries (const void *a, const void *b)
{
  const Entry *ea = a, *eb = b;
  return LNS_COMPARE (ea->ids.time_ns, eb->ids.time_ns) ?: LNS_COMPARE (ea->at, eb->at);
}

/* Keeps the entries from AT on, and their bytes. */
static void
keep_from (Records *records, size_t at)
{
  size_t n_bytes = 0;
  for (size_t i = at; i < records->entries.n; i++)
    n_bytes +=
        ((const struct perf_event_header *)(records->bytes + records->entries.items[i].at))->size;
  uint8_t *bytes = n_bytes > 0 ? malloc (n_bytes) : NULL;
  if (n_bytes > 0 && bytes == NULL)
    {
      /* The records stay where they are. */
      memmove (records->entries.items, records->entries.items + at,
               (records->entries.n - at) * sizeof *records->entries.items);
      records->entries.n -= at;
      return;
    }
  size_t to = 0, n = 0;
  for (size_t i = at; i < records->entries.n; i++)
    {
      Entry entry = records->entries.items[i];
      const struct perf_event_header *header = (const void *)(records->bytes + entry.at);
      memcpy (bytes + to, header, header->size);
      entry.at = to;
      to += header->size;
      records->entries.items[n++] = entry;
    }
  records->entries.n = n;
  if (to > 0)
    memcpy (records->bytes, bytes, to);
  records->n_bytes = to;
  free (bytes);
}

bool
lns_cpu_order_collect (LnsCpuOrder *order, size_t limit)
{
  pthread_mutex_lock (&order->lock);
  for (size_t i = 0; i < order->events->rings.n && order->collected.n_bytes <= limit; i++)
    read_ring (order, i);
  const bool has_room = order->collected.n_bytes <= limit;
  pthread_mutex_unlock (&order->lock);
  return has_room;
}

/* Adds what was collected to what waits. Where memory is short it stays collected. */
static void
take_over (LnsCpuOrder *order)
{
  Records *to = &order->waiting, *from = &order->collected;
  pthread_mutex_lock (&order->lock);
  if (to->entries.n == 0)
    {
      const Records empty = *to;
      *to = *from;
      *from = empty;
      from->n_bytes = 0;
    }
  else if (reserve (to, from->n_bytes))
    {
      size_t i = 0;
      for (Entry *entry; i < from->entries.n && (entry = lns_array_try_add (&to->entries)) != NULL;
           i++)
        {
          *entry = from->entries.items[i];
          entry->at += to->n_bytes;
        }
      memcpy (to->bytes + to->n_bytes, from->bytes, from->n_bytes);
      to->n_bytes += from->n_bytes;
      keep_from (from, i);
    }
  pthread_mutex_unlock (&order->lock);
}

void
lns_cpu_order_read (LnsCpuOrder *order, int64_t until_ns, LnsCpuTake take, void *data)
{
  Records *waiting = &order->waiting;
  lns_cpu_order_collect (order, SIZE_MAX);
  take_over (order);
  if (waiting->entries.n == 0)
    return;
  qsort (waiting->entries.items, waiting->entries.n, sizeof *waiting->entries.items,
         compare_entries);
  size_t at = 0;
  for (; at < waiting->entries.n && waiting->entries.items[at].ids.time_ns <= until_ns; at++)
    {
      const Entry *entry = &waiting->entries.items[at];
      take (data, (const void *)(waiting->bytes + entry->at), &entry->ids);
    }
  keep_from (waiting, at);
}

void
lns_cpu_order_look (LnsCpuOrder *order, LnsCpuTake take, void *data)
{
  const Records *waiting = &order->waiting;
  lns_cpu_order_collect (order, SIZE_MAX);
  take_over (order);
  for (size_t i = 0; i < waiting->entries.n; i++)
    take (data, (const void *)(waiting->bytes + waiting->entries.items[i].at),
          &waiting->entries.items[i].ids);
}
