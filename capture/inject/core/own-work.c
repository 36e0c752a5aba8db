/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/own-work.h"
#include "capture/inject/core/system.h"

static __thread bool goes_on;

void
lns_own_work_begin (void)
{
  goes_on = true;
  lns_mark_own (LNS_WIRE_OWN_BEGIN);
}

void
lns_own_work_end (void)
{
  lns_mark_own (LNS_WIRE_OWN_END);
  goes_on = false;
}

bool
lns_own_work_goes_on (void)
{
  return goes_on;
}
