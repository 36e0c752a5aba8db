/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tracks of CUDA's threads, devices and streams. */

#pragma once

#include "capture/session/decode/cuda/definitions.h"

/* The track KIND for what is made: of a thread, of a device, of a stream or of the process; NULL if memory is short,
 * or the other is NULL. */
LnsDecodedTrack *
_lns_cuda_track_of (LnsEventMaker *maker, LnsTrackKind kind, LnsDecodedThread *thread);
LnsDecodedTrack *
_lns_cuda_track_at (LnsEventMaker *maker, LnsTrackKind kind, LnsDecodedDevice *device);
LnsDecodedTrack *
_lns_cuda_track_on (LnsEventMaker *maker, LnsTrackKind kind, LnsDecodedCudaStream *stream);
LnsDecodedTrack *_lns_cuda_track (LnsEventMaker *maker, LnsTrackKind kind);
