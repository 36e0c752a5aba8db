/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Who writes a report: told apart from a later process with the same pid, and from one of another
 * boot or machine. */

#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define LNS_IDENTITY_SIZE 96

/* Fills RET_TEXT with "boot-id pid start-time" of process PID as it runs now. False where there is
 * no such process, it is a zombie, or /proc does not tell. */
bool lns_identity_of (pid_t pid, char ret_text[LNS_IDENTITY_SIZE]);

/* Whether the process that TEXT, made by lns_identity_of (), tells of still runs on this machine in
 * this boot. False for any other text. */
bool lns_identity_lives (const char *text);
