/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* NVTX as a source of records. */

#pragma once

#include "capture/session/decode/core/source.h"
#include "capture/session/decode/nvtx/domain-filter.h"

extern const LnsDecoderOps _lns_nvtx_ops;

/* Leaves out the events of domains that the filter excludes, if they are named from now on. */
void _lns_nvtx_set_filter (LnsDecoder *decoder, const LnsDomainFilter *filter);
