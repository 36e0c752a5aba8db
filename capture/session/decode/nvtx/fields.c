/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/nvtx/fields.h"

#include <string.h>
#include <time.h>

/* NVTX_PAYLOAD_ENTRY_TYPE_* of nvToolsExtPayload.h, as far as they are numbers of up to 64 bits on
 * 64-bit Linux. */
static const LnsNumberType number_types[] = {
  [1] = { 1, LNS_PAYLOAD_INT64 },   [2] = { 1, LNS_PAYLOAD_UINT64 },
  [3] = { 2, LNS_PAYLOAD_INT64 },   [4] = { 2, LNS_PAYLOAD_UINT64 },
  [5] = { 4, LNS_PAYLOAD_INT64 },   [6] = { 4, LNS_PAYLOAD_UINT64 },
  [7] = { 8, LNS_PAYLOAD_INT64 },   [8] = { 8, LNS_PAYLOAD_UINT64 },
  [9] = { 8, LNS_PAYLOAD_INT64 },   [10] = { 8, LNS_PAYLOAD_UINT64 },
  [11] = { 1, LNS_PAYLOAD_INT64 },  [12] = { 1, LNS_PAYLOAD_UINT64 },
  [13] = { 2, LNS_PAYLOAD_INT64 },  [14] = { 2, LNS_PAYLOAD_UINT64 },
  [15] = { 4, LNS_PAYLOAD_INT64 },  [16] = { 4, LNS_PAYLOAD_UINT64 },
  [17] = { 8, LNS_PAYLOAD_INT64 },  [18] = { 8, LNS_PAYLOAD_UINT64 },
  [19] = { 4, LNS_PAYLOAD_FLOAT },  [20] = { 8, LNS_PAYLOAD_DOUBLE },
  [22] = { 8, LNS_PAYLOAD_UINT64 }, [23] = { 8, LNS_PAYLOAD_UINT64 },
  [32] = { 1, LNS_PAYLOAD_UINT64 }, [43] = { 4, LNS_PAYLOAD_FLOAT },
  [44] = { 8, LNS_PAYLOAD_DOUBLE },
};

const LnsNumberType *
_lns_nvtx_number_type (uint64_t type)
{
  return &number_types[type < sizeof number_types / sizeof *number_types ? type : 0];
}

uint64_t
_lns_nvtx_read_number (const LnsNumberType *type, const uint8_t *bytes)
{
  uint64_t bits = 0;
  memcpy (&bits, bytes, type->n_bytes);
  if (type->type == LNS_PAYLOAD_INT64 && type->n_bytes < 8 && bits >> (type->n_bytes * 8 - 1))
    bits |= UINT64_MAX << (type->n_bytes * 8);
  return bits;
}

/* --- Times ------------------------------------------------------------------------------------ */

/* NVTX_TIMESTAMP_TYPE_* of nvToolsExtPayload.h. */
enum
{
  CLOCK_OF_TOOL = 1,
  CLOCK_TSC = 10,
  CLOCK_REAL = 12,
  CLOCK_REAL_COARSE = 13,
  CLOCK_MONO = 14,
  CLOCK_MONO_RAW = 15,
  CLOCK_MONO_COARSE = 16,
  CLOCK_BOOT = 17,
  CLOCK_TIMESPEC_GET = 42,
  CLOCK_CPP_STEADY = 50,
  CLOCK_CPP_HIGH_RESOLUTION = 51, /* of libstdc++: the system clock */
  CLOCK_CPP_SYSTEM = 52,
  FIRST_TIME_DOMAIN = 1 << 24,
};

/* How much CLOCK is ahead of CLOCK_MONOTONIC now. */
static int64_t
ahead_ns (clockid_t clock)
{
  struct timespec its, ours;
  clock_gettime (clock, &its);
  clock_gettime (CLOCK_MONOTONIC, &ours);
  return (its.tv_sec - ours.tv_sec) * INT64_C (1000000000) + its.tv_nsec - ours.tv_nsec;
}

bool
_lns_nvtx_foreign_ns (LnsDecoder *decoder,
                      const LnsDecodedDomain *domain,
                      uint64_t time_domain,
                      int64_t time,
                      int64_t *ret_ns)
{
  LnsClockLine *line = &decoder->clock;
  const LnsWireClockPair *last = &line->pairs[line->n - 1];
  if (time_domain >= FIRST_TIME_DOMAIN)
    time_domain = (uintptr_t)lns_id_map_get (&domain->clocks, time_domain);
  switch (time_domain)
    {
    case CLOCK_TSC:
      if (last->ticks == (uint64_t)last->monotonic_ns)
        return false; /* the session's clock is another one */
      *ret_ns = lns_clock_line_ns (line, (uint64_t)time);
      return true;
    case CLOCK_OF_TOOL:
      *ret_ns = lns_clock_line_ns (line, (uint64_t)time);
      return true;
    case CLOCK_MONO:
    case CLOCK_MONO_COARSE:
    case CLOCK_CPP_STEADY:
      break;
    case CLOCK_REAL:
    case CLOCK_REAL_COARSE:
    case CLOCK_TIMESPEC_GET:
    case CLOCK_CPP_HIGH_RESOLUTION:
    case CLOCK_CPP_SYSTEM:
      time = (int64_t)((uint64_t)time - (uint64_t)(last->realtime_ns - last->monotonic_ns));
      break;
    case CLOCK_MONO_RAW:
      time = (int64_t)((uint64_t)time - (uint64_t)ahead_ns (CLOCK_MONOTONIC_RAW));
      break;
    case CLOCK_BOOT:
      time = (int64_t)((uint64_t)time - (uint64_t)ahead_ns (CLOCK_BOOTTIME));
      break;
    default:
      return false;
    }
  *ret_ns = (int64_t)((uint64_t)time - (uint64_t)line->t0_ns);
  return *ret_ns <= lns_clock_line_last_ns (line) && *ret_ns > INT64_MIN / 4;
}
