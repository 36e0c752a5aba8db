/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Bytes that events refer to: a name or a typed payload. They are counted by reference, as a stream's string table
 * and open ranges hold them. Used by one thread. */

#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct
{
  uint32_t n_refs;
  uint32_t report; /* serial of the report in which `id` is valid; 0: none yet */
  uint32_t id;     /* string id in that report */
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
