/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A library that programs load while they run. */

__attribute__ ((visibility ("default"))) void call_back (void (*function) (void));

void
call_back (void (*function) (void))
{
  function ();
  __asm__ volatile("" ::: "memory"); /* it returns here */
}
