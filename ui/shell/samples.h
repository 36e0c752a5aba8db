/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The sample reports that come with Lanescope, for users who have none yet. */

#pragma once

#include <gio/gio.h>

/* The sample to show first, or NULL where none is installed: of those recorded on a GPU the first by
 * name, else the first. Owned by the caller. Reads one folder. */
GFile *lns_samples_first (void);
