/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cuda/calls.h"

#include "src/base/call-text.h"

#include <string.h>

#ifdef LNS_HAVE_CUPTI

# include "lns-cuda-call-names-generated.h"
# include "lns-cuda-calls-generated.h"

const char *
_lns_cuda_call_name (bool is_runtime, uint32_t cbid)
{
  const char *name = cbid < LNS_WIRE_CUPTI_CALLS ? lns_cuda_call_names[is_runtime][cbid] : NULL;
  const char *public_name = name != NULL ? lns_call_text_public (name, strlen (name)) : NULL;
  return public_name != NULL ? public_name : name;
}

static void
add_role (uint8_t (*inout_roles)[LNS_WIRE_CUPTI_CALLS], const LnsCudaCall *calls, uint8_t role)
{
  for (; calls->cbid != 0; calls++)
    inout_roles[calls->is_runtime][calls->cbid % LNS_WIRE_CUPTI_CALLS] |= role;
}

void
_lns_cuda_add_roles (uint8_t (*inout_roles)[LNS_WIRE_CUPTI_CALLS])
{
  add_role (inout_roles, lns_cuda_single_launches, LNS_WIRE_CUDA_CALL_LAUNCH);
  add_role (inout_roles, lns_cuda_captures, LNS_WIRE_CUDA_CALL_CAPTURE);
  add_role (inout_roles, lns_cuda_captured, LNS_WIRE_CUDA_CALL_CAPTURED);
}

#else

const char *
_lns_cuda_call_name (bool is_runtime, uint32_t cbid)
{
  return NULL;
}

void
_lns_cuda_add_roles (uint8_t (*inout_roles)[LNS_WIRE_CUPTI_CALLS])
{
}

#endif
