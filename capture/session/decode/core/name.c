/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/core/name.h"

#include <stdlib.h>
#include <string.h>

LnsName *
lns_name_alloc (uint32_t n_bytes)
{
  LnsName *name = malloc (sizeof *name + n_bytes);
  if (name != NULL)
    *name = (LnsName){ .n_refs = 1, .n_bytes = n_bytes };
  return name;
}

LnsName *
lns_name_new (const void *bytes, uint32_t n_bytes)
{
  LnsName *name = lns_name_alloc (n_bytes);
  if (name != NULL && n_bytes > 0)
    memcpy (name->bytes, bytes, n_bytes);
  return name;
}

LnsName *
lns_name_ref (LnsName *name)
{
  if (name != NULL)
    name->n_refs++;
  return name;
}

void
lns_name_unref (LnsName *name)
{
  if (name != NULL && --name->n_refs == 0)
    free (name);
}
