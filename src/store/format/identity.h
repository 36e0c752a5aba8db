/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Identifies the process that writes a report, as distinct from a later process with the same pid and from processes of
 * other boots and machines. */

#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define LNS_IDENTITY_SIZE 96

/* Fills RET_TEXT with "boot-id pid start-time" of the running process PID. Returns false if there is no such process, it
 * is a zombie, or /proc cannot be read. */
bool lns_identity_of (pid_t pid, char ret_text[LNS_IDENTITY_SIZE]);

/* Whether the process that TEXT identifies, made by lns_identity_of (), still runs on this machine in this boot. False for
 * any other text. */
bool lns_identity_lives (const char *text);
