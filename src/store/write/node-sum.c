/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/node-sum.h"

#include <math.h>

static void
add_time (LnsNodeSum *sum, uint64_t key, int64_t time_ns)
{
  unsigned i = 0;
  while (i < sum->n_keys && sum->keys[i] != key)
    i++;
  if (i == sum->n_keys)
    {
      sum->keys[i] = key;
      sum->times_ns[i] = 0;
      sum->n_keys++;
    }
  sum->times_ns[i] += time_ns;
}

/* Makes the time between NODE's end and START_NS its hole, if that is the longest. */
static void
add_hole (LnsNode *node, int64_t start_ns)
{
  if (start_ns - node->end_ns <= node->hole_ns)
    return;
  node->hole_ns = start_ns - node->end_ns;
  node->hole_at_ns = node->end_ns - node->start_ns;
}

void
lns_node_sum_add_event (LnsNodeSum *sum, const LnsEvent *event, uint32_t color)
{
  LnsNode *node = &sum->node;
  if (sum->n_children == 0)
    *node = (LnsNode){ .start_ns = event->start_ns, .longest_ns = -1 };
  else
    add_hole (node, event->start_ns);
  if (event->duration_ns > node->longest_ns)
    {
      node->longest_ns = event->duration_ns;
      node->longest_at = sum->n_children;
    }
  node->end_ns = event->start_ns + event->duration_ns;
  node->busy_ns += event->duration_ns;
  node->flags |= event->flags;
  add_time (sum, (uint64_t)event->name << 32 | color,
            event->duration_ns > 0 ? event->duration_ns : 1);
  sum->n_children++;
  sum->n_events++;
}

static bool
is_nan (LnsPayloadType type, uint64_t value)
{
  return (type == LNS_PAYLOAD_DOUBLE || type == LNS_PAYLOAD_FLOAT) &&
         isnan (lns_payload_number (type, value));
}

static bool
is_less (LnsPayloadType type, uint64_t a, uint64_t b)
{
  switch (type)
    {
    case LNS_PAYLOAD_DOUBLE:
    case LNS_PAYLOAD_FLOAT:
      return lns_payload_number (type, a) < lns_payload_number (type, b);
    case LNS_PAYLOAD_INT64:
      return (int64_t)a < (int64_t)b;
    case LNS_PAYLOAD_INT32:
      return (int32_t)a < (int32_t)b;
    case LNS_PAYLOAD_UINT32:
      return (uint32_t)a < (uint32_t)b;
    default:
      return a < b;
    }
}

/* Widens min and max to LOW and HIGH. A number replaces NaN; NaN replaces nothing. */
static void
add_extremes (LnsNode *node, LnsPayloadType type, uint64_t low, uint64_t high)
{
  if (is_nan (type, node->min) || is_less (type, low, node->min))
    node->min = low;
  if (is_nan (type, node->max) || is_less (type, node->max, high))
    node->max = high;
}

void
lns_node_sum_add_sample (LnsNodeSum *sum,
                         const LnsEvent *event,
                         LnsPayloadType type,
                         uint64_t value)
{
  LnsNode *node = &sum->node;
  if (sum->n_children == 0)
    *node = (LnsNode){ .start_ns = event->start_ns, .min = value, .max = value };
  node->end_ns = event->start_ns + event->duration_ns;
  node->busy_ns += event->duration_ns;
  node->flags |= event->flags;
  node->last = value;
  add_extremes (node, type, value, value);
  sum->n_children++;
  sum->n_events++;
}

void
lns_node_sum_add_node (LnsNodeSum *sum, const LnsNodeSum *child, LnsPayloadType type)
{
  LnsNode *node = &sum->node;
  if (sum->n_children == 0)
    *node = (LnsNode){ .start_ns = child->node.start_ns,
                       .longest_ns = -1,
                       .min = child->node.min,
                       .max = child->node.max };
  else
    add_hole (node, child->node.start_ns);
  if (child->node.hole_ns > node->hole_ns)
    {
      node->hole_ns = child->node.hole_ns;
      node->hole_at_ns = child->node.start_ns - node->start_ns + child->node.hole_at_ns;
    }
  if (child->node.longest_ns > node->longest_ns)
    {
      node->longest_ns = child->node.longest_ns;
      node->longest_at = sum->n_events + child->node.longest_at;
    }
  node->end_ns = child->node.end_ns;
  node->busy_ns += child->node.busy_ns;
  node->flags |= child->node.flags;
  node->last = child->node.last;
  if (type != LNS_PAYLOAD_NONE)
    add_extremes (node, type, child->node.min, child->node.max);
  else
    add_time (sum, (uint64_t)child->node.name << 32 | child->node.color, child->dominant_ns);
  sum->n_children++;
  sum->n_events += child->n_events;
}

void
lns_node_sum_finish (LnsNodeSum *sum)
{
  unsigned dominant = 0;
  if (sum->n_keys == 0)
    return;
  for (unsigned i = 1; i < sum->n_keys; i++)
    if (sum->times_ns[i] > sum->times_ns[dominant])
      dominant = i;
  sum->node.name = (uint32_t)(sum->keys[dominant] >> 32);
  sum->node.color = (uint32_t)sum->keys[dominant];
  sum->dominant_ns = sum->times_ns[dominant];
}
