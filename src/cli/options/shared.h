/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows of option tables that several commands have. VALUES is the type of the command's values, which
 * has a member for each; the texts are those of --help. */

#pragma once

#include "src/cli/options/options.h"

/* const char *output; TEXT_OF_DEFAULT says where to without it */
#define LNS_CLI_OUTPUT(Values, text_of_default, text)                                              \
 {                                                                                                 \
  LNS_SWITCH ("output", TEXT, Values, output), .letter = 'o', .value_name = "PATH",                \
                                               .default_text = text_of_default, .help = text       \
 }

/* bool overwrite; a SHORT_FORM of 0 is none */
#define LNS_CLI_OVERWRITE(Values, short_form, text)                                                \
 {                                                                                                 \
  LNS_SWITCH ("force-overwrite", BOOL, Values, overwrite), .letter = short_form,                   \
                                                           .default_text = "false", .help = text   \
 }

/* bool quiet */
#define LNS_CLI_QUIET(Values, text)                                                                \
 {                                                                                                 \
  LNS_SWITCH ("quiet", FLAG, Values, quiet), .letter = 'q', .help = text                           \
 }
