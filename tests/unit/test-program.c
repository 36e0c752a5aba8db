/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Files of programs, made here: which take a preloaded library. */

#include "capture/wire/program.h"
#include "tests/tap.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  Elf64_Ehdr elf;
  Elf64_Phdr parts[3];
  Elf64_Dyn dynamic[3];
  char loader[64], names[64];
} Program;

/* A program that takes preloads. */
static Program
make (const char *loader, const char *name)
{
  Program program = { .elf = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
#if defined(__x86_64__)
                               .e_machine = EM_X86_64,
#else
                               .e_machine = EM_AARCH64,
#endif
                               .e_phoff = offsetof (Program, parts),
                               .e_phentsize = sizeof (Elf64_Phdr),
                               .e_phnum = 3 },
                      .parts = { { .p_type = PT_LOAD, .p_filesz = sizeof (Program) },
                                 { .p_type = PT_INTERP,
                                   .p_offset = offsetof (Program, loader),
                                   .p_filesz = strlen (loader) + 1 },
                                 { .p_type = PT_DYNAMIC,
                                   .p_offset = offsetof (Program, dynamic),
                                   .p_filesz = sizeof program.dynamic } },
                      .dynamic = { { .d_tag = DT_STRTAB, .d_un.d_ptr = offsetof (Program, names) },
                                   { .d_tag = DT_STRSZ, .d_un.d_val = sizeof program.names } } };
  strcpy (program.loader, loader);
  strcpy (program.names + 1, name);
  return program;
}

static LnsProgramKind
kind_of (const Program *program, size_t n_bytes, const char **ret_sanitizer)
{
  const LnsProgramFile file = { (const char *)program, n_bytes };
  return lns_program_elf_kind (&file, ret_sanitizer);
}

static void
test_kinds (void)
{
  static const struct
  {
    const char *loader, *name, *sanitizer;
    LnsProgramKind kind;
  } programs[] = {
    { "/lib64/ld-linux-x86-64.so.2", "puts", NULL, LNS_PROGRAM_TAKES_PRELOADS },
    { "/lib64/ld-linux-x86-64.so.2", "__asan_init", "AddressSanitizer", LNS_PROGRAM_SANITIZED },
    { "/lib64/ld-linux-x86-64.so.2", "__tsan_init", "ThreadSanitizer", LNS_PROGRAM_SANITIZED },
    { "/lib/ld-musl-x86_64.so.1", "puts", NULL, LNS_PROGRAM_FOREIGN },
  };
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    {
      const char *sanitizer = "none";
      const Program program = make (programs[i].loader, programs[i].name);
      LNS_CHECK_INT (kind_of (&program, sizeof program, &sanitizer), programs[i].kind);
      LNS_CHECK ((sanitizer == NULL) == (programs[i].sanitizer == NULL));
      if (sanitizer != NULL)
        LNS_CHECK_STR (sanitizer, programs[i].sanitizer);
    }
  const char *sanitizer;
  Program program = make ("/lib64/ld-linux-x86-64.so.2", "puts");
  program.parts[1].p_type = PT_NOTE;
  LNS_CHECK_INT (kind_of (&program, sizeof program, &sanitizer), LNS_PROGRAM_STATIC);
  program.elf.e_ident[EI_CLASS] = ELFCLASS32;
  LNS_CHECK_INT (kind_of (&program, sizeof program, &sanitizer), LNS_PROGRAM_FOREIGN);
  program = make ("/lib64/ld-linux-x86-64.so.2", "puts");
  program.elf.e_machine = EM_S390;
  LNS_CHECK_INT (kind_of (&program, sizeof program, &sanitizer), LNS_PROGRAM_FOREIGN);
}

/* Of a file that ends early, or says what is not there, nothing beyond its end is read. */
static void
test_damaged_files (void)
{
  const char *sanitizer;
  Program whole = make ("/lib64/ld-linux-x86-64.so.2", "__asan_init");
  for (size_t n = 0; n < sizeof whole; n++)
    {
      char *cut = malloc (n + (n == 0)); /* so that a sanitizer sees what is read beyond it */
      memcpy (cut, &whole, n);
      const LnsProgramFile file = { cut, n };
      LNS_CHECK (lns_program_elf_kind (&file, &sanitizer) <= LNS_PROGRAM_SANITIZED);
      free (cut);
    }
  const uint64_t far[] = { sizeof whole, UINT64_MAX, UINT64_MAX - 8, UINT64_C (1) << 63 };
  for (size_t i = 0; i < sizeof far / sizeof *far; i++)
    {
      Program program = whole;
      program.elf.e_phoff = far[i];
      LNS_CHECK_INT (kind_of (&program, sizeof program, &sanitizer), LNS_PROGRAM_STATIC);
      program = whole;
      program.parts[1].p_offset = far[i];
      LNS_CHECK_INT (kind_of (&program, sizeof program, &sanitizer), LNS_PROGRAM_FOREIGN);
      program = whole;
      program.parts[2].p_offset = far[i];
      LNS_CHECK_INT (kind_of (&program, sizeof program, &sanitizer), LNS_PROGRAM_TAKES_PRELOADS);
      program = whole;
      program.dynamic[0].d_un.d_ptr = far[i];
      LNS_CHECK_INT (kind_of (&program, sizeof program, &sanitizer), LNS_PROGRAM_TAKES_PRELOADS);
      program = whole;
      program.dynamic[1].d_un.d_val = far[i];
      LNS_CHECK_INT (kind_of (&program, sizeof program, &sanitizer), LNS_PROGRAM_TAKES_PRELOADS);
    }
}

static void
test_scripts (void)
{
  static const struct
  {
    const char *text, *interpreter;
  } scripts[] = {
    { "#!/bin/sh\n", "/bin/sh" },
    { "#! \t/usr/bin/env python3\n", "/usr/bin/env" },
    { "#!/bin/sh", "/bin/sh" },
    { "#!\n", NULL },
    { "#!", NULL },
    { "", NULL },
    { "# !/bin/sh\n", NULL },
    { "#!   ", NULL },
    { "#!/a/name/too/long\n", NULL },
  };
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
    {
      char name[16] = "";
      const LnsProgramFile file = { scripts[i].text, strlen (scripts[i].text) };
      LNS_CHECK_INT (lns_program_interpreter (&file, name, sizeof name),
                     scripts[i].interpreter != NULL);
      if (scripts[i].interpreter != NULL)
        LNS_CHECK_STR (name, scripts[i].interpreter);
    }
}

int
main (void)
{
  LNS_TEST (test_kinds);
  LNS_TEST (test_damaged_files);
  LNS_TEST (test_scripts);
  return lns_tap_done ();
}
