/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-keys.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/search.h"
#include "ui/events/event-sort.h"
#include "ui/model/event-text.h"

#define BLOCK_BITS 12 /* places in a block */

/* Finds the lanes of places faster than bisection does, from the lane of each block's first place. */
typedef struct
{
  const LnsEventSet *set;
  uint32_t *first_lane;
} LaneFinder;

static LaneFinder
lane_finder_new (const LnsEventSet *set)
{
  uint32_t n_blocks = (set->first_place[set->n_lanes] >> BLOCK_BITS) + 1;
  LaneFinder self = { set, g_new0 (uint32_t, n_blocks) };
  uint32_t lane = 0;
  for (uint32_t block = 0; block < n_blocks; block++)
    {
      while (lane + 1 < set->n_lanes && set->first_place[lane + 1] <= block << BLOCK_BITS)
        lane++;
      self.first_lane[block] = lane;
    }
  return self;
}

static inline uint32_t
lane_of (const LaneFinder *self, uint32_t row)
{
  uint32_t place = self->set->place[row];
  uint32_t lane = self->first_lane[place >> BLOCK_BITS];
  while (self->set->first_place[lane + 1] <= place)
    lane++;
  return lane;
}

typedef char *(*TextFunc) (LnsReport *report, uint32_t id);

typedef struct
{
  char *text;
  uint32_t id;
} Named;

static int
compare_named (const void *a, const void *b)
{
  return strcmp (((const Named *)a)->text, ((const Named *)b)->text);
}

/* The rank of each id 0 … N - 1: the number of different smaller texts. */
static uint32_t *
rank (LnsReport *report, uint32_t n, TextFunc text)
{
  g_autofree Named *named = g_new (Named, MAX (n, 1));
  uint32_t *ranks = g_new0 (uint32_t, MAX (n, 1));
  for (uint32_t id = 0; id < n; id++)
    named[id] = (Named){ text (report, id), id };
  qsort (named, n, sizeof *named, compare_named);
  for (uint32_t i = 1; i < n; i++)
    ranks[named[i].id] = ranks[named[i - 1].id] + (strcmp (named[i - 1].text, named[i].text) != 0);
  for (uint32_t i = 0; i < n; i++)
    g_free (named[i].text);
  return ranks;
}

static inline uint64_t
rank_of (const uint32_t *ranks, uint32_t n, uint32_t id)
{
  return id < n ? (uint64_t)ranks[id] + 1 : 0;
}

/* Orders streams by number, then by context. */
static uint64_t
stream_key (LnsReport *report, uint32_t stream)
{
  uint32_t n;
  const LnsCudaStream *streams = lns_report_streams (report, &n);
  return stream < n ? (uint64_t)streams[stream].number << 32 | (streams[stream].context + 1u) : 0;
}

/* Fills in keys that all events of a lane share. */
static void
fill_lanes (const LnsEventSet *set, LnsEventColumn column, const uint32_t *threads, uint64_t *keys)
{
  LnsReport *report = set->report;
  uint32_t n_processes, n_domains, n_threads, n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  lns_report_processes (report, &n_processes);
  lns_report_domains (report, &n_domains);
  lns_report_threads (report, &n_threads);
  g_autofree uint32_t *ranks = NULL;
  if (column == LNS_EVENT_COLUMN_PROCESS)
    ranks = rank (report, n_processes, lns_event_text_process);
  if (column == LNS_EVENT_COLUMN_DOMAIN)
    ranks = rank (report, n_domains, lns_event_text_domain);

  g_autofree uint64_t *of_lane = g_new0 (uint64_t, MAX (set->n_lanes, 1));
  for (uint32_t i = 0; i < set->n_lanes; i++)
    {
      const LnsTrack *track = lns_event_track (report, set->lanes[i]);
      if (column == LNS_EVENT_COLUMN_DEPTH)
        of_lane[i] = lanes[set->lanes[i]].ordinal;
      else if (track == NULL)
        of_lane[i] = 0;
      else if (column == LNS_EVENT_COLUMN_PROCESS)
        of_lane[i] = rank_of (ranks, n_processes, track->process);
      else if (column == LNS_EVENT_COLUMN_DOMAIN)
        of_lane[i] = rank_of (ranks, n_domains, track->domain);
      else if (column == LNS_EVENT_COLUMN_STREAM)
        of_lane[i] = stream_key (report, track->stream);
      else
        of_lane[i] = rank_of (threads, n_threads, track->thread);
    }
  LaneFinder finder = lane_finder_new (set);
  for (uint32_t row = 0; row < set->n; row++)
    keys[row] = of_lane[lane_of (&finder, row)];
  g_free (finder.first_lane);
}

static void
fill_threads (const LnsEventSet *set, uint64_t *keys)
{
  uint32_t n_threads;
  lns_report_threads (set->report, &n_threads);
  g_autofree uint32_t *ranks = rank (set->report, n_threads, lns_event_text_thread);
  fill_lanes (set, LNS_EVENT_COLUMN_THREAD, ranks, keys);
  if (set->thread != NULL)
    for (uint32_t row = 0; row < set->n; row++)
      if (set->thread[row] > 0)
        keys[row] = rank_of (ranks, n_threads, set->thread[row] - 1);
}

/* A category with a name. */
typedef struct
{
  uint32_t domain, category;
  uint32_t index; /* in lns_report_categories () */
  uint64_t key;
} Category;

static int
compare_categories (const void *a, const void *b)
{
  const Category *x = a;
  const Category *y = b;
  int order = (x->domain > y->domain) - (x->domain < y->domain);
  if (order == 0)
    order = (x->category > y->category) - (x->category < y->category);
  return order != 0 ? order : (x->index < y->index) - (x->index > y->index);
}

static char *
category_name (LnsReport *report, uint32_t index)
{
  uint32_t n;
  return lns_event_text_string (report, lns_report_categories (report, &n)[index].name, true);
}

/* Orders categories by name, then those without a name by number. */
static void
fill_categories (const LnsEventSet *set, uint64_t *keys)
{
  uint32_t n;
  const LnsCategory *categories = lns_report_categories (set->report, &n);
  g_autofree uint32_t *ranks = rank (set->report, n, category_name);
  g_autofree Category *known = g_new (Category, MAX (n, 1));
  for (uint32_t i = 0; i < n; i++)
    known[i] =
        (Category){ categories[i].domain, categories[i].category, i, (uint64_t)ranks[i] + 1 };
  qsort (known, n, sizeof *known, compare_categories);

  LaneFinder finder = lane_finder_new (set);
  for (uint32_t row = 0; row < set->n && set->category != NULL; row++)
    {
      const LnsTrack *track = lns_event_track (set->report, set->lanes[lane_of (&finder, row)]);
      uint32_t category = set->category[row];
      keys[row] = category == 0 ? 0 : UINT64_C (1) << 32 | category;
      if (category == 0 || track == NULL)
        continue;
      uint64_t at =
          LNS_LOWER_BOUND (n, i,
                           known[i].domain < track->domain ||
                               (known[i].domain == track->domain && known[i].category < category));
      if (at < n && known[at].domain == track->domain && known[at].category == category)
        keys[row] = known[at].key;
    }
  g_free (finder.first_lane);
}

static double
payload_value (LnsPayloadType type, uint64_t bits)
{
  double value;
  float single;
  switch (type)
    {
    case LNS_PAYLOAD_DOUBLE:
      memcpy (&value, &bits, sizeof value);
      return value;
    case LNS_PAYLOAD_FLOAT:
      memcpy (&single, &bits, sizeof single);
      return single;
    case LNS_PAYLOAD_INT64:
      return (double)(int64_t)bits;
    case LNS_PAYLOAD_INT32:
      return (int32_t)bits;
    default:
      return (double)bits;
    }
}

static uint64_t
payload_key (LnsPayloadType type, uint64_t bits)
{
  switch (type)
    {
    case LNS_PAYLOAD_DOUBLE:
    case LNS_PAYLOAD_FLOAT:
      return lns_event_key_double (payload_value (type, bits));
    case LNS_PAYLOAD_INT64:
      return lns_event_key_int ((int64_t)bits);
    case LNS_PAYLOAD_INT32:
      return lns_event_key_int ((int32_t)bits);
    default:
      return bits;
    }
}

/* Rows without a payload come first. They have key 0, so the smallest payload shares key 1 with the next one. */
static void
fill_payloads (const LnsEventSet *set, uint64_t *keys)
{
  unsigned types = 0;
  for (uint32_t row = 0; row < set->n && set->payload_type != NULL; row++)
    types |= set->payload_type[row] > 15 ? 0 : 1u << set->payload_type[row] & ~1u;
  bool mixed = (types & (types - 1)) != 0;

  for (uint32_t row = 0; row < set->n && set->payload_type != NULL; row++)
    {
      LnsPayloadType type = set->payload_type[row];
      uint64_t bits = set->payload != NULL ? set->payload[row] : 0;
      if (type == LNS_PAYLOAD_NONE || set->payload_type[row] > 15)
        continue;
      uint64_t key =
          mixed ? lns_event_key_double (payload_value (type, bits)) : payload_key (type, bits);
      keys[row] = MAX (key, 1);
    }
}

/* Rows without VALUE come first, then the others by value; kernels by their number of threads. */
static void
fill_values (const LnsEventSet *set, LnsEventSetValue value, uint64_t *keys)
{
  uint32_t n;
  const LnsCudaLaunch *launches = lns_report_launches (set->report, &n);
  for (uint32_t row = 0; row < set->n && set->payload_type != NULL; row++)
    {
      uint64_t bits = set->payload != NULL ? set->payload[row] : 0;
      if (set->payload_type[row] != value)
        continue;
      if (value == LNS_EVENT_SET_LAUNCH && bits < n)
        {
          const LnsCudaLaunch *it = &launches[bits];
          bits = (uint64_t)it->grid[0] * it->grid[1] * it->grid[2] * it->block[0] * it->block[1] *
                 it->block[2];
        }
      keys[row] = bits < UINT64_MAX ? bits + 1 : bits;
    }
}

uint64_t *
lns_event_keys_new (const LnsEventSet *set, LnsEventColumn column)
{
  uint64_t *keys = g_try_new0 (uint64_t, MAX (set->n, 1));
  if (keys == NULL)
    return NULL;
  switch (column)
    {
    case LNS_EVENT_COLUMN_NUMBER:
      for (uint32_t row = 0; row < set->n; row++)
        keys[row] = row;
      break;
    case LNS_EVENT_COLUMN_START:
      for (uint32_t row = 0; row < set->n; row++)
        keys[row] = lns_event_key_int (lns_event_set_start (set, row));
      break;
    case LNS_EVENT_COLUMN_DURATION:
      for (uint32_t row = 0; row < set->n; row++)
        keys[row] = lns_event_key_int (lns_event_set_duration (set, row));
      break;
    case LNS_EVENT_COLUMN_NAME:
      for (uint32_t row = 0; row < set->n; row++)
        keys[row] = set->name[row];
      break;
    case LNS_EVENT_COLUMN_THREAD:
      fill_threads (set, keys);
      break;
    case LNS_EVENT_COLUMN_CATEGORY:
      fill_categories (set, keys);
      break;
    case LNS_EVENT_COLUMN_BYTES:
      fill_values (set, LNS_EVENT_SET_BYTES, keys);
      break;
    case LNS_EVENT_COLUMN_SHAPE:
      fill_values (set, LNS_EVENT_SET_LAUNCH, keys);
      break;
    case LNS_EVENT_COLUMN_OPERATIONS:
      fill_values (set, LNS_EVENT_SET_OPERATIONS, keys);
      break;
    case LNS_EVENT_COLUMN_RESULT:
      fill_values (set, LNS_EVENT_SET_RESULT, keys);
      break;
    case LNS_EVENT_COLUMN_PAYLOAD:
      fill_payloads (set, keys);
      break;
    default:
      fill_lanes (set, column, NULL, keys);
      break;
    }
  return keys;
}
