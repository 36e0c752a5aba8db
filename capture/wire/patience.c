/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/patience.h"

#include "lns-config.h"

#include <stdlib.h>

#define SECOND_NS INT64_C (1000000000)

/* 1 to 100. strtol() would be one more import of the injected library. */
static int
read_factor (void)
{
  int factor = 0;
#ifdef LNS_TEST_BUILD
  const char *text = getenv ("LNS_TEST_PATIENCE");
  for (; text != NULL && *text >= '0' && *text <= '9' && factor <= 100; text++)
    factor = 10 * factor + (*text - '0');
#endif
  return factor < 1 ? 1 : factor > 100 ? 100 : factor;
}

LnsPatience
lns_patience (void)
{
  const int factor = read_factor ();
  return (LnsPatience){
    .handshake_ms = 1000 * factor,
    .long_handshake_ms = 5000 * factor,
    .exit_ms = 500 * factor,
    .finish_ms = 2000 * factor,
    .flush_ns = 2 * SECOND_NS * factor,
    .late_samples_ns = 2 * SECOND_NS * factor,
    .drain_ns = SECOND_NS * 2 / 5 * factor,
    .sampler_begin_ns = 5 * SECOND_NS * factor,
    .sampler_end_ns = SECOND_NS / 2 * factor,
  };
}
