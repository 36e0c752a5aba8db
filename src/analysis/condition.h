/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Conditions that people write about events: "duration > 1ms and name ~ gemm". A condition joins tests, each of a field of an
 * event, by and, or, not and parentheses. Who has events answers the tests from what it has, mostly once a name or a lane
 * rather than once an event, and this says what follows from the answers. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

typedef enum
{
  LNS_CONDITION_NAME,
  LNS_CONDITION_KIND, /* what kind of event it is: "kernel"                                     */
  LNS_CONDITION_DURATION,
  LNS_CONDITION_START,
  LNS_CONDITION_END,
  LNS_CONDITION_THREAD,
  LNS_CONDITION_PROCESS,
  LNS_CONDITION_DEVICE,
  LNS_CONDITION_STREAM,
  LNS_CONDITION_DOMAIN,
  LNS_CONDITION_CATEGORY,
  LNS_CONDITION_BYTES,
  LNS_CONDITION_DEPTH,
  LNS_N_CONDITION_FIELDS
} LnsConditionField;

/* What is written as != or !~ is the contrary of LNS_CONDITION_EQUAL or LNS_CONDITION_MATCHES. */
typedef enum
{
  LNS_CONDITION_EQUAL,    /* =        */
  LNS_CONDITION_BELOW,    /* <        */
  LNS_CONDITION_AT_MOST,  /* <=       */
  LNS_CONDITION_ABOVE,    /* >        */
  LNS_CONDITION_AT_LEAST, /* >=       */
  LNS_CONDITION_CONTAINS, /* contains */
  LNS_CONDITION_MATCHES /* ~: a regular expression; its dialect, and whether it is one, is for who answers to say */
} LnsConditionOperator;

typedef struct
{
  LnsConditionField field;
  LnsConditionOperator operator;
  char *text;      /* what the field is compared with as text: UTF-8; NULL: the field is a number */
  bool has_number; /* what it is compared with is a number                                        */
  int64_t number;  /* of times in ns, of sizes in bytes                                           */
} LnsConditionTest;

/* Immutable; any thread. */
typedef struct LnsCondition LnsCondition;

#define LNS_CONDITION_TESTS_MAX 64

/* Whether TEXT begins as a condition does, with a field and a comparison: who types anything else looks for a name. O(length). */
bool lns_condition_is_meant (const char *text);

/* The condition that TEXT, which is UTF-8, says. The caller frees it. Returns NULL, and an ERROR of LNS_ERROR_USAGE that says
 * what is wrong with it, if it says none. O(length). */
LnsCondition *lns_condition_new (const char *text, LnsError *error)
    __attribute__ ((warn_unused_result));
void lns_condition_free (LnsCondition *condition); /* NULL is fine                              */

/* Its tests, 1 to LNS_CONDITION_TESTS_MAX. Owned by CONDITION. O(1). */
const LnsConditionTest *lns_condition_tests (const LnsCondition *condition, unsigned *ret_n);

/* Whether VALUE passes TEST of a field that is a number, or that has a number beside its text. O(1). */
bool lns_condition_compare (const LnsConditionTest *test, int64_t value);

/* Whether the condition holds for an event that passes the tests whose bits are set in PASSED. O(tests). */
bool lns_condition_holds (const LnsCondition *condition, uint64_t passed);

/* The condition as an expression of SQL in which TESTS[i], of lns_condition_tests (), stands for test I: each must be an expression
 * that is 0 or 1. Owned. O(length). */
char *lns_condition_sql (const LnsCondition *condition, const char *const *tests)
    __attribute__ ((warn_unused_result));

/* TEXT as a value that a condition may compare with, whatever is in it: in quotation marks. Free with free (). */
char *lns_condition_quote (const char *text) __attribute__ ((warn_unused_result));
