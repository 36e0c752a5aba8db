/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The language of what Lanescope says to people. Messages are written in English; po/LANGUAGE.po has them in others,
 * which are built into the program. What programs read, and what is stored in reports, stays English.
 *
 * gettext() of glibc is used only in the viewer's windows, because a static program cannot rely on it: setlocale() needs
 * the machine's locale files in the format of our own glibc, and bare containers have none. So the language is read from
 * the variables that gettext(3) reads, and nothing else is needed to speak it. Any thread may call these functions. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Marks a message with values whose sentences are stored, and translated when they are shown. */
#define LNS_SENTENCE(text) text

#ifndef N_             /* as in <glib/gi18n.h>, which comes first where both are included */
# define N_(text) text /* a message that is translated where it is shown */
#endif

/* TEXT, a message in English, in the person's language; TEXT itself if there is no translation, or if the locale's letters
 * are not UTF-8. Static as TEXT is. O(log messages). */
const char *lns_text (const char *text) __attribute__ ((format_arg (1)));

/* SENTENCE, which was made of a message by filling in values, in the person's language: diagnostics are stored in English
 * and translated when they are shown. "%2$s" in a translation is the second value of the message; values may be left out.
 * Sentences of over 4 KiB stay English. Owned (free ()). O(messages). */
char *lns_text_of_sentence (const char *sentence) __attribute__ ((warn_unused_result));

/* The same in the ROOM > 0 bytes at RET_TEXT, cut if it does not fit. Allocates nothing. */
void lns_text_copy_sentence (char *ret_text, size_t room, const char *sentence);

/* Whether lns_text() changes nothing in this thread from now on: IS_ENGLISH. Returns what held before. */
bool lns_text_in_english (bool is_english);

/* From now on lns_text() changes nothing in this thread: for one whose errors are stored in reports. */
void lns_text_stay_english (void);

/* Replaces quotation marks, dashes and the like in TEXT by those of ASCII, if the locale's letters are not UTF-8.
 * In place: none of them grows. */
void lns_text_make_plain (char *text);
