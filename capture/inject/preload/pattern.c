/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A pattern becomes a program for Thompson's machine: all its threads go through the text side by side, so that no text makes it
 * go back. Jumps are relative, so that a piece of program may be moved and copied. */

#include "capture/inject/preload/pattern.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define STEPS_MAX   1024
#define CLASSES_MAX 48
#define DEPTH_MAX   24
#define COUNT_MAX   255

/* What looks at the text again from each of its bytes would take the square of its length. Some 50 ms. */
#define WORK_MAX 20000000

typedef enum
{
  STEP_BYTE,   /* the byte X */
  STEP_CLASS,  /* a byte of class X */
  STEP_JUMP,   /* goes on at X */
  STEP_SPLIT,  /* goes on at X and at Y */
  STEP_BEGIN,  /* the text begins here */
  STEP_END,    /* the text ends here */
  STEP_BORDER, /* a word begins or ends here; X = 1: it does not */
  STEP_LOOK,   /* what is between here and Y matches from here on; X = 1: it does not */
  STEP_MATCHED,
} StepKind;

typedef struct
{
  uint8_t kind;
  int16_t x, y;
} Step;

typedef struct
{
  const char *at; /* what is not read yet */
  const char *problem;
  unsigned depth;
  bool is_looking; /* inside (?=…) or (?!…) */
  int n;
  int n_classes;
  Step steps[STEPS_MAX];
  uint32_t classes[CLASSES_MAX][8];
} Program;

/* --- From a pattern to a program. ------------------------------------------------------------- */

static void
fail (Program *program, const char *problem)
{
  if (program->problem == NULL)
    program->problem = problem;
}

/* Makes room for a step before AT, whose jumps are not changed: those over AT must be made afterwards. */
static void
insert (Program *program, int at, StepKind kind, int x, int y)
{
  if (program->n >= STEPS_MAX)
    {
      fail (program, "it is too long; use fewer or smaller repetitions");
      return;
    }
  memmove (&program->steps[at + 1], &program->steps[at], (size_t)(program->n - at) * sizeof (Step));
  program->steps[at] = (Step){ (uint8_t)kind, (int16_t)x, (int16_t)y };
  program->n++;
}

static void
add (Program *program, StepKind kind, int x, int y)
{
  insert (program, program->n, kind, x, y);
}

static void
put (uint32_t *class, unsigned byte)
{
  class[byte / 32] |= UINT32_C (1) << byte % 32;
}

static bool
has (const uint32_t *class, unsigned byte)
{
  return (class[byte / 32] >> byte % 32 & 1) != 0;
}

static bool
is_digit (unsigned byte)
{
  return byte >= '0' && byte <= '9';
}

static bool
is_word (unsigned byte)
{
  return is_digit (byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         byte == '_';
}

static bool
is_space (unsigned byte)
{
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Puts the bytes that the escape LETTER stands for into CLASS. False if it stands for none. */
static bool
put_escape (uint32_t *class, char letter)
{
  for (unsigned byte = 0; byte < 256; byte++)
    {
      const bool is_in = letter == 'd' || letter == 'D'   ? is_digit (byte)
                         : letter == 'w' || letter == 'W' ? is_word (byte)
                                                          : is_space (byte);
      const bool is_other = letter == 'D' || letter == 'W' || letter == 'S';
      if (is_in != is_other)
        put (class, byte);
    }
  return strchr ("dDwWsS", letter) != NULL && letter != '\0';
}

/* The byte that a backslash and LETTER stand for; -1 with a problem. */
static int
escaped_byte (Program *program, char letter)
{
  if (letter == 't' || letter == 'n' || letter == 'r')
    return letter == 't' ? '\t' : letter == 'n' ? '\n' : '\r';
  if (letter != '\0' && !is_word ((unsigned char)letter))
    return (unsigned char)letter;
  fail (program, letter == '\0' ? "it ends with a backslash"
                                : "it has a backslash before a letter or digit that is not one of "
                                  "d D w W s S b B t n r");
  return -1;
}

/* The next byte of a class, or -1 after it has put a class such as \d into CLASS. */
static int
class_byte (Program *program, uint32_t *class)
{
  if (*program->at != '\\')
    return (unsigned char)*program->at++;
  const char letter = program->at[1];
  program->at += letter != '\0' ? 2 : 1;
  return put_escape ((uint32_t[8]){ 0 }, letter) && put_escape (class, letter)
             ? -1
             : escaped_byte (program, letter);
}

/* Reads [..], of which the first bracket is read already. */
static void
read_class (Program *program)
{
  if (program->n_classes >= CLASSES_MAX)
    {
      fail (program, "it has too many classes of characters");
      return;
    }
  uint32_t *class = program->classes[program->n_classes];
  const bool is_other = *program->at == '^';
  program->at += is_other;
  memset (class, 0, sizeof program->classes[0]);
  for (bool is_first = true; *program->at != '\0' && (is_first || *program->at != ']');
       is_first = false)
    {
      if (program->at[0] == '[' && program->at[1] == ':')
        fail (program, "it has a class with a name, such as [:alpha:], which is not known");
      const int from = class_byte (program, class);
      int to = from;
      if (program->problem == NULL && from >= 0 && program->at[0] == '-' && program->at[1] != ']' &&
          program->at[1] != '\0')
        {
          program->at++;
          to = class_byte (program, class);
          if (to < from)
            fail (program, "it has a range of characters that ends before it begins");
        }
      if (program->problem != NULL)
        return;
      for (int byte = from; byte >= 0 && byte <= to; byte++)
        put (class, (unsigned)byte);
    }
  if (*program->at != ']')
    {
      fail (program, "it has an opening [ without a closing one");
      return;
    }
  program->at++;
  for (unsigned i = 0; is_other && i < 8; i++)
    class[i] = ~class[i];
  add (program, STEP_CLASS, program->n_classes++, 0);
}

static void read_choice (Program *program);

/* Reads (..), of which the first parenthesis is read already. */
static void
read_group (Program *program)
{
  const int from = program->n;
  const bool looks = program->at[0] == '?' && (program->at[1] == '=' || program->at[1] == '!');
  const bool is_other = looks && program->at[1] == '!';
  if (program->at[0] == '?' && !looks && program->at[1] != ':')
    fail (program, "it has a group that is not (…), (?:…), (?=…) or (?!…)");
  if (looks && program->is_looking)
    fail (program, "it has (?=…) or (?!…) within another one");
  if (program->depth >= DEPTH_MAX)
    fail (program, "its groups lie too deep in one another");
  if (program->problem != NULL)
    return;
  program->at += program->at[0] == '?' ? 2 : 0;
  program->depth++;
  program->is_looking |= looks;
  read_choice (program);
  program->is_looking &= !looks;
  program->depth--;
  if (*program->at != ')')
    fail (program, "it has an opening ( without a closing one");
  else
    program->at++;
  if (looks)
    {
      add (program, STEP_MATCHED, 0, 0);
      insert (program, from, STEP_LOOK, is_other, program->n - from + 1);
    }
}

/* Reads the escape behind a backslash. */
static void
read_escape (Program *program)
{
  const char letter = *program->at;
  program->at += letter != '\0';
  if (letter == 'b' || letter == 'B')
    {
      add (program, STEP_BORDER, letter == 'B', 0);
      return;
    }
  uint32_t class[8] = { 0 };
  const bool is_class = put_escape (class, letter);
  if (!is_class)
    {
      const int byte = escaped_byte (program, letter);
      add (program, STEP_BYTE, byte, 0);
      return;
    }
  if (program->n_classes >= CLASSES_MAX)
    {
      fail (program, "it has too many classes of characters");
      return;
    }
  memcpy (program->classes[program->n_classes], class, sizeof class);
  add (program, STEP_CLASS, program->n_classes++, 0);
}

/* Reads what may be repeated. */
static void
read_atom (Program *program)
{
  const char byte = *program->at++;
  switch (byte)
    {
    case '(':
      read_group (program);
      break;
    case '[':
      read_class (program);
      break;
    case '\\':
      read_escape (program);
      break;
    case '^':
      add (program, STEP_BEGIN, 0, 0);
      break;
    case '$':
      add (program, STEP_END, 0, 0);
      break;
    case '*':
    case '+':
    case '?':
      fail (program, "it repeats nothing: a *, + or ? has nothing before it");
      break;
    case '.':
      if (program->n_classes >= CLASSES_MAX)
        fail (program, "it has too many classes of characters");
      else
        {
          memset (program->classes[program->n_classes], 0xff, sizeof program->classes[0]);
          add (program, STEP_CLASS, program->n_classes++, 0);
        }
      break;
    default:
      add (program, STEP_BYTE, (unsigned char)byte, 0);
    }
}

/* Reads {m}, {m,} or {m,n} at AT. Returns the bytes that it takes; 0 if it is not such a count, but a plain brace. A missing n
 * is -1. */
static size_t
read_count (const char *at, int *ret_least, int *ret_most)
{
  const char *begin = at++;
  int counts[2] = { 0, -1 };
  for (int i = 0; i < 2; i++)
    {
      const char *digits = at;
      int count = 0;
      for (; is_digit ((unsigned char)*at); at++)
        count = count <= COUNT_MAX ? count * 10 + (*at - '0') : count;
      if (at > digits)
        counts[i] = count;
      else if (i == 0)
        return 0;
      if (i == 0 && *at != ',')
        {
          counts[1] = counts[0];
          break;
        }
      at += i == 0;
    }
  if (*at != '}')
    return 0;
  *ret_least = counts[0];
  *ret_most = counts[1];
  return (size_t)(at + 1 - begin);
}

/* Repeats the steps from FROM on LEAST to MOST times; a MOST of -1 is any number. */
static void
repeat (Program *program, int from, int least, int most)
{
  const int n = program->n - from;
  if (least > COUNT_MAX || most > COUNT_MAX || (most >= 0 && most < least))
    {
      fail (program, "it has a repetition {m,n} that is too large or ends before it begins");
      return;
    }
  if (n == 0)
    return;
  Step body[STEPS_MAX];
  memcpy (body, &program->steps[from], (size_t)n * sizeof (Step));
  program->n = from;
  const int n_copies = most < 0 ? least + (least == 0) : most;
  for (int i = 0; i < n_copies && program->problem == NULL; i++)
    {
      if (i >= least)
        add (program, STEP_SPLIT, 1, most < 0 ? n + 2 : (n_copies - i) * (n + 1));
      for (int k = 0; k < n; k++)
        add (program, (StepKind)body[k].kind, body[k].x, body[k].y);
    }
  if (most < 0 && least == 0)
    add (program, STEP_JUMP, -(n + 1), 0);
  else if (most < 0)
    add (program, STEP_SPLIT, -n, 1);
}

/* Reads pieces with their repetitions, up to a | or a ). */
static void
read_sequence (Program *program)
{
  while (program->problem == NULL && *program->at != '\0' && *program->at != '|' &&
         *program->at != ')')
    {
      const int from = program->n;
      int least = 1, most = 1;
      size_t n_bytes = 1;
      read_atom (program);
      const char next = *program->at;
      if (next == '*' || next == '+' || next == '?')
        {
          least = next == '+';
          most = next == '?' ? 1 : -1;
        }
      else
        n_bytes = next == '{' ? read_count (program->at, &least, &most) : 0;
      if (program->problem != NULL || n_bytes == 0)
        continue;
      program->at += n_bytes;
      if (*program->at == '?')
        program->at++;
      if (*program->at == '*' || *program->at == '+' || *program->at == '?')
        fail (program, "it repeats a repetition; put the inner one into a group");
      repeat (program, from, least, most);
    }
}

/* Reads one or more sequences with a | between them. The jumps behind all but the last are chained by Y until their end is known. */
static void
read_choice (Program *program)
{
  int last = -1, begin = program->n;
  for (;;)
    {
      read_sequence (program);
      if (program->problem != NULL || *program->at != '|')
        break;
      program->at++;
      insert (program, begin, STEP_SPLIT, 1, program->n - begin + 2);
      add (program, STEP_JUMP, 0, last);
      last = program->n - 1;
      begin = program->n;
    }
  while (program->problem == NULL && last >= 0)
    {
      const int before = program->steps[last].y;
      program->steps[last].x = (int16_t)(program->n - last);
      last = before;
    }
}

static void
compile (Program *program, const char *pattern)
{
  *program = (Program){ .at = pattern };
  if (strlen (pattern) > LNS_PATTERN_MAX_BYTES)
    {
      fail (program, "it is longer than 1024 bytes");
      return;
    }
  read_choice (program);
  if (program->problem == NULL && *program->at == ')')
    fail (program, "it has a closing ) without an opening one");
  add (program, STEP_MATCHED, 0, 0);
}

/* --- The machine. ----------------------------------------------------------------------------- */

typedef struct
{
  const Program *program;
  const char *text;
  size_t n_bytes;
  long work; /* that is left */
} Machine;

/* Threads of the machine at one place of the text, each at a step that takes a byte. */
typedef struct
{
  int n;
  int16_t steps[STEPS_MAX];
} Threads;

static bool runs (Machine *machine, int step, size_t at, bool is_anywhere);

static bool
is_at_border (Machine *machine, size_t at)
{
  const bool before = at > 0 && is_word ((unsigned char)machine->text[at - 1]);
  const bool behind = at < machine->n_bytes && is_word ((unsigned char)machine->text[at]);
  return before != behind;
}

/* Adds the threads that STEP leads to at the place AT without a byte. IS_KNOWN has the steps that were followed there. True if
 * the end of the program is one of them. */
static bool
follow (Machine *machine, Threads *threads, uint8_t *is_known, int step, size_t at)
{
  int16_t open[STEPS_MAX];
  int n_open = 0;
  for (open[n_open++] = (int16_t)step; n_open > 0;)
    {
      const int now = open[--n_open];
      if (is_known[now])
        continue;
      is_known[now] = true;
      const Step *one = &machine->program->steps[now];
      int next = 1;
      switch ((StepKind)one->kind)
        {
        case STEP_MATCHED:
          return true;
        case STEP_BYTE:
        case STEP_CLASS:
          threads->steps[threads->n++] = (int16_t)now;
          continue;
        case STEP_JUMP:
          next = one->x;
          break;
        case STEP_SPLIT:
          if (!is_known[now + one->y])
            open[n_open++] = (int16_t)(now + one->y);
          next = one->x;
          break;
        case STEP_BEGIN:
          next = at == 0;
          break;
        case STEP_END:
          next = at == machine->n_bytes;
          break;
        case STEP_BORDER:
          next = is_at_border (machine, at) != (one->x != 0);
          break;
        case STEP_LOOK:
          next = runs (machine, now + 1, at, false) != (one->x != 0) ? one->y : 0;
          break;
        }
      if (next != 0 && !is_known[now + next])
        open[n_open++] = (int16_t)(now + next);
    }
  return false;
}

/* Whether the program from STEP on comes to an end when it begins at the place AT of the text, or at a later one if
 * IS_ANYWHERE. */
static bool
runs (Machine *machine, int step, size_t at, bool is_anywhere)
{
  const Program *program = machine->program;
  Threads threads[2];
  uint8_t is_known[STEPS_MAX];
  Threads *now = &threads[0], *next = &threads[1];
  memset (is_known, 0, (size_t)program->n);
  now->n = 0;
  if (follow (machine, now, is_known, step, at))
    return true;
  for (; at < machine->n_bytes && (now->n > 0 || is_anywhere) && machine->work > 0; at++)
    {
      const unsigned byte = (unsigned char)machine->text[at];
      memset (is_known, 0, (size_t)program->n);
      next->n = 0;
      machine->work -= now->n + 1;
      for (int i = 0; i < now->n; i++)
        {
          const Step *one = &program->steps[now->steps[i]];
          const bool takes = one->kind == STEP_BYTE ? (unsigned)one->x == byte
                                                    : has (program->classes[one->x], byte);
          if (takes && follow (machine, next, is_known, now->steps[i] + 1, at + 1))
            return true;
        }
      if (is_anywhere && follow (machine, next, is_known, step, at + 1))
        return true;
      Threads *spare = now;
      now = next;
      next = spare;
    }
  return false;
}

/* --- For others. ------------------------------------------------------------------------------ */

const char *
lns_pattern_problem (const char *pattern)
{
  Program program;
  compile (&program, pattern);
  return program.problem;
}

int
lns_pattern_is_in (const char *pattern, const char *text, size_t n_bytes)
{
  Program program;
  compile (&program, pattern);
  Machine machine = { &program, text, n_bytes, WORK_MAX };
  return program.problem == NULL && runs (&machine, 0, 0, true) && machine.work > 0;
}
