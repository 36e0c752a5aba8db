/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Uses CPU time in code that it makes itself, as just-in-time compilers do: a copy of turn (), which it calls "made up".
 *
 *   cpu-jit map MS      lists the code in /tmp/perf-PID.map
 *   cpu-jit old MS      the same, in a file that was written an hour ago
 *   cpu-jit link MS     the same, behind a symbolic link
 *   cpu-jit dump MS     lists it in jit-PID.dump in the present folder, with a line of made-up.source
 *   cpu-jit nothing MS  does not tell anybody
 *
 * Prints the path of the file. */

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CODE_BYTES 4096

extern const char __start_turn_code[], __stop_turn_code[];

/* Refers to nothing, so that it runs wherever it lies. */
__attribute__ ((section ("turn_code"), noinline, noclone)) static uint64_t
turn (uint64_t n)
{
  volatile uint64_t value = n;
  for (uint64_t i = 0; i < n; i++)
    value += i * i;
  return value;
}

static double
cpu_ms (void)
{
  struct timespec now;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void
write_map (const char *path, const char *name, const void *code)
{
  FILE *file = fopen (path, "we");
  if (file == NULL)
    exit (1);
  fprintf (file, "%lx %x %s\n", (unsigned long)(uintptr_t)code, CODE_BYTES, name);
  fclose (file);
}

/* As tools/perf/Documentation/jitdump-specification.txt of Linux has it. */
static void
write_dump (const char *path, const char *name, const void *code)
{
  static const char source[] = "made-up.source";
  const uint64_t at = (uintptr_t)code, size = CODE_BYTES;
  const uint32_t header[] = { 0x4A695444, 1, 40, EM_X86_64, 0, (uint32_t)getpid (), 0, 0, 0, 0 };
  const uint32_t lines_bytes = 16 + 8 + 8 + 16 + sizeof source;
  const uint32_t load_bytes = 16 + 8 + 4 * 8 + (uint32_t)strlen (name) + 1;
  const uint32_t ids[] = { (uint32_t)getpid (), (uint32_t)getpid () };
  const uint32_t lines[] = { 2, lines_bytes, 0, 0 }, load[] = { 0, load_bytes, 0, 0 };
  const uint64_t counts[] = { at, 1 }, where[] = { at, at, size, 1 };
  const uint32_t line[] = { (uint32_t)at, (uint32_t)(at >> 32), 42, 0 };
  FILE *file = fopen (path, "w+e");
  if (file == NULL)
    exit (1);
  fwrite (header, sizeof header, 1, file);
  fwrite (lines, sizeof lines, 1, file);
  fwrite (counts, sizeof counts, 1, file);
  fwrite (line, sizeof line, 1, file);
  fwrite (source, sizeof source, 1, file);
  fwrite (load, sizeof load, 1, file);
  fwrite (ids, sizeof ids, 1, file);
  fwrite (where, sizeof where, 1, file);
  fwrite (name, strlen (name) + 1, 1, file);
  fflush (file);
  /* That it is mapped tells profilers of it. */
  if (mmap (NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno (file), 0) == MAP_FAILED)
    exit (1);
  fclose (file);
}

int
main (int argc, char **argv)
{
  const char *how = argc > 2 ? argv[1] : "nothing";
  const double until_ms = cpu_ms () + (argc > 2 ? atof (argv[2]) : 0);
  char path[64], behind[80];
  void *code = mmap (NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED || __stop_turn_code - __start_turn_code > CODE_BYTES)
    return 1;
  memcpy (code, __start_turn_code, (size_t)(__stop_turn_code - __start_turn_code));
  if (mprotect (code, CODE_BYTES, PROT_READ | PROT_EXEC) != 0)
    return 1;
  __builtin___clear_cache (code, (char *)code + CODE_BYTES);
  const bool is_dump = strcmp (how, "dump") == 0;
  snprintf (path, sizeof path, is_dump ? "jit-%d.dump" : "/tmp/perf-%d.map", getpid ());
  snprintf (behind, sizeof behind, "%s.behind", path);
  if (is_dump)
    write_dump (path, "made up", code);
  else if (strcmp (how, "link") == 0)
    {
      write_map (behind, "made up", code);
      if (symlink (behind, path) != 0)
        return 1;
    }
  else if (strcmp (how, "nothing") != 0)
    write_map (path, "made up", code);
  if (strcmp (how, "old") == 0)
    {
      struct timespec times[2];
      clock_gettime (CLOCK_REALTIME, &times[0]);
      times[0].tv_sec -= 3600;
      times[1] = times[0];
      if (utimensat (AT_FDCWD, path, times, 0) != 0)
        return 1;
    }
  printf ("%s\n", path);
  uint64_t (*made) (uint64_t n);
  const uintptr_t made_at =
      (uintptr_t)code + (uintptr_t)((const char *)(uintptr_t)turn - __start_turn_code);
  memcpy (&made, &made_at, sizeof made);
  uint64_t sum = 0;
  while (cpu_ms () < until_ms)
    sum += made (100000);
  return sum == 0;
}
