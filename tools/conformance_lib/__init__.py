# SPDX-License-Identifier: BSD-2-Clause
"""Rules, the tests that name them, and what came of these: see cli.py for the command."""
