/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a program prints that is not to be seen: its last bytes go into the report. They wait in files
 * without names, not in pipes, so that nobody has to read them for the program to go on, and it outlives
 * us. Used by one thread, but for lns_program_output_store (). */

#pragma once

#include "src/base/error.h"
#include "src/store/write/writer.h"

#define LNS_PROGRAM_OUTPUT_BYTES (256 << 10) /* of each that reports keep: its last ones */

typedef struct
{
  int fds[2]; /* the program's output and errors; -1: none */
} LnsProgramOutput;

/* What is nowhere. */
#define LNS_PROGRAM_OUTPUT_NOWHERE ((LnsProgramOutput){ { -1, -1 } })

/* Makes both files, in $TMPDIR or /tmp; where that cannot be, both are /dev/null, and ERROR says why. */
bool lns_program_output_open (LnsProgramOutput *output, LnsError *error);

/* Gives the disk back what no report will keep. To be called now and then. */
void lns_program_output_trim (const LnsProgramOutput *output);

/* Stores what there is in REPORT: meta values stdout.0, stdout.1, …, and stderr.0, …. Any thread. */
void lns_program_output_store (const LnsProgramOutput *output, LnsWriter *report);

void lns_program_output_close (LnsProgramOutput *output);
