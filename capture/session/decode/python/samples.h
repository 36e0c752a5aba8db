/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples of Python functions. The thread that reads the memory of Python programs (session/python/sampling.h) makes records,
 * one behind the other, in the order of their times; the decoder makes definitions and events of these. A text, a frame and a
 * node of the tree of call chains has one record in the session, before the first that refers to it. Each of the three is numbered
 * from 0 on.
 *
 *   LNS-PYTHON-004   samples were left out (recording.c) */

#pragma once

#include "capture/session/decode/core/counters.h"

typedef enum
{
  LNS_PYTHON_TEXT = 1, /* LnsPythonTextRecord */
  LNS_PYTHON_FRAME,    /* LnsPythonFrameRecord */
  LNS_PYTHON_NODE,     /* LnsPythonNodeRecord */
  LNS_PYTHON_SAMPLE,   /* LnsPythonSampleRecord */
  LNS_PYTHON_SKIPPED,  /* LnsPythonSkippedRecord */
  LNS_PYTHON_NAME      /* LnsPythonNameRecord */
} LnsPythonKind;

/* The head of each record. What follows it has a multiple of 8 bytes. */
typedef struct
{
  uint16_t kind;    /* LnsPythonKind */
  uint16_t n_words; /* 8 bytes each, of the record with its head */
  uint32_t process; /* instance in the session; of samples */
  int64_t time_ns;  /* CLOCK_MONOTONIC; of definitions INT64_MIN */
} LnsPythonHead;

typedef struct
{
  LnsPythonHead head;
  uint32_t number;
  char text[]; /* ends with NUL */
} LnsPythonTextRecord;

/* A line of a function. */
typedef struct
{
  LnsPythonHead head;
  uint32_t function, file; /* texts; `file` may be LNS_ID_NONE */
  uint32_t line;           /* 0: not known */
  uint32_t number;
} LnsPythonFrameRecord;

typedef struct
{
  LnsPythonHead head;
  uint32_t parent; /* the caller's node, or LNS_ID_NONE */
  uint32_t frame;
  uint32_t number;
  uint32_t reserved;
} LnsPythonNodeRecord;

typedef struct
{
  LnsPythonHead head;
  uint32_t tid;
  uint32_t node;
  uint32_t state; /* ENUM_SAMPLING_THREAD_STATE */
  uint32_t lock;  /* LnsPythonLock */
} LnsPythonSampleRecord;

/* Samples of threads since the record before. */
typedef struct
{
  LnsPythonHead head;
  uint64_t n_taken;
  uint64_t
      n_skipped; /* as they would have cost too much time, or nothing of their frames could be read */
} LnsPythonSkippedRecord;

/* The name that the program gives to a thread from here on. */
typedef struct
{
  LnsPythonHead head;
  uint32_t tid;
  char text[]; /* ends with NUL */
} LnsPythonNameRecord;

/* Takes the N_BYTES of whole records at BYTES that are not later than UNTIL_NS (CLOCK_MONOTONIC). Returns how many bytes
 * they have. */
size_t lns_decoder_take_python (LnsDecoder *decoder,
                                const uint8_t *bytes,
                                size_t n_bytes,
                                int64_t until_ns);
