/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The mark of messages that are translated at once, as xgettext(1) knows it. */

#pragma once

#include "src/base/language.h"

#define _(text) lns_text (text)
