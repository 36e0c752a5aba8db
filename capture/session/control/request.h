/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What one terminal asks of a session that another one owns: a command with its switches, answered
 * with an exit code and the text to print. */

#pragma once

#include "capture/session/control/place.h"

typedef struct
{
  int fd;       /* who asks; -1: nobody waits for an answer */
  char *bytes;  /* owned: FOLDER NUL ARGUMENT NUL … */
  char *folder; /* where it was asked, in `bytes` as the next */
  char **argv;  /* owned; NULL-terminated */
  int argc;
} LnsSessionRequest;

/* Packs the ARGC arguments at ARGV, asked in this process's folder. Owned by the caller; NULL and ERROR
 * where memory is short or the folder is gone. */
char *lns_session_request_pack (char *const *argv, int argc, size_t *ret_n_bytes, LnsError *error);

/* Takes over the N_BYTES of BYTES. False where they are no request. */
bool lns_session_request_unpack (LnsSessionRequest *request, char *bytes, size_t n_bytes);

/* Sends N_BYTES to the owner of ENTRY and waits for its answer: the text (owned by the caller) and the
 * exit code. False and ERROR where nobody listens there any more, or the owner dies meanwhile. */
bool lns_session_request_send (const LnsSessionEntry *entry,
                               const char *bytes,
                               size_t n_bytes,
                               int *ret_code,
                               char **ret_text,
                               LnsError *error);

/* Takes the next request off SOCKET_FD. False where there is none, or it comes from another user. Waits
 * up to a second for one who connects and does not speak. */
bool lns_session_request_receive (int socket_fd, LnsSessionRequest *ret_request);

/* Answers, if somebody waits, and clears REQUEST. */
void lns_session_request_answer (LnsSessionRequest *request, int code, const char *text);
