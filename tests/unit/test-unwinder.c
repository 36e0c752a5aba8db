/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Built with -O2 and without frame pointers. Each planted function notes its own return address on the way down, so the
 * expected chain is exact and comes from the program itself. */

#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/symbols/cfi.h"
#include "tests/tap.h"
#include "tests/unit/stack-fixture.h"

#define MOST_FRAMES 256

static StackSample sample;
static uint64_t planted[MOST_FRAMES]; /* return addresses, the outermost first */
static size_t n_planted;
static volatile unsigned sink;

/* Notes where the calling function will return to. */
#define PLANT() (planted[n_planted++] = (uint64_t)(uintptr_t)__builtin_return_address (0))

/* Takes the sample in the function that expands it. */
#if defined __x86_64__
# define TRAP() __asm__ volatile("int3" ::: "memory")
#else
# define TRAP() __asm__ volatile("brk #0x1000" ::: "memory")
#endif

static LnsUnwinder *unwinder;
static LnsUnwindMap *maps;
static size_t n_maps;
static uint64_t chain[MOST_FRAMES], interrupted;
static LnsUnwindEnd end;

static size_t
unwind (void)
{
  lns_unwinder_free (unwinder);
  free (maps);
  unwinder = lns_unwinder_new (stack_fixture_machine ());
  maps = stack_fixture_maps (unwinder, &n_maps);
  return lns_unwinder_unwind (unwinder, &sample.registers, &sample.stack, maps, n_maps, chain,
                              MOST_FRAMES, &interrupted, &end);
}

/* The chain's frames from number FIRST on must be the planted return addresses, the last planted one first. */
static void
check_planted (size_t n, size_t first)
{
  LNS_CHECK (n >= first + n_planted);
  for (size_t i = 0; i < n_planted; i++)
    if (chain[first + i] != planted[n_planted - 1 - i])
      LNS_FAIL ("frame %zu is %#" PRIx64 ", not %#" PRIx64, first + i, chain[first + i],
                planted[n_planted - 1 - i]);
}

static void
arm (void)
{
  n_planted = 0;
  stack_fixture_listen (SIGTRAP, 0);
  stack_fixture_sample = &sample;
}

static __attribute__ ((noinline)) unsigned
descend (unsigned depth)
{
  PLANT ();
  volatile unsigned local[5] = { depth };
  if (depth == 0)
    TRAP ();
  else
    local[depth % 5] += descend (depth - 1);
  return local[0] + local[depth % 5];
}

static void
test_chain_without_frame_pointers (void)
{
  arm ();
  sink = descend (20);
  const size_t n = unwind ();
  check_planted (n, 1);
  LNS_CHECK_INT (end, LNS_UNWIND_COMPLETE);
  LNS_CHECK_INT (interrupted, 1);
  LNS_CHECK (chain[0] >= (uint64_t)(uintptr_t)descend);
}

/* A frame whose size is known only at run time is found through a register. */
static __attribute__ ((noinline)) unsigned
descend_variable (unsigned n_bytes)
{
  PLANT ();
  volatile char *room = alloca (n_bytes + 1);
  room[n_bytes] = 1;
  return descend (3) + (unsigned)room[n_bytes];
}

static void
test_variable_frame (void)
{
  arm ();
  sink = descend_variable (777);
  check_planted (unwind (), 1);
  LNS_CHECK_INT (end, LNS_UNWIND_COMPLETE);
}

static sigjmp_buf way_out;

static __attribute__ ((noinline, noreturn)) void
never_return (void)
{
  TRAP ();
  siglongjmp (way_out, 1);
}

static __attribute__ ((noinline)) unsigned
end_with_a_call (unsigned n)
{
  PLANT ();
  volatile unsigned room[100] = { n };
  sink = room[n % 100];
  never_return ();
}

/* The return address lies behind the function, where other rules hold, or none. */
static void
test_call_at_the_end_of_a_function (void)
{
  arm ();
  if (sigsetjmp (way_out, 0) == 0)
    sink = end_with_a_call (3);
  const size_t n = unwind ();
  LNS_CHECK_INT (n_planted, 1);
  LNS_CHECK (n >= 3 && chain[2] == planted[0]);
  LNS_CHECK_INT (end, LNS_UNWIND_COMPLETE);
}

static int
compare (const void *a, const void *b)
{
  if (stack_fixture_sample != NULL)
    descend (1);
  return *(const int *)a - *(const int *)b;
}

static __attribute__ ((noinline)) unsigned
sort (int *numbers, size_t n)
{
  PLANT ();
  qsort (numbers, n, sizeof *numbers, compare);
  return (unsigned)numbers[0];
}

/* Through libc, which has no frame pointers either. */
static void
test_chain_through_libc (void)
{
  int numbers[] = { 3, 1, 2, 7, 5 };
  arm ();
  sink = sort (numbers, 5);
  const size_t n = unwind ();
  LNS_CHECK_INT (n_planted, 3);
  LNS_CHECK (chain[1] == planted[2] && chain[2] == planted[1]);
  bool has_sort = false;
  for (size_t i = 3; i < n; i++)
    has_sort |= chain[i] == planted[0];
  LNS_CHECK (has_sort);
  LNS_CHECK_INT (end, LNS_UNWIND_COMPLETE);
}

static void
on_user_signal (int number)
{
  descend (2);
}

static __attribute__ ((noinline)) void
raise_signal (void)
{
  PLANT ();
  kill (getpid (), SIGUSR1);
  sink++;
}

/* From a handler through the frame that the kernel made, into what it interrupted. */
static void
test_chain_through_a_handler (void)
{
  struct sigaction action = { .sa_handler = on_user_signal };
  sigaction (SIGUSR1, &action, NULL);
  arm ();
  raise_signal ();
  const size_t n = unwind ();
  LNS_CHECK_INT (n_planted, 4);
  size_t at = 0;
  for (size_t i = 0; i < n; i++)
    if (chain[i] == planted[0])
      at = i;
  LNS_CHECK (at > 4);
  LNS_CHECK (__builtin_popcountll (interrupted) == 2 && (interrupted & 1) != 0);
  LNS_CHECK_INT (end, LNS_UNWIND_COMPLETE);
}

static void *
thread_main (void *unused)
{
  arm ();
  sink = descend (4);
  return NULL;
}

static void
test_chain_of_a_thread (void)
{
  pthread_t thread;
  LNS_CHECK_INT (pthread_create (&thread, NULL, thread_main, NULL), 0);
  pthread_join (thread, NULL);
  check_planted (unwind (), 1);
  LNS_CHECK_INT (end, LNS_UNWIND_COMPLETE);
}

static void
test_cut_stack (void)
{
  arm ();
  sink = descend (20);
  const size_t whole = unwind ();
  sample.stack.n = 600;
  size_t n = unwind ();
  LNS_CHECK_INT (end, LNS_UNWIND_STACK_ENDED);
  LNS_CHECK (n > 2 && n < whole);
  for (size_t i = 1; i < n; i++)
    LNS_CHECK (chain[i] == planted[n_planted - i]);
  n = lns_unwinder_unwind (unwinder, &sample.registers, &sample.stack, maps, n_maps, chain, 2, NULL,
                           &end);
  LNS_CHECK_INT (n, 2);
  LNS_CHECK_INT (end, LNS_UNWIND_LIMIT);
}

/* A file that was replaced since is not used. */
static void
test_other_build_id (void)
{
  arm ();
  sink = descend (5);
  LnsUnwinder *strict = lns_unwinder_new (stack_fixture_machine ());
  LnsElfImage *image = lns_elf_image_open ("/proc/self/exe");
  LNS_CHECK (image != NULL);
  LnsBuildId id = lns_elf_image_build_id (image);
  lns_elf_image_free (image);
  LNS_CHECK (id.n > 0);
  char path[4096] = "";
  LNS_CHECK (readlink ("/proc/self/exe", path, sizeof path - 1) > 0);
  unwind ();
  const uint32_t right = lns_unwinder_add_file (strict, path, &id);
  id.bytes[0] ^= 1;
  const uint32_t wrong = lns_unwinder_add_file (strict, path, &id);
  LNS_CHECK (right != wrong);
  const uint64_t pc = chain[0];
  LnsUnwindMap map = { 0 };
  for (size_t i = 0; i < n_maps; i++)
    if (pc >= maps[i].start && pc < maps[i].end)
      map = maps[i];
  map.file = right;
  LNS_CHECK (lns_unwinder_unwind (strict, &sample.registers, &sample.stack, &map, 1, chain,
                                  MOST_FRAMES, NULL, &end) >= 6);
  map.file = wrong;
  const size_t n = lns_unwinder_unwind (strict, &sample.registers, &sample.stack, &map, 1, chain,
                                        MOST_FRAMES, NULL, &end);
  LNS_CHECK (n < 6 && chain[0] == pc && end == LNS_UNWIND_NO_RULE);
  lns_unwinder_free (strict);
}

/* Code of a just-in-time compiler has no file: its frame pointers are followed. */
static void
test_frame_pointers_of_code_without_a_file (void)
{
  uint64_t words[8] = { 0, 0, 0x7000 + 8 * 4, 0x1234, 0, 0, 0, 0 };
  words[4] = 0x7000 + 8 * 6; /* the next frame */
  words[5] = 0x1300;
  words[6] = 0;
  words[7] = 0;
  const LnsMachine *machine = stack_fixture_machine ();
  LnsRegisters registers = { .known = 0 };
  lns_register_set (&registers, machine->program_counter, 0x1100);
  lns_register_set (&registers, machine->stack_pointer, 0x7000);
  lns_register_set (&registers, machine->frame_pointer, 0x7000 + 8 * 2);
  const LnsStackCopy stack = { (const uint8_t *)words, sizeof words, 0x7000 };
  const LnsUnwindMap map = { 0x1000, 0x2000, 0, LNS_UNWIND_NO_FILE };
  LnsUnwinder *jit = lns_unwinder_new (machine);
  LNS_CHECK_INT (
      lns_unwinder_unwind (jit, &registers, &stack, &map, 1, chain, MOST_FRAMES, NULL, &end), 3);
  LNS_CHECK (chain[0] == 0x1100 && chain[1] == 0x1234 && chain[2] == 0x1300);
  LNS_CHECK_INT (end, LNS_UNWIND_COMPLETE);
  words[4] = words[2]; /* a circle */
  words[2] = 0x7000 + 8 * 2;
  lns_unwinder_unwind (jit, &registers, &stack, &map, 1, chain, MOST_FRAMES, NULL, &end);
  LNS_CHECK_INT (end, LNS_UNWIND_NO_RULE);
  lns_unwinder_free (jit);
}

/* An AArch64 program, as far as the unwinder looks: its frame information was assembled here from DWARF's numbers of that
 * machine's registers (x29 frame pointer, x30 return address, 31 stack pointer). The leaf has its return address, which is
 * signed, only in x30; `middle` has saved both; `outer` has no caller. Each has 16 bytes. */
static void
test_aarch64 (void)
{
  static const char text[] =
      "f () { printf '%s\\n' .cfi_startproc '.cfi_return_column 30' \"$@\" '.space 16' "
      ".cfi_endproc; }\n"
      "{ f '.cfi_def_cfa 31, 0' '.cfi_undefined 16'\n"
      "  f '.cfi_def_cfa 31, 32' '.cfi_offset 29, -32' '.cfi_offset 30, -24' '.cfi_undefined 16'\n"
      "  f '.cfi_undefined 30' '.cfi_undefined 16'; } > program.s\n"
      "cc -shared -nostdlib -o program program.s\n";
  char folder[] = "/tmp/lanescope-unwinder-XXXXXX", path[64], command[2048];
  LNS_CHECK (mkdtemp (folder) != NULL);
  snprintf (path, sizeof path, "%s/program", folder);
  snprintf (command, sizeof command, "cd %s && %s", folder, text);
  LNS_CHECK_INT (system (command), 0);
  FILE *file = fopen (path, "r+");
  const uint16_t machine_number = EM_AARCH64;
  LNS_CHECK (file != NULL && fseek (file, offsetof (Elf64_Ehdr, e_machine), SEEK_SET) == 0);
  LNS_CHECK (fwrite (&machine_number, sizeof machine_number, 1, file) == 1 && fclose (file) == 0);
  LnsElfImage *image = lns_elf_image_open (path);
  LNS_CHECK (image != NULL);
  const uint64_t code = lns_elf_image_section (image, ".text")->sh_offset, start = 0xAAAA00000000,
                 sp = 0xFFFFC0000000;
  lns_elf_image_free (image);

  const LnsMachine *machine = lns_machine_find (EM_AARCH64);
  LnsUnwinder *arm = lns_unwinder_new (machine);
  const LnsUnwindMap map = { start, start + 0x100000, 0,
                             lns_unwinder_add_file (arm, path, &(LnsBuildId){ .n = 0 }) };
  const uint64_t leaf = start + code + 4, middle = start + code + 16 + 8,
                 outer = start + code + 32 + 12;
  const uint64_t words[] = { 0x1111, outer, 0, 0, 0, 0 };
  const LnsStackCopy stack = { (const uint8_t *)words, sizeof words, sp };
  uint64_t values[33] = { 0 };
  LnsRegisters registers;
  values[29] = 0x2222;
  values[30] = middle | UINT64_C (0x1F) << 50;
  values[31] = sp;
  values[32] = leaf;
  LNS_CHECK (lns_registers_from_perf (machine, (UINT64_C (1) << 33) - 1, values, 33, &registers));
  LNS_CHECK_INT (
      lns_unwinder_unwind (arm, &registers, &stack, &map, 1, chain, MOST_FRAMES, NULL, &end), 3);
  LNS_CHECK (chain[0] == leaf && chain[1] == middle && chain[2] == outer);
  LNS_CHECK_INT (end, LNS_UNWIND_COMPLETE);
  lns_unwinder_free (arm);

  /* The same file is not code of another machine. */
  LnsUnwinder *other = lns_unwinder_new (lns_machine_find (EM_X86_64));
  const LnsUnwindMap other_map = { start, start + 0x100000, 0,
                                   lns_unwinder_add_file (other, path, &(LnsBuildId){ .n = 0 }) };
  registers.values[6] = 0;
  registers.values[7] = sp;
  registers.values[16] = leaf;
  LNS_CHECK_INT (lns_unwinder_unwind (other, &registers, &stack, &other_map, 1, chain, MOST_FRAMES,
                                      NULL, &end),
                 1);
  lns_unwinder_free (other);
  snprintf (command, sizeof command, "rm -rf %s", folder);
  LNS_CHECK_INT (system (command), 0);
}

/* This program with its .eh_frame made N_BYTES long, as a sparse file. */
static LnsCfi *
read_stretched (uint64_t n_bytes)
{
  char path[] = "/tmp/lanescope-test-XXXXXX";
  const int fd = mkstemp (path), own = open ("/proc/self/exe", O_RDONLY);
  struct stat status;
  LNS_CHECK (fd >= 0 && own >= 0 && fstat (own, &status) == 0);
  uint8_t *bytes = malloc ((size_t)status.st_size);
  LNS_CHECK (bytes != NULL && pread (own, bytes, (size_t)status.st_size, 0) == status.st_size);
  LnsElfImage *image = lns_elf_image_open ("/proc/self/exe");
  const Elf64_Shdr *found = lns_elf_image_section (image, ".eh_frame");
  Elf64_Shdr section = *found;
  Elf64_Ehdr header;
  memcpy (&header, bytes, sizeof header);
  const size_t at = (size_t)(found - lns_elf_image_section_at (image, 0)) * sizeof section;
  const off_t place = (status.st_size + 4095) / 4096 * 4096;
  LNS_CHECK (pwrite (fd, bytes, (size_t)status.st_size, 0) == status.st_size);
  LNS_CHECK (pwrite (fd, bytes + section.sh_offset, section.sh_size, place) ==
             (ssize_t)section.sh_size);
  section.sh_offset = (uint64_t)place;
  section.sh_size = n_bytes;
  LNS_CHECK (pwrite (fd, &section, sizeof section, (off_t)(header.e_shoff + at)) ==
             (ssize_t)sizeof section);
  LNS_CHECK (ftruncate (fd, place + (off_t)n_bytes) == 0);
  lns_elf_image_free (image);
  image = lns_elf_image_open (path);
  LNS_CHECK (image != NULL);
  LnsCfi *cfi = lns_cfi_new (image);
  lns_elf_image_free (image);
  unlink (path);
  close (fd);
  close (own);
  free (bytes);
  return cfi;
}

/* A program may say that it has as much of it as there is memory. */
static void
test_frame_information_that_is_too_large (void)
{
  LnsCfi *cfi = read_stretched (1 << 20);
  LNS_CHECK (cfi != NULL);
  lns_cfi_free (cfi);
  LNS_CHECK (read_stretched (UINT64_C (300) << 20) == NULL);
}

static void
test_registers_of_perf (void)
{
  /* ax, sp, ip, r8 of x86-64 */
  const uint64_t values[] = { 1, 2, 3, 4 };
  const uint64_t mask = 1 << 0 | 1 << 7 | 1 << 8 | 1 << 16;
  LnsRegisters registers;
  LNS_CHECK (lns_registers_from_perf (lns_machine_find (EM_X86_64), mask, values, 4, &registers));
  LNS_CHECK (registers.values[0] == 1 && registers.values[7] == 2 && registers.values[16] == 3 &&
             registers.values[8] == 4);
  LNS_CHECK_INT (registers.known, 1 << 0 | 1 << 7 | 1 << 16 | 1 << 8);
  LNS_CHECK (!lns_registers_from_perf (lns_machine_find (EM_X86_64), mask, values, 3, &registers));
  LNS_CHECK (!lns_registers_from_perf (lns_machine_find (EM_X86_64), 1, values, 1, &registers));
  LNS_CHECK (lns_machine_find (EM_386) == NULL);
}

int
main (void)
{
  LNS_TEST (test_chain_without_frame_pointers);
  LNS_TEST (test_variable_frame);
  LNS_TEST (test_call_at_the_end_of_a_function);
  LNS_TEST (test_chain_through_libc);
  LNS_TEST (test_chain_through_a_handler);
  LNS_TEST (test_chain_of_a_thread);
  LNS_TEST (test_cut_stack);
  LNS_TEST (test_other_build_id);
  LNS_TEST (test_frame_pointers_of_code_without_a_file);
  LNS_TEST (test_aarch64);
  LNS_TEST (test_frame_information_that_is_too_large);
  LNS_TEST (test_registers_of_perf);
  return lns_tap_done ();
}
