# SPDX-License-Identifier: BSD-2-Clause
"""What happens from the command to the exit status? One boot, watched until it ends."""
import os
import re
import selectors
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Callable

from . import errors
from .console import Console, parse_report
from .errors import Interrupted, LauncherError
from .process import Children, has_ended, stop
from .qemu import (Command, Options, flatten, job_value, pidfile, qemu_program, shell_text,
                   storage_daemon_program)

DEFAULT_TIMEOUT_S = 600
DAEMON_START_S = 10
SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1, "": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
SETUP_HINT = ": run tools/setup, it installs QEMU"


@dataclass
class Result:
    status: int
    accel: str
    machine: str
    wall_s: float = 0.0
    message: str = ""           # what went wrong, for a person
    console: str = ""
    qemu_stderr: str = ""
    report: dict | None = None

    def line(self) -> str:
        return (f"ringlab: accel={self.accel} machine={self.machine} exit={self.status} "
                f"({errors.status_name(self.status)}) wall={self.wall_s:.2f}s")


def default_timeout_s(tokens: list[str]) -> float:
    """A limit that no healthy run meets: what the jobs ask for at the most, and ten minutes.

    A time before the first name= holds for every job, so each is counted for all of them.
    """
    jobs = max(1, len(job_value(tokens, "name")))
    total = float(DEFAULT_TIMEOUT_S)
    for value in sum((job_value(tokens, key) for key in ("runtime", "timeout", "ramp_time")), []):
        match = re.fullmatch(r"(0x[0-9a-f]+|\d+)([a-z]*)", value.lower())
        if match:
            number = int(match[1], 16 if match[1].startswith("0x") else 10)
            total += jobs * number * SECONDS.get(match[2], 0)
    return total


class Boot:
    """Runs one Command to its end. show is given console bytes as they come."""

    def __init__(self, command: Command, want_json: bool, show: Callable[[bytes], None] | None,
                 show_stderr: bool):
        self.command, self.want_json, self.show_stderr = command, want_json, show_stderr
        self.show = show or (lambda data: None)
        self.console = Console(cut_json=want_json)
        self.stderr = bytearray()
        self.children = Children()
        self.timeout_s = command.options.timeout_s
        if self.timeout_s is None:
            self.timeout_s = default_timeout_s(command.options.tokens)

    def run(self) -> Result:
        started = time.monotonic()
        result = Result(errors.NOT_STARTED, self.command.accel, self.command.machine)
        try:
            with self.children:
                self._run(result)
        except LauncherError as error:
            result.status, result.message = error.status, str(error)
        except Interrupted as interrupt:
            result.status = interrupt.status
        self._show(self.console.finish())
        result.wall_s = time.monotonic() - started
        result.console = self.console.shown.decode(errors="replace")
        result.qemu_stderr = self.stderr.decode(errors="replace")
        return result

    def _run(self, result: Result) -> None:
        self.command.check_kernel()
        directory = self.children.directory
        json_path = os.path.join(directory, "report.json") if self.want_json else None
        for path, size_bytes in self.command.temp_disks(directory):
            try:
                with open(path, "wb") as image:
                    image.truncate(size_bytes)
            except (OSError, OverflowError) as error:
                raise LauncherError(f"--disk {size_bytes} bytes: {errors.reason(error)}",
                                    errors.NOT_STARTED) from error
        daemon = self._start_daemon(directory) if self.command.vhost_user else None
        qemu = self.children.start(flatten(self.command.qemu(directory, json_path)), SETUP_HINT)
        self._watch(qemu, daemon)
        returncode = stop(qemu)
        if returncode not in errors.FROM_QEMU:
            raise LauncherError(self._without_status(returncode), errors.NOT_STARTED)
        result.status = errors.FROM_QEMU[returncode]
        if json_path is not None:
            self._take_json(result, json_path)

    def _start_daemon(self, directory: str) -> subprocess.Popen:
        """Returns once its sockets are there: it writes its pidfile after that."""
        daemon = self.children.start(flatten(self.command.storage_daemon(directory)), SETUP_HINT)
        if not self.children.wait_for_file(pidfile(directory), daemon, DAEMON_START_S):
            ended = has_ended(daemon)
            if ended:
                self._read(daemon.stderr, self._on_stderr, drain=True)
            why = "ended" if ended else f"was not ready within {DAEMON_START_S} s"
            raise LauncherError(f"{storage_daemon_program()} {why}", errors.NOT_STARTED)
        return daemon

    def _watch(self, qemu: subprocess.Popen, daemon: subprocess.Popen | None) -> None:
        """Until QEMU ends, passing on what it says."""
        deadline = time.monotonic() + self.timeout_s if self.timeout_s else None
        with selectors.DefaultSelector() as selector, ExitStack() as handles:
            selector.register(self.children.wake_read, selectors.EVENT_READ)
            selector.register(qemu.stdout, selectors.EVENT_READ, self._on_stdout)
            for child in filter(None, (qemu, daemon)):
                selector.register(child.stderr, selectors.EVENT_READ, self._on_stderr)
                end = os.pidfd_open(child.pid)
                handles.callback(os.close, end)
                selector.register(end, selectors.EVENT_READ)
            while not has_ended(qemu):
                left_s = None if deadline is None else max(0, deadline - time.monotonic())
                events = selector.select(left_s)
                self.children.check_signal()
                if not events and left_s is not None:
                    raise LauncherError(self._timed_out(), errors.TIMED_OUT)
                for key, _ in events:
                    if key.data and not self._read(key.fileobj, key.data):
                        selector.unregister(key.fileobj)
                if daemon and has_ended(daemon) and not has_ended(qemu):
                    raise LauncherError(f"{storage_daemon_program()} ended while the guest ran",
                                        errors.NOT_STARTED)
        self._read(qemu.stdout, self._on_stdout, drain=True)
        self._read(qemu.stderr, self._on_stderr, drain=True)

    @staticmethod
    def _read(pipe, take: Callable[[bytes], None], drain: bool = False) -> bool:
        """False at the end of the file. drain: all that is there, and no waiting for more."""
        os.set_blocking(pipe.fileno(), False)
        while True:
            try:
                data = os.read(pipe.fileno(), 65536)
            except BlockingIOError:
                return True
            if data:
                take(data)
            if not data or not drain:
                return bool(data)

    def _on_stdout(self, data: bytes) -> None:
        self._show(self.console.feed(data))

    def _show(self, data: bytes) -> None:
        if data:
            self.show(data)

    def _on_stderr(self, data: bytes) -> None:
        self.stderr += data
        if self.show_stderr:
            sys.stderr.write(data.decode(errors="replace"))
            sys.stderr.flush()

    def _timed_out(self) -> str:
        last = self.console.last_line()
        what = f'the end of the run; last console line: "{last}"' if last else \
            "the kernel's first line on the console"
        return (f"timeout after {self.timeout_s:g} s, waiting for {what} "
                "(--timeout S sets the limit, 0 removes it)")

    def _without_status(self, returncode: int) -> str:
        name = qemu_program()
        if returncode < 0:
            return f"{name} was killed by signal {-returncode}"
        if returncode == 0:
            return f"{name} ended with status 0: the guest reset or powered off without a result"
        if not self.console.shown:
            return f"{name} did not start: exit status {returncode}"
        return f"{name} ended with status {returncode}, which is none of the kernel's"

    def _take_json(self, result: Result, path: str) -> None:
        text = self.console.json_text.decode(errors="replace")
        if os.path.exists(path) and os.path.getsize(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        result.report, problem = parse_report(text)
        expected = result.status in (errors.SUCCESS, errors.IO_ERROR)
        if problem and (expected or text.strip()):
            result.message = problem
        if problem and result.status == errors.SUCCESS:
            result.status = errors.NOT_STARTED


def boot(options: Options, want_json: bool, show: Callable[[bytes], None] | None = None,
         show_stderr: bool = False) -> Result:
    return Boot(Command(options), want_json, show, show_stderr).run()


def dry_run(command: Command, json_path: str | None) -> str:
    """The commands, in order, for a shell."""
    directory = "/tmp/ringlab-dry-run"
    temp_disks, lines = command.temp_disks(directory), []
    if temp_disks or command.vhost_user:
        lines.append(f"mkdir -p {directory}")
    lines += [f"truncate -s {size} {path}" for path, size in temp_disks]
    if command.vhost_user:
        # As a daemon it returns when its sockets are there, so that QEMU may follow at once.
        first, *rest = command.storage_daemon(directory)
        lines.append(shell_text([first, ["--daemonize"], *rest]))
    lines.append(shell_text(command.qemu(directory, json_path)))
    if command.vhost_user:
        lines.append(f'kill "$(cat {pidfile(directory)})"')
    if temp_disks or command.vhost_user:
        lines.append(f"rm -r {directory}")
    return "\n".join(lines) + "\n"
