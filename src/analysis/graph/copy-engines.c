/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/copy-engines.h"

/* Copies that are at work together for less than this are not: clocks and records differ by as much. */
#define CLOCK_NS INT64_C (2000)

/* CUpti_ActivityMemcpyKind. */
enum
{
  COPY_HTOD = 1,
  COPY_DTOH
};

/* The engine of copies of MORE to or from DEVICE, or NULL: they need none. */
static LnsCopyEngine *
engine_of (LnsCopyEngines *engines, uint32_t device, uint32_t more)
{
  const uint32_t kind = more & 0xff;

  if (kind != COPY_HTOD && kind != COPY_DTOH)
    return NULL;
  for (size_t i = 0; i < engines->engines.n; i++)
    if (engines->engines.items[i].device == device && engines->engines.items[i].kind == kind)
      return &engines->engines.items[i];
  LnsCopyEngine *engine = lns_array_add (&engines->engines);
  *engine = (LnsCopyEngine){ .device = device, .kind = kind, .busy_to_ns = INT64_MIN };
  return engine;
}

void
lns_copy_engines_clear (LnsCopyEngines *engines)
{
  for (size_t i = 0; i < engines->engines.n; i++)
    lns_array_clear (&engines->engines.items[i].points);
  lns_array_clear (&engines->engines);
}

const LnsEnded *
lns_copy_engines_begin (LnsCopyEngines *engines,
                        uint32_t device,
                        uint32_t more,
                        uint32_t stream,
                        int64_t start_ns,
                        int64_t end_ns)
{
  LnsCopyEngine *engine = engine_of (engines, device, more);

  if (engine == NULL)
    return NULL;
  engine->is_parallel |=
      engine->busy_to_ns != INT64_MIN && engine->busy_to_ns - CLOCK_NS > start_ns;
  engine->busy_to_ns = end_ns > engine->busy_to_ns ? end_ns : engine->busy_to_ns;
  return engine->has_last && engine->stream != stream && !engine->is_parallel ? &engine->last
                                                                              : NULL;
}

void
lns_copy_engines_end (
    LnsCopyEngines *engines, uint32_t device, uint32_t more, uint32_t stream, const LnsEnded *ended)
{
  LnsCopyEngine *engine = engine_of (engines, device, more);

  if (engine == NULL)
    return;
  engine->has_last = true;
  engine->last = *ended;
  engine->stream = stream;
}

void
lns_copy_engines_set_point (LnsCopyEngines *engines, uint32_t device, uint32_t more, uint32_t point)
{
  LnsCopyEngine *engine = engine_of (engines, device, more);

  if (engine != NULL)
    *lns_array_add (&engine->points) = point;
}

void
lns_copy_engines_settle (LnsCopyEngines *engines, LnsGraph *graph)
{
  for (size_t i = 0; i < engines->engines.n; i++)
    {
      const LnsCopyEngine *engine = &engines->engines.items[i];
      for (size_t k = 0; engine->is_parallel && k < engine->points.n; k++)
        {
          const uint32_t point = engine->points.items[k];
          graph->source[point] = LNS_POINT_NONE;
          graph->marks[point] = LNS_EDGE_NONE;
        }
    }
}
