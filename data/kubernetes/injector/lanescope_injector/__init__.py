# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The admission webhook that adds Lanescope to the pods that ask for it by a label: ../../README.md."""
