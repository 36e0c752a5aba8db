/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Bytes that events refer to: a name, or a typed payload. Shared by reference count, since a name
 * lives as long as the stream's string table or an open range holds it. Used by one thread. */

#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct
{
  uint32_t n_refs;
  uint32_t report; /* serial of the report that `id` is of; 0: of none yet */
  uint32_t id;     /* string id in that report */
  uint32_t n_bytes;
  char bytes[]; /* not terminated */
} LnsName;

/* A copy of N_BYTES of BYTES, held once; NULL if memory is short. To be freed with
 * lns_name_unref (). */
LnsName *lns_name_new (const void *bytes, uint32_t n_bytes);

/* Both accept NULL. lns_name_ref () returns NAME. */
LnsName *lns_name_ref (LnsName *name);
void lns_name_unref (LnsName *name);
