# SPDX-License-Identifier: BSD-2-Clause
"""How does Ringlab compare with Linux and fio in the same QEMU, on the same null disk?"""
import argparse
import dataclasses
import statistics

from . import linux_image
from .bench import qemu_version
from .console import parse_report
from .errors import NOT_STARTED, LauncherError
from .measure import Progress, measured, options, table, value
from .process import Children, stop
from .qemu import Command, flatten

BOOT_LIMIT_S = 240
BATCH = "--iodepth_batch_submit=16 --iodepth_batch_complete_min=16 --iodepth_batch_complete_max=64"
FIO = ("--name=a --filename=/dev/vda --rw=randread --bs=4k --iodepth=64 --ioengine=io_uring "
       "--direct=1 --norandommap --gtod_reduce=1 --time_based --output-format=json --eta=never")
# One queue that is polled needs another that is not.
POLL_DEVICE = ["num-queues=2"]

LINUX = {
    "Linux, polled queue, batches of 16": (f"{BATCH} --hipri", "poll_queues=1", POLL_DEVICE),
    "Linux, interrupts, batches of 16": (BATCH, "", []),
    "Linux, interrupts": ("", "", []),
}
OURS = {"Ringlab, poll": "poll", "Ringlab, irq": "irq"}
AGAINST = {"Ringlab, poll": ("Linux, polled queue, batches of 16", ">= 6"),
           "Ringlab, irq": ("Linux, interrupts, batches of 16", ">= 8")}


def parse(said: str) -> dict:
    """fio's report, of what the console of Linux said."""
    said = said.replace("\r\n", "\n")
    between = said.partition(linux_image.BEGIN)[2].partition(linux_image.END)[0]
    report, why = parse_report(between)
    if report is None:
        raise LauncherError(f"no report of fio from Linux: {why}; it said: "
                            f"{(between or said).strip()[:800]}", NOT_STARTED)
    if value(report, 0, "error") or not value(report, 0, "read", "iops"):
        words = between.partition("{")[0].strip() or said.strip()[-300:]
        raise LauncherError(f"fio on Linux did no I/O: {words}", NOT_STARTED)
    return report


def linux_iops(args: argparse.Namespace, kernel: str, initramfs: str, device: list[str]) -> float:
    wanted = dataclasses.replace(
        options(args, [], smp=args.smp, device=device), kernel=kernel, mem="1G",
        tokens=["console=ttyS0", "quiet", "panic=-1", "mitigations=off"],
        qemu_arg=[f"-initrd {initramfs}"])
    with Children() as children:
        words = flatten(Command(wanted).qemu(children.directory, None))
        child = children.start(["timeout", str(BOOT_LIMIT_S), *words])
        said = children.output(child)
        status = stop(child)
    if status:
        raise LauncherError(f"QEMU with Linux ended with status {status}: {said.strip()[-800:]}",
                            NOT_STARTED)
    return value(parse(said), 0, "read", "iops")


def our_iops(args: argparse.Namespace, mode: str) -> float:
    tokens = ["rw=randread", "bs=4k", "iodepth=64", "time_based", f"runtime={args.seconds}s",
              f"blk.mode={mode}"]
    return value(measured(options(args, tokens, smp=args.smp)).report, 0, "read", "iops")


def main(args: argparse.Namespace) -> int:
    jobs = {f"job{number}": {"fio": f"{FIO} --runtime={args.seconds} {fio}", "virtio_blk": module}
            for number, (fio, module, _) in enumerate(LINUX.values())}
    kernel, initramfs = linux_image.make(jobs)
    samples: dict[str, list[float]] = {name: [] for name in (*LINUX, *OURS)}
    progress = Progress(args.runs * (len(LINUX) * (args.seconds + 15) + 2 * (args.seconds + 1)))
    for run in range(args.runs):
        progress.say(f"run {run + 1} of {args.runs}")
        for number, (name, (_, _, device)) in enumerate(LINUX.items()):
            samples[name].append(linux_iops(args, kernel, initramfs[f"job{number}"], device))
        for name, mode in OURS.items():
            samples[name].append(our_iops(args, mode))
    median = {name: statistics.median(taken) for name, taken in samples.items()}
    print(f"medians of {args.runs} interleaved runs of {args.seconds} s, 4 KiB random reads of a "
          f"null disk, depth 64, {args.smp} CPUs, {qemu_version()}")
    print(table(["measured", "IOPS", "lowest", "highest", "against", "ratio", "target"],
                [row(name, median, taken) for name, taken in samples.items()]), end="")
    return 0


def row(name: str, median: dict[str, float], taken: list[float]) -> list[str]:
    against, target = AGAINST.get(name, ("", ""))
    ratio = f"{median[name] / median[against]:.1f}" if against else ""
    return [name, f"{median[name]:.0f}", f"{min(taken):.0f}", f"{max(taken):.0f}", against, ratio,
            target]
