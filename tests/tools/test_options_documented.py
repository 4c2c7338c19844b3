# SPDX-License-Identifier: BSD-2-Clause
"""Does docs/options.md have every key that the table of options has, with the words it may hold?"""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "kernel/bench/options_table.c").read_text()
TABLE = TABLE[TABLE.index("table[] = {"):TABLE.index("\n};", TABLE.index("table[] = {"))]
DOCUMENT = (ROOT / "docs/options.md").read_text()
KEYS = re.findall(r'(?:\b(?:JOB|RUN|ALIAS|ONLY|IGNORED)\(|\.key = )"([^"]+)"', TABLE)
# A list of words and nothing else is what an option may hold.
CHOICES = [(key, valid) for key, valid in re.findall(
    r'RUN\("([^"]+)"[^{}]*?\.valid\s*=\s*"([a-z:0-9|-]+)"', TABLE) if "|" in valid]


def test_the_table_is_found():
    assert len(KEYS) > 80 and len(CHOICES) > 8
    assert {"name", "readwrite", "percentile_list", "loops", "ioengine", "debug.crash"} <= set(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_documented(key):
    assert re.search(rf"`{re.escape(key)}(?:=[^`]*)?`", DOCUMENT), f"{key}: not in docs/options.md"


@pytest.mark.parametrize("key, valid", CHOICES)
def test_every_word_of_a_choice_is_documented(key, valid):
    (row,) = [line for line in DOCUMENT.splitlines() if line.startswith(f"| `{key}=`")]
    for word in valid.split("|"):
        assert re.search(rf"`{re.escape(word)}`|\b{re.escape(word)}:", row) or word in "01", \
            f"{key}={word}: not in docs/options.md"
