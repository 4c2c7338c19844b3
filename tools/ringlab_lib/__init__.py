# SPDX-License-Identifier: BSD-2-Clause
"""The launcher of Ringlab, as a package: see cli.py for the commands."""
