# SPDX-License-Identifier: BSD-2-Clause
"""`make conformance`: the table, docs/conformance.md, and a status that says whether all is well."""
import argparse
import sys
from pathlib import Path

from . import naming, results
from .rules import Broken, Names, load
from .table import document, judge, summary, text

ABOUT = """\
Joins docs/conformance-rules.tsv with the tests that name its rules and with what came of these.
Takes the results of the last `make test` where nothing that was tested is newer, else runs the unit
programs, and the boot tests that name a rule.
"""


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/conformance", description=ABOUT,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="boot tests at a time (default 2)")
    parser.add_argument("--open", action="store_true", help="print only rules that are open")
    parser.add_argument("program", nargs="+", type=Path, help="unit test programs")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    args = arguments(argv)
    root = Path(__file__).resolve().parent.parent.parent
    try:
        rules = load(root / "docs/conformance-rules.tsv")
        names = Names(rules)
        tests = naming.tests(root, names)
        asserted = naming.asserted(root, names)
        outcome = results.unit(root, args.program) | results.boot(root, args.jobs)
    except Broken as error:
        print(f"tools/conformance: {error}", file=sys.stderr)
        return 2
    rows = judge(rules, tests, outcome, asserted)
    (root / "docs/conformance.md").write_text(document(rows), encoding="utf-8")
    print(text([row for row in rows if row.is_open or not args.open]), end="")
    print(summary(rows))
    return 1 if any(row.is_open and row.rule.normative for row in rows) else 0
