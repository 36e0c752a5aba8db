/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/scale.h"

#include <math.h>

__extension__ typedef __int128 Wide;

static int64_t
saturate (Wide value)
{
  if (value > INT64_MAX)
    return INT64_MAX;
  return value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static Wide
divide_down (Wide a, Wide b)
{
  Wide quotient = a / b;
  return quotient - (a % b < 0);
}

static int64_t
clamp_zoom (double ns_per_tile)
{
  if (ns_per_tile <= (double)LNS_NS_PER_TILE_MIN)
    return LNS_NS_PER_TILE_MIN;
  return ns_per_tile >= (double)LNS_NS_PER_TILE_MAX ? LNS_NS_PER_TILE_MAX : llround (ns_per_tile);
}

int64_t
lns_scale_px_of (const LnsScale *scale, int64_t time_ns)
{
  return saturate (divide_down ((Wide)time_ns * LNS_TILE_PX, scale->ns_per_tile));
}

int64_t
lns_scale_time_of (const LnsScale *scale, int64_t px)
{
  return saturate (divide_down ((Wide)px * scale->ns_per_tile, LNS_TILE_PX));
}

double
lns_scale_x_of (const LnsScale *scale, int64_t time_ns)
{
  Wide scaled = (Wide)time_ns * LNS_TILE_PX - (Wide)scale->first_px * scale->ns_per_tile;
  return (double)scaled / (double)scale->ns_per_tile;
}

void
lns_scale_zoom_to (LnsScale *scale, int64_t ns_per_tile, double x_px)
{
  int64_t zoom = ns_per_tile < LNS_NS_PER_TILE_MIN   ? LNS_NS_PER_TILE_MIN
                 : ns_per_tile > LNS_NS_PER_TILE_MAX ? LNS_NS_PER_TILE_MAX
                                                     : ns_per_tile;
  int64_t x = llround (x_px);
  Wide fixed = ((Wide)scale->first_px + x) * scale->ns_per_tile;
  scale->first_px = saturate (divide_down (fixed + zoom / 2, zoom) - x);
  scale->ns_per_tile = zoom;
}

void
lns_scale_zoom_by (LnsScale *scale, double factor, double x_px)
{
  int64_t zoom = clamp_zoom ((double)scale->ns_per_tile / factor);
  if (zoom == scale->ns_per_tile && factor != 1)
    zoom += factor > 1 ? -1 : 1;
  lns_scale_zoom_to (scale, zoom, x_px);
}

void
lns_scale_fit (LnsScale *scale, int64_t start_ns, int64_t end_ns, int width_px)
{
  Wide span = (Wide)end_ns - start_ns;
  Wide zoom = (span * LNS_TILE_PX + width_px - 1) / width_px;
  scale->ns_per_tile = clamp_zoom ((double)zoom);
  Wide middle = ((Wide)start_ns + end_ns) * LNS_TILE_PX / 2;
  scale->first_px = saturate (divide_down (middle, scale->ns_per_tile) - width_px / 2);
}
