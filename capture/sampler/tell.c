/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/sampler/tell.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void
lns_sampler_tell (const void *message, size_t n_bytes)
{
  while (send (LNS_WIRE_GPU_SOCKET, message, n_bytes, MSG_NOSIGNAL) < 0)
    if (errno != EINTR)
      _exit (0);
}

void
lns_sampler_tell_failure (
    LnsWireGpuCause cause, uint32_t gpu, const char *bus, int result, const char *text)
{
  LnsWireGpuFailure failure = { .head = { LNS_WIRE_GPU_FAILURE, gpu },
                                .cause = cause,
                                .result = result };
  snprintf (failure.bus, sizeof failure.bus, "%s", bus);
  snprintf (failure.text, sizeof failure.text, "%s", text);
  lns_sampler_tell (&failure, sizeof failure);
}

int64_t
lns_sampler_now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}
