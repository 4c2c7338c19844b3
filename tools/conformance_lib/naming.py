# SPDX-License-Identifier: BSD-2-Clause
"""Which test names which rule?

A unit test names a rule in the comment before it, in its body, or in a function or table that it
uses. A boot test names it by the marker conformance(...). What the fake device asserts counts only
through a unit test that sees it fire; here it is found for the table alone.
"""
import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from .rules import Broken, Names

Test = tuple[str, str]  # program or module, case or function


@dataclass
class Item:
    """A function or an initialized object at the top level, with the comment before it."""
    name: str
    is_case: bool
    text: str


FUNCTION = re.compile(r"^[a-z][\w \*]*?\b(\w+)\((.*)$")
OBJECT = re.compile(r"^(?:[a-z][\w \*]*?|\} ?)\b(\w+)(?:\[.*?\])*\s*= ?\{")
CASE = re.compile(r"^static void \w+\(void \*\*\w+\)$")


def items(source: str) -> list[Item]:
    """Whatever stands before the last #include is the file's own comment and names nothing."""
    lines = source.splitlines()
    begin = max((n for n, line in enumerate(lines) if line.startswith("#include")), default=-1) + 1
    result, name, is_case, text = [], "", False, []
    for line in lines[begin:]:
        match = OBJECT.match(line) or (None if line.endswith(";") else FUNCTION.match(line))
        if match:
            name, is_case = match.group(1), bool(CASE.match(line))
        text.append(line)
        whole = line.startswith("}") or (name and re.match(r"^\S.*\};$", line))
        if whole and name:
            result.append(Item(name, is_case, "\n".join(text)))
            name, is_case, text = "", False, []
    return result


def c_names(source: str, names: Names, where: str) -> dict[str, set[str]]:
    """By case: what it, and whatever it uses of this file, names."""
    all_items = {item.name: item for item in items(source)}
    own = {item.name: names.within(item.text, f"{where}: {item.name}")
           for item in all_items.values()}
    words = {item.name: set(re.findall(r"\w+", item.text)) & all_items.keys()
             for item in all_items.values()}
    result = {}
    for case in (item for item in all_items.values() if item.is_case):
        reached, left = set(), [case.name]
        while left:
            name = left.pop()
            if name not in reached:
                reached.add(name)
                left += [other for other in words[name] if not all_items[other].is_case]
        result[case.name] = set().union(*(own[name] for name in reached))
    return result


def _markers(node: ast.AST, where: str) -> list[str]:
    found = []
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "conformance":
            for word in call.args:
                if not (isinstance(word, ast.Constant) and isinstance(word.value, str)):
                    raise Broken(f"{where}: conformance() takes ids in quotes")
                found.append(word.value)
    return found


def py_names(source: str, names: Names, where: str) -> dict[str, set[str]]:
    result = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            found: set[str] = set()
            for decorator in node.decorator_list:
                for word in _markers(decorator, f"{where}: {node.name}"):
                    ids = names.within(word, f"{where}: {node.name}")
                    if not ids:
                        raise Broken(f"{where}: {node.name} names {word}, which is no rule")
                    found |= ids
            result[node.name] = found
    return result


def tests(root: Path, names: Names) -> dict[str, set[Test]]:
    """By rule: the tests that name it."""
    result = defaultdict(set)
    for pattern, find in (("tests/unit/test_*.c", c_names), ("tests/boot/**/test_*.py", py_names)):
        for path in sorted(root.glob(pattern)):
            where = str(path.relative_to(root))
            for case, ids in find(path.read_text(encoding="utf-8"), names, where).items():
                for id in ids:
                    result[id].add((path.stem, case))
    return result


def asserted(root: Path, names: Names) -> set[str]:
    """What the fake device judges on each access."""
    return set().union(*(names.within(path.read_text(encoding="utf-8"), path.name)
                         for path in sorted(root.glob("tests/host/*.c"))))
