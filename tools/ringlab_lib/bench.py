# SPDX-License-Identifier: BSD-2-Clause
"""How fast is this disk path? The table of `make bench`."""
import argparse
import json
import os
import subprocess

from .errors import LauncherError
from .measure import Progress, image, measured, options, table, time_text, value
from .qemu import qemu_program
from .run import Result

DEPTHS = (1, 8, 32, 64)
BOOT_S = 0.5
HEAD = ["disk", "depth", "IOPS", "MiB/s", "clat mean", "p50", "p99", "kicks/io"]


def qemu_version() -> str:
    try:
        text = subprocess.run([qemu_program(), "--version"], capture_output=True, text=True,
                              timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return "QEMU (version unknown)"
    words = text.split("\n")[0].split()
    return "QEMU " + (words[3] if len(words) > 3 else "(version unknown)")


def tokens(runtime_ms: int) -> list[str]:
    """One boot, a job for each depth, one after the other; what stands before the first name=
    holds for all."""
    words = ["rw=randread", "bs=4k", "time_based", "stonewall", f"runtime={runtime_ms}ms"]
    for depth in DEPTHS:
        words += [f"name=depth{depth}", f"iodepth={depth}"]
    return words


def rows(disk: str, report: dict) -> list[list[str]]:
    result = []
    for job, depth in enumerate(DEPTHS):
        clat = ("read", "clat_ns")
        result.append([
            disk, str(depth), f"{value(report, job, 'read', 'iops'):.0f}",
            f"{value(report, job, 'read', 'bw_bytes') / (1 << 20):.1f}",
            time_text(value(report, job, *clat, "mean")),
            time_text(value(report, job, *clat, "percentile", "50.000000")),
            time_text(value(report, job, *clat, "percentile", "99.000000")),
            f"{value(report, job, 'ringlab', 'kicks_per_io'):.3f}"])
    return result


def main(args: argparse.Namespace) -> int:
    runtime_ms = 300 if args.quick else 2000
    inputs = [args.kernel, image()]
    if args.json:
        open_json(args.json, inputs).close()
    disks = (("null", "null"), ("file", inputs[1]))
    progress = Progress(len(disks) * (BOOT_S + len(DEPTHS) * runtime_ms / 1000))
    lines, reports = [], []
    result: Result | None = None
    for name, disk in disks:
        progress.say(f"measuring the {name} disk")
        result = measured(options(args, tokens(runtime_ms), disk=[disk]))
        lines += rows(name, result.report)
        reports.append({"disk": name, "report": result.report})
    print(f"randread 4k, {runtime_ms / 1000:g} s each; accel={result.accel} "
          f"machine={result.machine} {qemu_version()}; file: 256 MiB through the host's page cache")
    print(table(HEAD, lines), end="")
    if args.json:
        with open_json(args.json, inputs) as file:
            json.dump({"bench": reports}, file, indent=2)
            file.write("\n")
    return 0


def open_json(path: str, inputs: list[str]):
    """Opened, and so emptied, before the boot: an old report cannot pass for a new one."""
    for name in inputs if os.path.exists(path) else []:
        if os.path.exists(name) and os.path.samefile(path, name):
            raise LauncherError(f"--json {path}: this is {name}, which the run reads")
    try:
        return open(path, "w", encoding="utf-8")
    except OSError as error:
        raise LauncherError(f"--json {path}: {error.strerror}") from error
