/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The content of the report that known-cuda.c writes, for the tests that expect it. */

#pragma once

#include <stdint.h>

#define LNS_KNOWN_US      INT64_C (1000)
#define LNS_KNOWN_STEP_NS (1200 * LNS_KNOWN_US)
#define LNS_KNOWN_STEPS   1000
#define LNS_KNOWN_IDS     20 /* correlation ids a step: kernel k's is 1 + k                         */
#define LNS_KNOWN_KERNELS 11
#define LNS_KNOWN_GRAPH_ID                                                                         \
 (UINT64_C (1) << 40) /* correlation of a call that began 100 kernels      */
#define LNS_KNOWN_RED 0xffcc2222

static const struct
{
  const char *name, *short_name;
} lns_known_kernels[LNS_KNOWN_KERNELS] = {
  { "volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn" },
  { "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int, float)",
    "vectorized_elementwise_kernel" },
  { "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, 512>(float*, int)", "bn_fw_tr_1C11_kernel_NCHW" },
  { "void at::native::reduce_kernel<512, 1>(float*)", "reduce_kernel" },
  { "void softmax_warp_forward<float, 8>(float*, float const*)", "softmax_warp_forward" },
  { "void im2col_kernel<float>(float*, int)", "im2col_kernel" },
  { "void at::native::max_pool_forward_nchw<float>(int, float*)", "max_pool_forward_nchw" },
  { "void CatArrayBatchedCopy<float, 4>(float*)", "CatArrayBatchedCopy" },
  { "fill_kernel(float*, float)", "fill_kernel" },
  { "void tiny_kernel<int>(int*)", "tiny_kernel" },
  { "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL" },
};
