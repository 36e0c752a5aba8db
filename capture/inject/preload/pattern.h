/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Regular expressions for command lines, in time that grows with the product of the lengths of pattern and text, whatever the
 * two are: they run in the constructor of every program of a pod, and on text that anybody may send to the injector
 * (data/kubernetes), which loads this library for them, so that both agree. They allocate nothing and use 32 KiB of stack.
 *
 * Known are ^ $ . [abc] [^a-z] \d \D \w \W \s \S \b \B \t \n \r, a backslash before punctuation, groups (…) and (?:…), |,
 * * + ? {m} {m,} {m,n}, also followed by a ? without effect, and (?=…) and (?!…) outside one another. What Perl and Python
 * know beyond that is refused. A dot is any byte, and text is bytes. */

#pragma once

#include <stddef.h>

/* A pattern may have this many bytes. */
#define LNS_PATTERN_MAX_BYTES 1024

#define LNS_PATTERN_EXPORT __attribute__ ((visibility ("default")))

/* What is wrong with PATTERN: a static text in English; NULL if it is good. Any thread. */
LNS_PATTERN_EXPORT const char *lns_pattern_problem (const char *pattern);

/* Whether PATTERN is found anywhere in the N_BYTES at TEXT: 1 or 0; 0 with a pattern that has a problem, or if a
 * (?=…) or (?!…) has it take more than 20 million steps. Any thread. */
LNS_PATTERN_EXPORT int lns_pattern_is_in (const char *pattern, const char *text, size_t n_bytes);
