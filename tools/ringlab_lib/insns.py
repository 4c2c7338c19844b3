# SPDX-License-Identifier: BSD-2-Clause
"""What does one I/O cost in guest instructions? Counted, not timed."""
import argparse
import os
import subprocess
import sys
from typing import NamedTuple

from .errors import NOT_STARTED, LauncherError
from .measure import Progress, measured, options, value
from .qemu import ROOT

RUNS = 2
ICOUNT_HZ, CALIBRATION_HZ = 1_000_000_000, 50_000  # 1000.0 MHz, as far as it can be measured
BOOT_S = 3.0
# Prints lines of the same form, for the submit and complete paths on the host.
HOST_COUNT = os.path.join(ROOT, "tools", "insns-host")
HOST_PROGRAM = os.path.join(ROOT, "build", "perf", "hotpath")


class Configuration(NamedTuple):
    name: str
    depth: int
    ios: int
    tokens: list[str]
    device: list[str] = []
    disk: list[str] = []
    agree: float = 0.02  # of two runs, to within this share


# The host's clock times this disk: the driver is long waiting when it answers, so each wait is one.
# But when it does, and to how many at once, is not quite the same each time.
SLOW, ROUGHLY = ["null,latency-ns=200000"], 0.05
DIRECT, INDIRECT = "blk.indirect=never", "blk.indirect=always"
CONFIGURATIONS = (
    Configuration("direct+event_idx", 64, 100_000, [DIRECT]),
    Configuration("direct", 64, 100_000, [DIRECT], ["event_idx=off"]),
    Configuration("indirect+event_idx", 64, 100_000, [INDIRECT]),
    Configuration("packed+direct+event_idx", 64, 100_000, [DIRECT], ["packed=on"]),
    Configuration("packed+direct", 64, 100_000, [DIRECT], ["packed=on", "event_idx=off"]),
    Configuration("packed+indirect+event_idx", 64, 100_000, [INDIRECT], ["packed=on"]),
    Configuration("direct+event_idx+depth1", 1, 50_000, [DIRECT]),
    Configuration("irq", 64, 50_000, [DIRECT, "blk.mode=irq"], [], SLOW, ROUGHLY),
    Configuration("irq+depth1", 1, 4_000, [DIRECT, "blk.mode=irq"], [], SLOW, ROUGHLY),
    Configuration("hybrid", 64, 50_000, [DIRECT, "blk.mode=hybrid"], [], SLOW, ROUGHLY),
    Configuration("hybrid+depth1", 1, 4_000, [DIRECT, "blk.mode=hybrid"], [], SLOW, ROUGHLY),
)


def count(args: argparse.Namespace, of: Configuration) -> float:
    """Instructions of one vCPU for one I/O, without those of polls that found nothing and halts."""
    job = ["rw=randread", "bs=4k", f"iodepth={of.depth}", f"number_ios={of.ios}", *of.tokens]
    wanted = options(args, job, icount=True, iothread=False, disk=of.disk,
                     device=["ioeventfd=off", *of.device])
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
    for of in CONFIGURATIONS:
        progress.say(f"counting {of.name}")
        figures = [count(args, of) for _ in range(RUNS)]
        spread = (max(figures) - min(figures)) / max(min(figures), 1e-9)
        agree &= spread <= of.agree
        print(f"insns/io {of.name} {figures[0]:.1f}", flush=True)
        print(f"  runs: {' '.join(f'{f:.1f}' for f in figures)}, {100 * spread:.2f} % apart"
              + ("" if spread <= of.agree else f": more than {100 * of.agree:g} %"), flush=True)
    if not os.path.exists(HOST_PROGRAM):
        print("ringlab: the host's counts are left out: make build/perf/hotpath", file=sys.stderr)
    else:
        agree &= subprocess.run([HOST_COUNT], check=False).returncode == 0
    return 0 if agree else 1
