/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A request from one terminal to a session that another one owns: a command with its switches. The answer is an
 * exit code and the text to print. */

#pragma once

#include "capture/session/control/place.h"

typedef struct
{
  int fd;       /* the connection of the asking process; -1: nobody waits for an answer */
  char *bytes;  /* owned: FOLDER NUL ARGUMENT NUL … */
  char *folder; /* the asking process's folder, in `bytes` as the next */
  char **argv;  /* owned; NULL-terminated */
  int argc;
} LnsSessionRequest;

/* Packs the ARGC arguments at ARGV and this process's folder. The result is the caller's. Returns NULL and ERROR
 * if the folder is gone. */
char *lns_session_request_pack (char *const *argv, int argc, size_t *ret_n_bytes, LnsError *error);

/* Takes over the N_BYTES of BYTES. Returns false if they are not a valid request. */
bool lns_session_request_unpack (LnsSessionRequest *request, char *bytes, size_t n_bytes);

/* Sends N_BYTES to the owner of ENTRY and waits for its answer: an exit code and a text, owned by the caller.
 * Returns false and ERROR if nobody listens or the owner dies meanwhile. */
bool lns_session_request_send (const LnsSessionEntry *entry,
                               const char *bytes,
                               size_t n_bytes,
                               int *ret_code,
                               char **ret_text,
                               LnsError *error);

/* Takes the next request from SOCKET_FD. Returns false if there is none or it comes from another user. Waits up to
 * a second for a process that has connected but not sent its request. */
bool lns_session_request_receive (int socket_fd, LnsSessionRequest *ret_request);

/* Answers, if somebody waits, and clears REQUEST. */
void lns_session_request_answer (LnsSessionRequest *request, int code, const char *text);
