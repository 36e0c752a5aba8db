/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* CUPTI's records of how GPUs are connected: by NVLink (kind 40) and by PCIe (kind 46). Those of NVLink are the only ones whose
 * fields moved: what follows the number of links depends on the version, which their size tells. */

#pragma once

#include <stdbool.h>

#include "capture/wire/cuda-layout.h"
#include "capture/wire/cupti-records.h"

/* CUpti_ActivityNvLink3, …4 and …5, up to where they differ, and what follows. */
typedef struct
{
  uint32_t kind, version, types[2];
  uint8_t ids[2][16];
  uint32_t flags, n_links;
} LnsCuptiLink;

typedef struct
{
  LnsCuptiLink link;
  int8_t ports[2][16];
  uint64_t bandwidth;
  uint8_t is_switched, padding[7];
} LnsCuptiLink3; /* up to CUDA 11.8 */

typedef struct
{
  LnsCuptiLink link;
  int8_t ports[2][32];
  uint64_t bandwidth;
  uint8_t is_switched, padding[7];
} LnsCuptiLink4; /* up to CUDA 13.1 */

typedef struct
{
  LnsCuptiLink link;
  uint32_t *ports[2]; /* of malloc (); freed by who gets the record */
  uint64_t bandwidth;
  uint8_t is_switched, padding[7];
} LnsCuptiLink5; /* since CUDA 13.2 */

_Static_assert(sizeof (LnsCuptiLink3) == 104, "as in CUPTI 11");
_Static_assert(sizeof (LnsCuptiLink4) == 136, "as in CUPTI 12.0 to 13.1");
_Static_assert(sizeof (LnsCuptiLink5) == 88, "as in CUPTI 13.2 to 13.5");
_Static_assert(sizeof (LnsCuptiLink4) == sizeof (CUpti_ActivityNvLink4), "as in CUPTI 13.0");
_Static_assert(offsetof (LnsCuptiLink4, ports) == offsetof (CUpti_ActivityNvLink4, portDev0),
               "its place");
_Static_assert(offsetof (LnsCuptiLink4, bandwidth) == offsetof (CUpti_ActivityNvLink4, bandwidth),
               "its place");
_Static_assert(sizeof (CUpti_ActivityPcie) == 168, "as in CUPTI 11.0 to 13.5");
#if CUPTI_API_VERSION >= 130200
_Static_assert(sizeof (LnsCuptiLink5) == sizeof (CUpti_ActivityNvLink5), "as in CUPTI 13.5");
_Static_assert(offsetof (LnsCuptiLink5, ports) == offsetof (CUpti_ActivityNvLink5, portDev0),
               "its place");
_Static_assert(offsetof (LnsCuptiLink5, bandwidth) == offsetof (CUpti_ActivityNvLink5, bandwidth),
               "its place");
#endif

/* Whether records of KIND that are N_BYTES long are known. */
static inline bool
lns_cupti_knows_topology (uint32_t kind, size_t n_bytes)
{
  return kind == LNS_CUPTI_NVLINK
             ? n_bytes == sizeof (LnsCuptiLink3) || n_bytes == sizeof (LnsCuptiLink4) ||
                   n_bytes == sizeof (LnsCuptiLink5)
             : kind == LNS_CUPTI_PCIE && n_bytes >= sizeof (CUpti_ActivityPcie);
}

/* Fills RET_RECORD with what the N_BYTES at FROM say, which are of either kind. LEFTOVERS: see LnsWireCuptiSink; NULL: pointers
 * are another process's. Returns false if they are not known. */
bool lns_wire_cupti_topology (const void *from,
                              size_t n_bytes,
                              void **leftovers,
                              LnsWireCudaTopologyBytes *ret_record);
