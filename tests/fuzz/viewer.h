/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The viewer's requests to a report between opening and drawing it. */

#pragma once

/* Opens the report at PATH and asks all of it; ends the process as a command would where it cannot. */
void viewer_read (const char *path);
