/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The language of what commands say to people. Messages are written in English; po/LANGUAGE.po has them in others, which
 * are built into the program.
 *
 * gettext() of glibc is not used, because a static program cannot rely on it: setlocale() needs the machine's locale
 * files in the format of our own glibc, and bare containers have none. So the language is read from the variables that
 * gettext(3) reads, and nothing else is needed to speak it. Any thread may call these functions. */

#pragma once

/* TEXT, a message in English, in the person's language; TEXT itself where there is no translation, and where the
 * locale's letters are not UTF-8. Static as TEXT is. O(log messages). */
const char *lns_cli_text (const char *text) __attribute__ ((format_arg (1)));

#define _(text)  lns_cli_text (text)
#define N_(text) text /* marks a message that is translated where it is printed */

/* Replaces quotation marks, dashes and the like in TEXT by those of ASCII, where the locale's letters are not UTF-8.
 * In place: none of them grows. */
void lns_cli_plain_text (char *text);
