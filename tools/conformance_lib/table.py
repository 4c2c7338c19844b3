# SPDX-License-Identifier: BSD-2-Clause
"""What does each rule come to, and how is that said?"""
from dataclasses import dataclass

from .naming import Test
from .rules import Rule

COVERED, FAILED, OPEN, LATER, OUT = "covered", "failed", "open", "later", "out of scope"
SHOWN = 3  # tests of a row in the table on the console

INTRO = """\
<!-- Written by `make conformance` from docs/conformance-rules.tsv and the last run of the tests. -->
# Conformance to virtio 1.3, rule by rule

Each rule that the specification has for the driver of a block device on PCI, in short words; the
section holds what binds. *covered*: a test names the rule and passes. *failed*: one that names it
does not. *later* and *out of scope* carry their reason. ● marks what the fake device of the unit
tests asserts on each access, in all of them. DESC rows are descriptive text that a driver cannot
work without; they are counted apart.
"""


@dataclass
class Row:
    rule: Rule
    state: str
    tests: list[tuple[str, str]]  # name, result
    always: bool                  # asserted by the fake device

    @property
    def is_open(self) -> bool:
        return self.state in (OPEN, FAILED)


def _state(rule: Rule, found: list[tuple[str, str]]) -> str:
    words = {result for _, result in found}
    if rule.kind == "out":
        return OUT
    if "failed" in words:
        return FAILED
    if "passed" in words:
        return COVERED
    return LATER if rule.kind == "later" else OPEN


def judge(rules: dict[str, Rule], tests: dict[str, set[Test]], results: dict[Test, str],
          asserted: set[str]) -> list[Row]:
    rows = []
    for rule in rules.values():
        found = [(":".join(test), results.get(test, "not run"))
                 for test in sorted(tests.get(rule.id, ()))]
        rows.append(Row(rule, _state(rule, found), found, rule.id in asserted and bool(found)))
    whole = not any(row.is_open and row.rule.normative for row in rows if row.rule.kind != "whole")
    for row in rows:
        if row.rule.kind == "whole":
            row.state = COVERED if whole else OPEN
    return rows


def _count(rows: list[Row]) -> str:
    numbers = [(state, sum(row.state == state for row in rows))
               for state in (COVERED, OUT, LATER, OPEN, FAILED)]
    return ", ".join(f"{number} {state}" for state, number in numbers if number or state == OPEN)


def _counts(rows: list[Row]) -> list[tuple[str, str]]:
    normative = [row for row in rows if row.rule.normative]
    rest = [row for row in rows if not row.rule.normative]
    return [(f"{len(normative)} normative rules", _count(normative)),
            (f"{len(rest)} descriptive rules", _count(rest))]


def summary(rows: list[Row]) -> str:
    return "\n".join(f"{what}: {numbers}" for what, numbers in _counts(rows))


def _shown(row: Row) -> str:
    """Those that did not pass come first, with their result."""
    order = sorted(row.tests, key=lambda test: (test[1] == "passed", test[1] != "failed"))
    words = [name if result == "passed" else f"{name} ({result})" for name, result in order[:SHOWN]]
    if len(order) > SHOWN:
        words.append(f"and {len(order) - SHOWN} more")
    return ", ".join(words) or row.rule.why or ("-" if row.rule.kind != "whole" else "all others")


def text(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        mark = "*" if row.always else " "
        lines.append(f"{row.rule.id:<15} {row.rule.level:<10} {row.state:<12} {mark} {_shown(row)}")
    return "".join(line.rstrip() + "\n" for line in lines)


def _cell(row: Row) -> str:
    names = [f"`{name}`" + ("" if result == "passed" else f" ({result})")
             for name, result in row.tests]
    words = ["●"] if row.always else []
    return " ".join(words + [", ".join(names) or row.rule.why])


def document(rows: list[Row]) -> str:
    lines = [INTRO, "| | |", "|---|---|"]
    lines += [f"| {what} | {numbers} |" for what, numbers in _counts(rows)]
    group = None
    for row in rows:
        if row.rule.group != group:
            group = row.rule.group
            lines += ["", f"## {group}", "", "| id | level | section | rule | state | tests |",
                      "|---|---|---|---|---|---|"]
        lines.append(f"| {row.rule.id} | {row.rule.level} | {row.rule.section} | {row.rule.rule} "
                     f"| {row.state} | {_cell(row)} |")
    return "\n".join(lines) + "\n"
