/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows of switch tables that several commands have. VALUES is the type of the command's values, which has a member for
 * each; TEXT is the help. */

#pragma once

#include "src/cli/options/options.h"

/* For `const char *output`. TEXT_OF_DEFAULT is the default, for people. */
#define LNS_CLI_OUTPUT(Values, text_of_default, text)                                              \
 {                                                                                                 \
  LNS_SWITCH ("output", TEXT, Values, output), .letter = 'o', .value_name = "PATH",                \
                                               .default_text = text_of_default, .help = text       \
 }

/* For `bool overwrite`. SHORT_FORM is its letter, or 0. */
#define LNS_CLI_OVERWRITE(Values, short_form, text)                                                \
 {                                                                                                 \
  LNS_SWITCH ("force-overwrite", BOOL, Values, overwrite), .letter = short_form,                   \
                                                           .default_text = "false", .help = text   \
 }

/* The report, as a switch: scripts for nsys name it so, too. */
#define LNS_CLI_INPUT                                                                              \
 {                                                                                                 \
  .name = "input", .kind = LNS_OPTION_WORD, .value_name = "REPORT",                                \
  .help = N_ ("Read REPORT. The switch may be left out.")                                          \
 }

/* For `bool quiet`. */
#define LNS_CLI_QUIET(Values, text)                                                                \
 {                                                                                                 \
  LNS_SWITCH ("quiet", FLAG, Values, quiet), .letter = 'q', .help = text                           \
 }
