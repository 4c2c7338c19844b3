# SPDX-License-Identifier: BSD-2-Clause
"""What came of each test in the last run, and does that run still speak of what is here?"""
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

from .naming import Test
from .rules import Broken

# Of several runs of one test (parameters, a second build of the program) the worst counts; a part
# that was skipped takes nothing from one that passed.
ORDER = ("skipped", "passed", "failed")


def _add(results: dict[Test, str], test: Test, word: str) -> None:
    results[test] = max(results.get(test, word), word, key=ORDER.index)


def read_unit(path: Path) -> dict[Test, str]:
    """Lines of program, case and passed, failed or skipped, as tools/unit-tests writes them."""
    results: dict[Test, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split("\t")
        if len(words) != 3 or words[2] not in ORDER:
            raise Broken(f"{path}: '{line}' is no result")
        _add(results, (words[0].removesuffix("-tsan"), words[1]), words[2])
    return results


def read_boot(path: Path) -> dict[Test, str]:
    """pytest's --junitxml."""
    results: dict[Test, str] = {}
    try:
        root = xml.parse(path).getroot()
    except xml.ParseError as error:
        raise Broken(f"{path}: {error}") from error
    for case in root.iter("testcase"):
        parts = [part for part in case.get("classname", "").split(".") if part.startswith("test_")]
        kinds = {child.tag for child in case}
        word = "failed" if kinds & {"failure", "error"} else (
            "skipped" if "skipped" in kinds else "passed")
        if parts:
            _add(results, (parts[0], case.get("name", "").partition("[")[0]), word)
    return results


def fresh(record: Path, *sources: Path) -> bool:
    return record.is_file() and all(
        source.is_file() and source.stat().st_mtime <= record.stat().st_mtime for source in sources)


def _run(argv: list[str], record: Path) -> None:
    """A run with failures has a record too, and that counts; without one there is no result."""
    record.unlink(missing_ok=True)
    sys.stdout.flush()
    subprocess.run(argv, check=False)
    if not record.is_file():
        raise Broken(f"{argv[0]} left no {record}")


def unit(root: Path, programs: list[Path]) -> dict[Test, str]:
    record = root / "build/results/unit.tsv"
    if not fresh(record, *programs):
        _run([str(root / "tools/unit-tests"), "--results", str(record), *map(str, programs)], record)
    return read_unit(record)


def boot(root: Path, jobs: int) -> dict[Test, str]:
    record = root / "build/results/boot.xml"
    if not fresh(record, root / "build/ringlab.elf", *root.glob("tests/boot/**/*.py")):
        _run([sys.executable, "-m", "pytest", "-q", "-n", str(jobs), "-p", "no:cacheprovider",
              "-m", "conformance", f"--junitxml={record}", str(root / "tests/boot")], record)
    return read_boot(record)
