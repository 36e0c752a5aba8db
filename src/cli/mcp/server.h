/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A server of the Model Context Protocol on standard input and output. It speaks 2026-07-28, whose requests each say their version, and the
 * earlier ones that begin with `initialize`.
 *
 * The main thread reads and answers what needs no report; a worker runs the tools, one call after the other, so that a call can be
 * cancelled while it runs. */

#pragma once

#include "src/base/error.h"

/* Serves until standard input ends and what was asked before is answered, or until SIGINT, SIGTERM or SIGHUP. Only the main thread,
 * before there are others. False and ERROR if standard input cannot be read or standard output not be written. */
bool lns_mcp_serve (LnsError *error);
