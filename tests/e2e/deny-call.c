/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Runs a command in which one system call fails with EPERM, as in some containers, or another error.
 *
 *   deny-call memfd_create|pidfd_open|signalfd|eventfd|fcntl|waitid|process_vm_readv|perf_event_open[:EACCES|:ENOSYS]
 *     COMMAND [ARGUMENTS…] */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct
{
  const char *name;
  unsigned number, error;
} calls[] = {
  { "memfd_create", SYS_memfd_create, EPERM },
  { "pidfd_open", SYS_pidfd_open, EPERM },
  { "signalfd", SYS_signalfd4, EPERM },
  { "eventfd", SYS_eventfd2, EPERM },
  { "fcntl", SYS_fcntl, EPERM },
  { "waitid", SYS_waitid, EPERM },
  { "process_vm_readv", SYS_process_vm_readv, EPERM },
  { "perf_event_open", SYS_perf_event_open, EPERM },
  { "perf_event_open:EACCES", SYS_perf_event_open, EACCES },
  { "perf_event_open:ENOSYS", SYS_perf_event_open, ENOSYS },
};

int
main (int argc, char **argv)
{
  const size_t n_calls = sizeof calls / sizeof *calls;
  size_t at = 0;
  while (argc > 2 && at < n_calls && strcmp (argv[1], calls[at].name) != 0)
    at++;
  if (argc < 3 || at == n_calls)
    {
      fputs ("deny-call: name a system call and a command\n", stderr);
      return 99;
    }
  struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, calls[at].number, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | calls[at].error),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    {
      perror ("deny-call");
      return 99;
    }
  execvp (argv[2], argv + 2);
  perror (argv[2]);
  return 99;
}
