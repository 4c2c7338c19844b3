# SPDX-License-Identifier: BSD-2-Clause
"""What do bench, rival and insns share? Quiet boots, an image full of data, figures, tables."""
import argparse
import os
import random
import sys
import time

from . import errors
from .errors import LauncherError
from .qemu import ROOT, Options
from .run import Result, boot

IMAGE_BYTES = 256 << 20
CHUNK_BYTES = 1 << 20


class Progress:
    """Lines on stderr about work that takes longer than two seconds."""

    def __init__(self, expected_s: float):
        self.expected_s = expected_s
        self.started = time.monotonic()

    def say(self, what: str) -> None:
        if self.expected_s <= 2:
            return
        left_s = max(0.0, self.expected_s - (time.monotonic() - self.started))
        print(f"ringlab: {what}, about {left_s:.0f} s to go", file=sys.stderr, flush=True)


def image() -> str:
    """build/bench.img: data that no layer below can compress or leave out. Made once."""
    path = os.path.join(ROOT, "build", "bench.img")
    try:
        if os.path.getsize(path) == IMAGE_BYTES:
            return path
    except OSError:
        pass
    print("ringlab: making build/bench.img, 256 MiB", file=sys.stderr)
    source = random.Random(1)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "wb") as file:
        for _ in range(IMAGE_BYTES // CHUNK_BYTES):
            file.write(source.randbytes(CHUNK_BYTES))
    os.replace(path + ".new", path)
    return path


def options(args: argparse.Namespace, tokens: list[str], **more) -> Options:
    return Options(accel=args.accel, machine=args.machine, cpu=args.cpu, mem=args.mem,
                   kernel=args.kernel, tokens=tokens + ["output-format=normal,json"], **more)


def measured(wanted: Options) -> Result:
    """A boot that must succeed: it has a report. Otherwise all that was said is shown."""
    result = boot(wanted, want_json=True)
    if result.status > errors.SIGNALLED:
        raise errors.Interrupted(result.status - errors.SIGNALLED)
    if result.status != errors.SUCCESS or result.report is None:
        sys.stderr.write(result.console + result.qemu_stderr)
        why = result.message or errors.status_name(result.status)
        raise LauncherError(f"a measuring run failed: {why}", result.status)
    return result


def value(report: dict, job: int, *path: str) -> float:
    """A figure of a report, by its keys."""
    node = report["jobs"][job] if job < len(report["jobs"]) else None
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    if not isinstance(node, (int, float)):
        raise LauncherError(f"the report has no number at jobs[{job}].{'.'.join(path)}",
                            errors.NOT_STARTED)
    return node


def time_text(ns: float) -> str:
    """Three digits or more: 812 ns, 12.3 us, 4.56 ms."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            digits = 2 if ns < 10 * size else 1 if ns < 100 * size else 0
            return f"{ns / size:.{digits}f} {unit}"
    return f"{ns:.0f} ns"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Columns that line up: the first to the left, figures to the right."""
    widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]

    def line(row: list[str]) -> str:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        return "  ".join(cells).rstrip() + "\n"

    return "".join(line(row) for row in [head] + rows)
