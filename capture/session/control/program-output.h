/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Output of a program that is not shown (--show-output=false); its last bytes go into the report. It goes to files
 * without names rather than pipes: nobody has to read them for the program to go on, and the program may outlive
 * this process. Used by one thread, except for lns_program_output_store (). */

#pragma once

#include "src/base/error.h"
#include "src/store/write/writer.h"

#define LNS_PROGRAM_OUTPUT_BYTES (256 << 10) /* the last bytes of each stream that a report keeps */

typedef struct
{
  int fds[2]; /* the program's output and errors; -1: none */
} LnsProgramOutput;

/* No output. */
#define LNS_PROGRAM_OUTPUT_NOWHERE ((LnsProgramOutput){ { -1, -1 } })

/* Makes both files in $TMPDIR or /tmp. If that fails, both are /dev/null, and ERROR says why. */
bool lns_program_output_open (LnsProgramOutput *output, LnsError *error);

/* Frees the disk space of what no report will keep. Call it now and then. */
void lns_program_output_trim (const LnsProgramOutput *output);

/* Stores the output so far in REPORT, as the meta values stdout.0, stdout.1, … and stderr.0, …. Any thread. */
void lns_program_output_store (const LnsProgramOutput *output, LnsWriter *report);

void lns_program_output_close (LnsProgramOutput *output);
