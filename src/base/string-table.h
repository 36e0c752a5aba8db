/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A map from byte strings to 32-bit ids, which the owner assigns. Equal bytes have equal ids. Open addressing; the table
 * copies the bytes into its own blocks. Not thread-safe. */

#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct LnsStringTable LnsStringTable;

/* NULL if memory runs out. */
LnsStringTable *lns_string_table_new (void) __attribute__ ((warn_unused_result));
void lns_string_table_free (LnsStringTable *table); /* NULL is fine */

/* The id of the SIZE_BYTES at BYTES, or ABSENT if they have none. O(size). */
uint32_t lns_string_table_find (const LnsStringTable *table,
                                const void *bytes,
                                size_t size_bytes,
                                uint32_t absent);

/* The id of the SIZE_BYTES at BYTES (any bytes, also NUL); if they have none they get NEW_ID. If memory runs out NEW_ID is
 * returned and not kept: equal bytes may then get two ids. Amortised O(size). */
uint32_t lns_string_table_intern (LnsStringTable *table,
                                  const void *bytes,
                                  size_t size_bytes,
                                  uint32_t new_id);
