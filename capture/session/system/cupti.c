/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/system/cupti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
lns_cupti_driver_cuda (const char *text)
{
  /* NVIDIA's table "CUDA Toolkit and Corresponding Driver Versions". A branch that is not here supports at least what the
   * one before it does. */
  static const struct
  {
    int branch, cuda;
  } branches[] = {
    { 610, 13030 }, { 595, 13020 }, { 590, 13010 }, { 580, 13000 }, { 575, 12090 }, { 570, 12080 },
    { 565, 12070 }, { 560, 12060 }, { 555, 12050 }, { 550, 12040 }, { 545, 12030 }, { 535, 12020 },
    { 530, 12010 }, { 525, 12000 }, { 520, 11080 }, { 515, 11070 }, { 510, 11060 }, { 495, 11050 },
    { 470, 11040 }, { 465, 11030 }, { 460, 11020 }, { 455, 11010 }, { 450, 11000 },
  };
  /* The first word of digits that holds a dot. */
  int branch = 0;
  for (const char *word = text; *word != '\0' && branch == 0; word += strspn (word, " "))
    {
      const size_t n_word = strcspn (word, " \n");
      if (strspn (word, "0123456789.") == n_word && memchr (word, '.', n_word) != NULL)
        branch = atoi (word);
      word += n_word + (word[n_word] == '\n');
    }
  for (size_t i = 0; i < sizeof branches / sizeof *branches; i++)
    if (branch >= branches[i].branch)
      return branches[i].cuda;
  return 0;
}

void
lns_cupti_packages (int driver, char *ret_text, size_t n_max)
{
  const int major = driver / 1000, minor = driver % 1000 / 10;
  if (major < 11)
    snprintf (ret_text, n_max,
              "`pip install nvidia-cuda-cupti` or `conda install -c nvidia cuda-cupti`");
  else if (major == 11) /* packages begin with 11.6, and suit each driver of CUDA 11 */
    snprintf (ret_text, n_max,
              "`pip install nvidia-cuda-cupti-cu11`, `conda install -c nvidia 'cuda-cupti<12'` or "
              "`apt install cuda-cupti-11-%d`",
              minor);
  else
    /* Those of CUDA 13 have no suffix. There is no toolkit 12.7. */
    snprintf (ret_text, n_max,
              "`pip install 'nvidia-cuda-cupti%s<%d.%d'`, `conda install -c nvidia "
              "'cuda-cupti<%d.%d'` or `apt install cuda-cupti-%d-%d`",
              major == 12 ? "-cu12" : "", major, minor + 1, major, minor + 1, major,
              driver == 12070 ? 6 : minor);
}
