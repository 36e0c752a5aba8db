/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A program with a Python interpreter of its own, which runs the text that is its argument. It starts the interpreter after
 * so many ms as a second argument says. */

#include <Python.h>

#include <stdlib.h>
#include <unistd.h>

int
main (int n_arguments, char **arguments)
{
  if (n_arguments > 2)
    usleep (1000 * (useconds_t)atoi (arguments[2]));
  Py_Initialize ();
  const int result = n_arguments > 1 ? PyRun_SimpleString (arguments[1]) : 0;
  return Py_FinalizeEx () < 0 ? 120 : result;
}
