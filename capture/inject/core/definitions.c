/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/definitions.h"
#include "capture/inject/core/process.h"
#include "capture/inject/core/strings.h"
#include "capture/inject/core/system.h"

#include <stdbool.h>
#include <string.h>

#define BLOCK_BYTES (256u << 10)
#define N_BUCKETS   65536u

typedef struct Node Node;
struct Node
{
  Node *older;     /* the node pushed before */
  Node *newer;     /* set by the sender while it holds the flag */
  Node *same_hash; /* in the bucket of a domain or a string */
  uint64_t hash;
  uint32_t n_bytes; /* of the record */
  uint32_t padding;
  uint8_t record[];
};

/* Memory is allocated from the start of a block to its end. The rest of a full block is not used. */
typedef struct
{
  size_t used;
  uint8_t bytes[];
} Block;

static Node *newest;
static Block *block;
static Node **buckets;
static uint32_t n_domains, n_strings;
static uint64_t n_serials;

static void *
allocate (size_t n_bytes)
{
  n_bytes = (n_bytes + 15) & ~(size_t)15;
  if (n_bytes > BLOCK_BYTES / 8)
    return lns_inject_map (n_bytes);
  for (;;)
    {
      Block *current = __atomic_load_n (&block, __ATOMIC_ACQUIRE);
      if (current != NULL)
        {
          size_t at = __atomic_fetch_add (&current->used, n_bytes, __ATOMIC_RELAXED);
          if (at + n_bytes <= BLOCK_BYTES)
            return (uint8_t *)current + at;
        }
      Block *fresh = lns_inject_map (BLOCK_BYTES);
      if (fresh == NULL)
        return NULL;
      fresh->used = (sizeof *fresh + 15) & ~(size_t)15;
      if (!__atomic_compare_exchange_n (&block, &current, fresh, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
        lns_inject_unmap (fresh, BLOCK_BYTES);
    }
}

/* Makes a node that holds the record of PARTS, and fills in its size. Returns null without memory. */
static Node *
make_node (const LnsPart *parts, size_t n_parts)
{
  const size_t n_bytes = lns_parts_bytes (parts, n_parts);
  Node *node = n_bytes <= LNS_WIRE_RECORD_MAX_BYTES ? allocate (sizeof *node + n_bytes) : NULL;
  if (node == NULL)
    return NULL;
  lns_parts_copy (parts, n_parts, 0, node->record, n_bytes);
  node->n_bytes = (uint32_t)n_bytes;
  memcpy (node->record + sizeof (LnsWireHead), &node->n_bytes, sizeof node->n_bytes);
  return node;
}

/* Makes a node that holds the record of KEY and TEXT and comes before FIRST in the chain of HASH. Returns null without
 * memory. */
static Node *
make_text_node (const LnsWireTextBytes *key, const char *text, uint64_t hash, Node *first)
{
  LnsPart parts[] = { { .bytes = key, .n_bytes = sizeof *key },
                      { .bytes = text, .n_bytes = key->n_text_bytes } };
  Node *node = make_node (parts, 2);
  if (node == NULL)
    return NULL;
  node->hash = hash;
  node->same_hash = first;
  return node;
}

static void
push (Node *node)
{
  node->older = __atomic_load_n (&newest, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n (&newest, &node->older, node, false, __ATOMIC_RELEASE,
                                       __ATOMIC_RELAXED))
    ;
}

int
lns_definitions_add (const LnsPart *parts, size_t n_parts)
{
  Node *node = make_node (parts, n_parts);
  if (node == NULL)
    return -ENOMEM;
  push (node);
  return 0;
}

uint64_t
lns_definitions_serial (void)
{
  return __atomic_add_fetch (&n_serials, 1, __ATOMIC_RELAXED);
}

static Node **
bucket_of (uint64_t hash)
{
  Node **table = __atomic_load_n (&buckets, __ATOMIC_ACQUIRE);
  if (table == NULL)
    {
      Node **fresh = lns_inject_map (N_BUCKETS * sizeof *fresh);
      if (fresh == NULL)
        return NULL;
      if (__atomic_compare_exchange_n (&buckets, &table, fresh, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE))
        table = fresh;
      else
        lns_inject_unmap (fresh, N_BUCKETS * sizeof *fresh);
    }
  return &table[hash % N_BUCKETS];
}

/* Finds the node with the type, domain and TEXT of KEY in the chain from FIRST up to, but not including, END. */
static Node *
find (Node *first, const Node *end, uint64_t hash, const LnsWireTextBytes *key, const char *text)
{
  for (Node *node = first; node != end; node = node->same_hash)
    {
      const LnsWireTextBytes *record = (const LnsWireTextBytes *)node->record;
      if (node->hash == hash && record->head.type == key->head.type &&
          (key->head.type == LNS_WIRE_DOMAIN || record->head.domain == key->head.domain) &&
          record->n_text_bytes == key->n_text_bytes &&
          memcmp (record + 1, text, key->n_text_bytes) == 0)
        return node;
    }
  return NULL;
}

/* The next id of domains or strings, or 0 when LIMIT is reached. */
static uint32_t
next_id (uint32_t *counter, uint32_t limit)
{
  uint32_t id = __atomic_load_n (counter, __ATOMIC_RELAXED);
  do
    if (id + 1 >= limit)
      return 0;
  while (!__atomic_compare_exchange_n (counter, &id, id + 1, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED));
  return id + 1;
}

/* Finds or makes the node of KEY, a head with type and, for strings, domain. Two threads that define the same text at
 * once get the same node: the chain grows only at its front, so after a failed push the nodes that were added meanwhile
 * are searched. The id that was reserved is then not used again. */
static const LnsWireTextBytes *
intern (LnsWireTextBytes *key, const char *text)
{
  bool is_domain = key->head.type == LNS_WIRE_DOMAIN;
  uint64_t hash =
      lns_strings_hash (text, key->n_text_bytes) + (is_domain ? 0 : key->head.domain + 1u);
  Node **bucket = bucket_of (hash);
  if (bucket == NULL)
    return NULL;
  Node *first = __atomic_load_n (bucket, __ATOMIC_ACQUIRE);
  Node *found = find (first, NULL, hash, key, text);
  if (found != NULL)
    return (const LnsWireTextBytes *)found->record;

  uint32_t id = is_domain ? next_id (&n_domains, LNS_WIRE_DOMAINS)
                          : next_id (&n_strings, LNS_WIRE_STRING_REGISTERED);
  if (id == 0)
    return NULL;
  if (is_domain)
    key->head.domain = (uint16_t)id;
  else
    key->head.string = id | LNS_WIRE_STRING_REGISTERED;
  Node *node = make_text_node (key, text, hash, first);
  if (node == NULL)
    return NULL;
  while (!__atomic_compare_exchange_n (bucket, &node->same_hash, node, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE))
    {
      found = find (node->same_hash, first, hash, key, text);
      if (found != NULL)
        return (const LnsWireTextBytes *)found->record;
      first = node->same_hash;
    }
  push (node);
  return (const LnsWireTextBytes *)node->record;
}

static uint32_t
cut (size_t n_bytes)
{
  return (uint32_t)(n_bytes < LNS_TEXT_MAX_BYTES ? n_bytes : LNS_TEXT_MAX_BYTES);
}

int
lns_definitions_name (LnsWireHead head, const char *text, size_t n_bytes)
{
  LnsWireTextBytes key = { .head = head, .n_text_bytes = cut (n_bytes) };
  uint64_t hash = lns_strings_hash ((const char *)&head, sizeof head);
  Node **bucket = bucket_of (hash);
  if (bucket == NULL)
    return -ENOMEM;
  /* The newest node comes first in the chain, so the first one with this head holds the present name. */
  Node *first = __atomic_load_n (bucket, __ATOMIC_ACQUIRE);
  for (Node *node = first; node != NULL; node = node->same_hash)
    {
      const LnsWireTextBytes *record = (const LnsWireTextBytes *)node->record;
      if (node->hash != hash || memcmp (&record->head, &head, sizeof head) != 0)
        continue;
      if (record->n_text_bytes == key.n_text_bytes &&
          memcmp (record + 1, text, key.n_text_bytes) == 0)
        return 0;
      break;
    }
  Node *node = make_text_node (&key, text, hash, first);
  if (node == NULL)
    return -ENOMEM;
  while (!__atomic_compare_exchange_n (bucket, &node->same_hash, node, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED))
    ;
  push (node);
  return 0;
}

uint32_t
lns_definitions_domain (const char *name, size_t n_bytes)
{
  LnsWireTextBytes key = { .head.type = LNS_WIRE_DOMAIN, .n_text_bytes = cut (n_bytes) };
  const LnsWireTextBytes *record = intern (&key, name);
  if (record != NULL)
    return record->head.domain;
  if (lns_process.pool.header != NULL)
    __atomic_fetch_add (&lns_process.pool.header->domains_refused, 1, __ATOMIC_RELAXED);
  return 0;
}

uint32_t
lns_definitions_string (uint32_t domain, const char *text, size_t n_bytes)
{
  LnsWireTextBytes key = { .head = { .type = LNS_WIRE_REGISTERED, .domain = (uint16_t)domain },
                           .n_text_bytes = cut (n_bytes) };
  const LnsWireTextBytes *record = intern (&key, text);
  return record == NULL ? 0 : record->head.string;
}

bool
lns_definitions_are_pending (void)
{
  return __atomic_load_n (&newest, __ATOMIC_RELAXED) !=
         __atomic_load_n (&lns_own.sent, __ATOMIC_RELAXED);
}

void
lns_definitions_send (bool (*write) (void *data, const void *record, size_t n_bytes), void *data)
{
  /* Repeats after the flag is down, because another thread may have pushed a node meanwhile and found the flag up. */
  bool room = true;
  while (room && lns_definitions_are_pending () &&
         __atomic_exchange_n (&lns_own.is_sending, 1, __ATOMIC_ACQUIRE) == 0)
    {
      Node *end = __atomic_load_n (&newest, __ATOMIC_ACQUIRE);
      Node *node = NULL;
      for (Node *at = end; at != lns_own.sent; at = at->older)
        {
          at->newer = node;
          node = at;
        }
      for (; node != NULL && room; node = node->newer)
        {
          room = write (data, node->record, node->n_bytes);
          if (room)
            __atomic_store_n (&lns_own.sent, node, __ATOMIC_RELAXED);
        }
      __atomic_store_n (&lns_own.is_sending, 0, __ATOMIC_RELEASE);
    }
}
