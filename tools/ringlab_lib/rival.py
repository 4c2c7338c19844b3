# SPDX-License-Identifier: BSD-2-Clause
"""How does Ringlab compare with `qemu-img bench` on the same disks? Ratios, beside the targets."""
import argparse
import os
import re
import statistics
from typing import Callable

from .bench import qemu_version
from .errors import NOT_STARTED, LauncherError
from .measure import Progress, image, measured, options, table, value
from .process import Children, stop
from .qemu import qemu_img_program

RUNTIME_MS = 1500
NULL = "driver=null-co,size=1G,read-zeroes=on"
# qemu-img bench is told a count, not a time: about a second and a half here.
NULL_COUNT, FILE_COUNT = 600_000, 60_000
LINUX_POLLED_IOPS = "13000-33000"


def guest_iops(args: argparse.Namespace, depth: int, rw: str = "randread", **more) -> float:
    tokens = [f"rw={rw}", "bs=4k", f"iodepth={depth}", "time_based", f"runtime={RUNTIME_MS}ms"]
    return value(measured(options(args, tokens, **more)).report, 0, "read", "iops")


def rival_iops(count: int, *source: str) -> float:
    """qemu-img reads one block after the other; it has no random mode."""
    argv = [qemu_img_program(), "bench", "-d", "64", "-c", str(count), "-s", "4096", *source]
    with Children() as children:
        child = children.start(argv, ": run tools/setup, it installs qemu-utils")
        text = children.output(child)
        status = stop(child)
    match = re.search(r"completed in ([0-9.]+) seconds", text)
    if status or not match:
        raise LauncherError(f"{' '.join(argv)}: failed: {text.strip()[-200:]}", NOT_STARTED)
    return count / max(float(match[1]), 1e-3)


def two_cores() -> None:
    """For this process and all that it starts: both sides get the same two."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])


def main(args: argparse.Namespace) -> int:
    path = image()
    two_cores()
    measures: dict[str, Callable[[], float]] = {
        "null, depth 64": lambda: guest_iops(args, 64),
        "qemu-img null": lambda: rival_iops(NULL_COUNT, "--image-opts", NULL),
        "file, depth 64": lambda: guest_iops(args, 64, disk=[path]),
        "file, depth 64, sequential": lambda: guest_iops(args, 64, "read", disk=[path]),
        "qemu-img file": lambda: rival_iops(FILE_COUNT, "-f", "raw", "-i", "threads", path),
        "vhost-user null, depth 64": lambda: guest_iops(args, 64, backend="vhost-user"),
        "null, depth 1": lambda: guest_iops(args, 1),
    }
    progress = Progress(args.runs * len(measures) * (RUNTIME_MS / 1000 + 0.3))
    samples: dict[str, list[float]] = {name: [] for name in measures}
    for run in range(args.runs):
        progress.say(f"run {run + 1} of {args.runs}")
        for name, measure in measures.items():
            samples[name].append(measure())
    median = {name: statistics.median(taken) for name, taken in samples.items()}
    print(f"medians of {args.runs} interleaved runs, 4 KiB reads, two cores, {qemu_version()}; "
          "random in the guest unless said, sequential in qemu-img")
    print(table(["measured", "IOPS", "lowest", "highest", "against", "ratio", "target"],
                [row(name, median, samples[name]) for name in measures]), end="")
    return 0


AGAINST = {
    "null, depth 64": ("qemu-img null", ">= 1.2"),
    "file, depth 64": ("qemu-img file", ">= 0.95"),
    "file, depth 64, sequential": ("qemu-img file", ""),
    "vhost-user null, depth 64": ("qemu-img null", ">= 5"),
    "null, depth 1": (f"Linux, polled fio: {LINUX_POLLED_IOPS}", ">= 5"),
}


def row(name: str, median: dict[str, float], taken: list[float]) -> list[str]:
    against, target = AGAINST.get(name, ("", ""))
    ratio = f"{median[name] / median[against]:.2f}" if against in median else ""
    if against and not ratio:
        low, high = (int(figure) for figure in LINUX_POLLED_IOPS.split("-"))
        ratio = f"{median[name] / high:.1f}-{median[name] / low:.1f}"
    return [name, f"{median[name]:.0f}", f"{min(taken):.0f}", f"{max(taken):.0f}", against, ratio,
            target]
