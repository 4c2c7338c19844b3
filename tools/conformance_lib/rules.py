# SPDX-License-Identifier: BSD-2-Clause
"""Which rules are there, and which of them does a text name?"""
import re
from dataclasses import dataclass
from pathlib import Path

LEVELS = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "DESC")
CLASSES = ("applies", "later", "out", "whole")
HEAD = ["id", "level", "section", "class", "rule", "why"]


class Broken(Exception):
    """The list of rules, or a test's mention of one, is wrong."""


@dataclass(frozen=True)
class Rule:
    id: str
    level: str
    section: str
    kind: str   # one of CLASSES
    rule: str
    why: str    # for later and out
    group: str  # the heading that it stands under

    @property
    def normative(self) -> bool:
        return self.level != "DESC"


def _rule(where: str, line: str, group: str) -> Rule:
    words = line.split("\t")
    if len(words) != len(HEAD):
        raise Broken(f"{where}: {len(words)} columns, not {len(HEAD)}")
    rule = Rule(*words, group)
    if not re.fullmatch(r"[A-Z]+(-[A-Z]+)*-\d\d", rule.id):
        raise Broken(f"{where}: '{rule.id}' is no id; one looks like PCI-CAP-03")
    for value, valid in ((rule.level, LEVELS), (rule.kind, CLASSES)):
        if value not in valid:
            raise Broken(f"{where}: {rule.id}: '{value}' is none of: {', '.join(valid)}")
    if bool(rule.why) != (rule.kind in ("later", "out")):
        raise Broken(f"{where}: {rule.id}: a reason is given for 'later' and 'out', and only there")
    return rule


def load(path: Path) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    group, head = "", False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("# "):
            group = line[2:]
        elif line.split("\t") == HEAD:
            head = True
        elif line:
            rule = _rule(f"{path.name}:{number}", line, group)
            if rule.id in rules:
                raise Broken(f"{path.name}:{number}: {rule.id} is there twice")
            rules[rule.id] = rule
    if not head or not rules:
        raise Broken(f"{path.name}: no rules under a line of: {' '.join(HEAD)}")
    return rules


class Names:
    """Finds ids in a text; RING-SPLIT-08/09 are two."""

    def __init__(self, rules: dict[str, Rule]):
        prefixes = {id.rpartition("-")[0] for id in rules}
        longest_first = sorted(prefixes, key=lambda prefix: (-len(prefix), prefix))
        self.rules = rules
        self.pattern = re.compile(rf"(?<![\w-])({'|'.join(longest_first)})-(\d\d(?:/\d\d)*)(?![\w])")

    def within(self, text: str, where: str) -> set[str]:
        found = {f"{prefix}-{number}" for prefix, numbers in self.pattern.findall(text)
                 for number in numbers.split("/")}
        for id in sorted(found - self.rules.keys()):
            raise Broken(f"{where} names {id}, which is no rule")
        return found
