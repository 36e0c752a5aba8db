/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The processes to which `attach` attached, until they have ended. They are not children of this process. */

#pragma once

#include "capture/session/system/process-list.h"
#include "src/cli/profile/profile.h"

/* Watches the ends of PIDS. False with ERROR if descriptors are short. */
bool lns_attached_watch (LnsAttached *attached, const LnsPids *pids, LnsError *error);

/* Whether all of them have ended. Also makes `fd` unreadable until another one ends. */
bool lns_attached_have_ended (LnsAttached *attached);

void lns_attached_clear (LnsAttached *attached);
