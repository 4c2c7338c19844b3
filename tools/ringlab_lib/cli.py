# SPDX-License-Identifier: BSD-2-Clause
"""Which commands and options does tools/ringlab have? Parsing, and what `run` prints."""
import argparse
import json
import os
import sys
from typing import NoReturn

from . import bench, disks, errors, insns, rival, rival_linux
from .errors import Interrupted, LauncherError
from .qemu import DEFAULT_KERNEL, Command, Options, job_value
from .run import Boot, Result, dry_run

TOP = """\
Boots Ringlab in QEMU and measures disks from inside.

  tools/ringlab run -- rw=randread bs=4k iodepth=64
  tools/ringlab bench --quick

Each command has its own --help, with examples.
RINGLAB_QEMU, RINGLAB_QSD and RINGLAB_QEMU_IMG name other programs than qemu-system-x86_64,
qemu-storage-daemon and qemu-img.
"""

RUN = """\
Boots the kernel once, prints its console and ends with the kernel's verdict.

Job tokens, after --, are fio's: name rw bs iodepth numjobs cpus_allowed size offset number_ios
runtime time_based rate_iops ... name= starts the next job; with stonewall it waits for those before
it. None at all: rw=randread. How the driver works: blk.mode blk.queues blk.poll_queues blk.ring
blk.indirect blk.event_idx blk.qsize blk.irq blk.irq_coalesce virtio.transport blk.feature.NAME ...
All of them, with what is valid: docs/options.md.
"""

RUN_EXAMPLES = """\
examples:
  tools/ringlab run -- rw=randread iodepth=64 runtime=2s time_based
  tools/ringlab run --disk disk.img --json out.json -- rw=read bs=128k iodepth=16
  tools/ringlab run --disk 256M -- name=w rw=write name=r rw=randread stonewall
  tools/ringlab run --smp 4 --device num-queues=4 -- numjobs=4 iodepth=32 blk.mode=hybrid
  tools/ringlab run --backend vhost-user --device queue-size=1024 -- iodepth=256
  tools/ringlab run --disk null:4G,latency-ns=20000 --machine pc --dry-run -- iodepth=8

exit status:
  0 success   1 I/O or verify errors   2 usage   3 no usable device   4 kernel panic
  5 no result (no kernel image, QEMU did not start, or no whole report)
  124 timeout   130 interrupted
"""

BENCH = """\
4 KiB random reads at depth 1, 8, 32 and 64, on a null disk and on an image file of 256 MiB that
is made in build/ and filled with data. One boot for each disk.
"""

RIVAL = """\
Compares with `qemu-img bench` on the same disks and CPUs: runs of each in turn, medians, ratios.
"""

RIVAL_LINUX = """\
Compares with Debian's Linux and fio in the same QEMU, on the same null disk: runs of each in turn,
medians, ratios. Downloads a kernel and busybox into build/linux by apt-get download, and installs
nothing; fio has to be installed.
"""

INSNS = """\
Guest instructions for one 4 KiB random read, counted under -icount, where the clock of the guest
counts instructions. Each configuration runs twice.
"""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        name, given = message.partition("unrecognized arguments: ")[1:]
        if name:
            hint = "" if given.startswith("-") else "; job tokens go after --"
            message = f"unknown: {given}{hint}"
        self.exit(errors.USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


def seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e9:
        raise ValueError
    return value


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def _machine_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("machine")
    group.add_argument("--accel", default="auto", metavar="A",
                       help="auto (kvm where usable, else tcg), kvm, tcg, or QEMU's own form")
    group.add_argument("--machine", default="q35", metavar="M", help="q35 (default), pc")
    group.add_argument("--cpu", default="", metavar="MODEL",
                       help="CPU model (default: host with kvm, else QEMU's own default)")
    group.add_argument("--mem", default="256M", metavar="SIZE", help="memory (default 256M)")
    group.add_argument("--kernel", default=DEFAULT_KERNEL, metavar="ELF",
                       help="the image (default build/ringlab.elf)")


def _run_parser(commands) -> None:
    parser = commands.add_parser(
        "run", help="boot once and run jobs", description=RUN, epilog=RUN_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
        usage="tools/ringlab run [options] -- JOB TOKENS...")
    _machine_options(parser)
    parser.add_argument("--smp", default="1", metavar="N", help="CPUs (default 1)")
    disk = parser.add_argument_group("disks")
    disk.add_argument("--disk", action="append", default=[], metavar="D",
                      help="FILE (raw; read-only if it may not be written), "
                           "null[:SIZE][,KEY=VALUE] (reads zeroes; the default), "
                           "SIZE (a temporary disk, as 256M), or none; "
                           "may be repeated: vda, vdb, ...")
    disk.add_argument("--backend", choices=disks.BACKENDS,
                      help="file, null: QEMU itself; vhost-user: qemu-storage-daemon beside it")
    disk.add_argument("--no-iothread", dest="iothread", action="store_false",
                      help="serve disks from QEMU's main loop (default: a thread for each disk)")
    disk.add_argument("--device", action="append", default=[], metavar="OPTS",
                      help="appended to each disk's -device, e.g. queue-size=1024,event_idx=off")
    parser.add_argument("--qemu-arg", action="append", default=[], metavar="ARG",
                        help="more words for QEMU, e.g. '-trace virtio_queue_notify'")
    parser.add_argument("--icount", action="store_true",
                        help="tcg counts instructions as the guest's time: exact, slow")
    parser.add_argument("--json", metavar="FILE", help="write the JSON report to FILE")
    parser.add_argument("--timeout", dest="timeout_s", type=seconds, metavar="S",
                        help="seconds until QEMU is ended; 0: no limit (default: ten minutes more "
                             "than the jobs' runtime)")
    parser.add_argument("--dry-run", action="store_true",
                        help="print the commands, ready to paste, and run nothing")
    parser.set_defaults(call=run)


def _other_parsers(commands) -> None:
    def add(name: str, text: str, summary: str, call, epilog: str) -> argparse.ArgumentParser:
        parser = commands.add_parser(
            name, help=summary, description=text, epilog="examples:\n" + epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
        _machine_options(parser)
        parser.set_defaults(call=call)
        return parser

    parser = add("bench", BENCH, "the table behind `make bench`", bench.main,
                 "  tools/ringlab bench\n  tools/ringlab bench --quick --json build/bench.json\n")
    parser.add_argument("--quick", action="store_true", help="0.3 s a row instead of 2 s")
    parser.add_argument("--json", metavar="FILE", help="write both reports to FILE as one document")
    parser = add("rival", RIVAL, "ratios to qemu-img bench", rival.main,
                 "  tools/ringlab rival --runs 7\n")
    parser.add_argument("--runs", type=positive, default=5, metavar="N",
                        help="of each measurement (default 5)")
    parser = add("rival-linux", RIVAL_LINUX, "ratios to Linux and fio", rival_linux.main,
                 "  tools/ringlab rival-linux --runs 3 --seconds 5\n")
    parser.add_argument("--runs", type=positive, default=3, metavar="N",
                        help="of each measurement (default 3)")
    parser.add_argument("--seconds", type=positive, default=5, metavar="S",
                        help="of each run (default 5)")
    parser.add_argument("--smp", default="1", metavar="N", help="CPUs of either guest (default 1)")
    add("insns", INSNS, "guest instructions per I/O", insns.main, "  tools/ringlab insns\n")


def parser() -> Parser:
    top = Parser(prog="tools/ringlab", description=TOP, allow_abbrev=False,
                 formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND",
                                  parser_class=Parser)
    _run_parser(commands)
    _other_parsers(commands)
    return top


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Options before --, job tokens after it. --qemu-arg -x becomes --qemu-arg=-x."""
    at = argv.index("--") if "--" in argv else len(argv)
    own, tokens, words = [], argv[at + 1:], iter(argv[:at])
    for word in words:
        value = next(words, None) if word == "--qemu-arg" else None
        own.append(word if value is None else f"{word}={value}")
    return own, tokens


def _options(args: argparse.Namespace) -> Options:
    names = Options.__dataclass_fields__
    options = Options(**{key: value for key, value in vars(args).items() if key in names})
    formats = job_value(options.tokens, "output-format")
    if args.json and not formats:
        options.tokens.append("output-format=normal,json")
    elif args.json and "json" not in formats[-1].split(","):
        raise errors.LauncherError(f"--json needs output-format=json or normal,json, and the job "
                                   f"says output-format={formats[-1]}", errors.USAGE)
    if sys.stdout.isatty() and not any(job_value(options.tokens, key)
                                       for key in ("eta", "status-interval")):
        options.tokens.append("eta=always")
    return options


def _write_json(file, result: Result) -> None:
    try:
        with file:
            if result.report is not None:
                json.dump(result.report, file, indent=2)
                file.write("\n")
    except OSError as error:
        result.message = f"--json {file.name}: {errors.reason(error)}"
        if result.status == errors.SUCCESS:
            result.status = errors.NOT_STARTED


def run(args: argparse.Namespace) -> int:
    command = Command(_options(args))
    if args.dry_run:
        sys.stdout.write(dry_run(command, args.json))
        return errors.SUCCESS
    for disk in command.disks:
        if disk.read_only:
            print(f"ringlab: {disk.path} may not be written: opened read-only", file=sys.stderr)
    inputs = [args.kernel] + [disk.path for disk in command.disks if disk.path]
    json_file = bench.open_json(args.json, inputs) if args.json else None

    def show(data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    sys.stdout.flush()
    result = Boot(command, json_file is not None, show, show_stderr=True).run()
    if json_file is not None:
        _write_json(json_file, result)
    if result.console and not result.console.endswith("\n"):
        print()
    if result.message:
        print(f"ringlab: {result.message}", file=sys.stderr, flush=True)
    print(result.line(), flush=True)
    return result.status


def main(argv: list[str]) -> int:
    own, tokens = _split(argv)
    try:
        args = parser().parse_args(own)
        if tokens and args.command != "run":
            raise LauncherError(f"{args.command}: takes no job tokens after --")
        args.tokens = tokens
        return args.call(args)
    except LauncherError as error:
        print(f"ringlab: {error}", file=sys.stderr)
        return error.status
    except Interrupted as interrupt:
        return interrupt.status
    except KeyboardInterrupt:
        return errors.SIGNALLED + 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return errors.SIGNALLED + 13
    except OSError as error:  # of the host: 1 would be the disk's
        print(f"ringlab: {error}", file=sys.stderr)
        return errors.NOT_STARTED
