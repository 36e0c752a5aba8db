/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names of events, and the payloads that they have. */

#pragma once

#include <stdint.h>

/* Bytes that events refer to: a name or a typed payload. They are counted by reference, as a stream's string table
 * and open ranges hold them. */
typedef struct
{
  uint32_t n_refs;
  uint32_t report; /* serial of the report in which `id` is valid; 0: none yet */
  uint32_t id;     /* string id in that report */
  uint64_t key;    /* of the name without its numbers, 0: not asked for yet; see steps.c */
  uint32_t n_bytes;
  char bytes[]; /* not terminated */
} LnsName;

/* A name of N_BYTES, which the caller fills in. Returns NULL if memory is short. Free it with lns_name_unref (). */
LnsName *lns_name_alloc (uint32_t n_bytes);

/* Copies N_BYTES of BYTES. Returns NULL if memory is short. */
LnsName *lns_name_new (const void *bytes, uint32_t n_bytes);

/* Both accept NULL. lns_name_ref () returns NAME. */
LnsName *lns_name_ref (LnsName *name);
void lns_name_unref (LnsName *name);
