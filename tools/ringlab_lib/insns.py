# SPDX-License-Identifier: BSD-2-Clause
"""What does one I/O cost in guest instructions? Counted, not timed."""
import argparse
import os
import subprocess
import sys

from .errors import NOT_STARTED, LauncherError
from .measure import Progress, measured, options, value
from .qemu import ROOT

IOS = 100_000
RUNS = 2
AGREE = 0.02
ICOUNT_HZ, CALIBRATION_HZ = 1_000_000_000, 50_000  # 1000.0 MHz, as far as it can be measured
BOOT_S = 2.0
# Prints lines of the same form, for the submit and complete paths on the host.
HOST_COUNT = os.path.join(ROOT, "tools", "insns-host")
HOST_PROGRAM = os.path.join(ROOT, "build", "perf", "hotpath")

# name, depth, job tokens, device options
CONFIGURATIONS = (
    ("direct+event_idx", 64, ["blk.indirect=never", "blk.event_idx=1"], []),
    ("direct", 64, ["blk.indirect=never", "blk.event_idx=0"], ["event_idx=off"]),
    ("indirect+event_idx", 64, ["blk.indirect=always", "blk.event_idx=1"], []),
    ("packed+direct+event_idx", 64, ["blk.indirect=never", "blk.event_idx=1"], ["packed=on"]),
    ("packed+direct", 64, ["blk.indirect=never", "blk.event_idx=0"],
     ["packed=on", "event_idx=off"]),
    ("packed+indirect+event_idx", 64, ["blk.indirect=always", "blk.event_idx=1"], ["packed=on"]),
    ("direct+event_idx+depth1", 1, ["blk.indirect=never", "blk.event_idx=1"], []),
)


def count(args: argparse.Namespace, depth: int, tokens: list[str], device: list[str]) -> float:
    """Instructions of one vCPU for one I/O, without those of polls that found nothing."""
    job = ["rw=randread", "bs=4k", f"iodepth={depth}", f"number_ios={IOS}", *tokens]
    wanted = options(args, job, icount=True, iothread=False, device=["ioeventfd=off", *device])
    report = measured(wanted).report
    hz = report.get("ringlab", {}).get("tsc_hz")
    if not isinstance(hz, int) or abs(hz - ICOUNT_HZ) > CALIBRATION_HZ:
        raise LauncherError(f"insns: the guest's clock is {hz} Hz and not {ICOUNT_HZ} Hz: "
                            "it does not count instructions", NOT_STARTED)
    return value(report, 0, "ringlab", "busy_cycles_per_io")


def one_core() -> None:
    """On one core, QEMU's threads take turns in the same way each time, and so batches agree."""
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


def main(args: argparse.Namespace) -> int:
    one_core()
    progress = Progress(RUNS * len(CONFIGURATIONS) * BOOT_S)
    agree = True
    for name, depth, tokens, device in CONFIGURATIONS:
        progress.say(f"counting {name}")
        figures = [count(args, depth, tokens, device) for _ in range(RUNS)]
        spread = (max(figures) - min(figures)) / max(min(figures), 1e-9)
        agree &= spread <= AGREE
        print(f"insns/io {name} {figures[0]:.1f}", flush=True)
        print(f"  runs: {' '.join(f'{f:.1f}' for f in figures)}, {100 * spread:.2f} % apart"
              + ("" if spread <= AGREE else f": more than {100 * AGREE:g} %"), flush=True)
    if not os.path.exists(HOST_PROGRAM):
        print("ringlab: the host's counts are left out: make build/perf/hotpath", file=sys.stderr)
    else:
        agree &= subprocess.run([HOST_COUNT], check=False).returncode == 0
    return 0 if agree else 1
