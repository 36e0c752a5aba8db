/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* liblanescope-pod.so is preloaded (LD_PRELOAD) into the processes of a container that the injector of data/kubernetes has
 * changed. A process whose command line matches the pattern of the variable below becomes `lanescope pod-run` with the same
 * words, before its own code has run; all others go on as they are. So entry points of images are reached, which the injector
 * does not see. It also has the pattern's functions, which the injector loads.
 *
 * It needs nothing but the C library, glibc as of 2.17 or musl. */

#pragma once

/* The regular expression for command lines: the words of a process with a blank between them. */
#define LNS_POD_MATCH "LANESCOPE_POD_MATCH"
/* The path of lanescope. */
#define LNS_POD_TOOL "LANESCOPE_POD_TOOL"
/* The switches for lanescope, as in a shell. Read by `lanescope pod-run`. */
#define LNS_POD_SWITCHES "LANESCOPE_POD_SWITCHES"
/* Set if the containers of the pod share their processes: the first process of one cannot be told from those that probes and
 * `kubectl exec` start. */
#define LNS_POD_SHARED "LANESCOPE_POD_SHARED"
/* How many bytes the report may have; not set or empty: any number. Read by `lanescope pod-run`. */
#define LNS_POD_REPORT_BYTES "LANESCOPE_POD_REPORT_BYTES"
/* The file of the program that became `lanescope pod-run`. */
#define LNS_POD_EXECUTABLE "LANESCOPE_POD_EXECUTABLE"

#define LNS_POD_LIBRARY "liblanescope-pod.so"
