/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The doctor at the end of `profile`. */

#include "src/cli/reports/doctor.h"
#include "src/cli/profile/profile.h"

void
lns_profile_examine (LnsProfile *profile, const char *path)
{
  LnsError error = { 0 };
  LnsCliDoctor doctor = { 0 };
  LnsReport *report = lns_report_open (path, NULL, &error);

  if (report != NULL && lns_cli_doctor_init (&doctor, report, &error))
    {
      for (size_t i = 0; i < doctor.n; i++)
        {
          const LnsFinding *finding = &doctor.findings[i];
          lns_profile_say (profile, finding->severity, finding->code, finding->text);
        }
      profile->lacks_data |= lns_doctor_lacks_data (report, doctor.findings, doctor.n);
    }
  else
    lns_profile_tell (profile, "warning", "cannot examine the report: %s", error.message);
  lns_cli_doctor_clear (&doctor);
  lns_report_close (report);
}
