/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads --keep-steps and --steps, and names of ranges as --nvtx-capture has them. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "capture/session/decode/core/step-rule.h"
#include "src/base/error.h"

/* Splits GIVEN, "RANGE", "RANGE@DOMAIN" or "RANGE@*" with \@ for an @ of a name, into RET_RANGE and RET_DOMAIN, of SIZE bytes each.
 * SWITCH_NAME is the switch that it is from, for errors. */
bool lns_range_name_parse (const char *switch_name,
                           const char *given,
                           char *ret_range,
                           char *ret_domain,
                           size_t size,
                           LnsError *error);

/* Reads the condition of --keep-steps, "duration > p95", "duration > 2 * p95" or "duration > 20ms", and the range of --steps (NULL: it
 * is to be found). */
bool lns_keep_steps_parse (const char *condition,
                           const char *steps,
                           LnsStepRule *ret_rule,
                           LnsError *error);
