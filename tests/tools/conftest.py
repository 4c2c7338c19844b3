# SPDX-License-Identifier: BSD-2-Clause
"""Where can the tools be tested without a build? In a copy of the layout, with files of our own."""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
