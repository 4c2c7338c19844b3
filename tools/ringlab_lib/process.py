# SPDX-License-Identifier: BSD-2-Clause
"""How do we start processes so that none outlives us, whatever ends us?

A signal never interrupts Python code half way: it makes a pipe readable, and each wait, which
always has a deadline or a process to wait for, watches that pipe.
"""
import ctypes
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time

from .errors import Interrupted, LauncherError, NOT_STARTED

TERM_GRACE_S = 2.0
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def _die_with_parent() -> None:
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Children:
    """The processes and the temporary directory of one run; leaving the block removes both."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.running: list[subprocess.Popen] = []
        self.caught = 0
        self._directory: str | None = None

    def __enter__(self) -> "Children":
        self.wake_read, self._wake_write = os.pipe()
        self._handlers = {n: signal.getsignal(n) for n in self.SIGNALS}
        for number, handler in self._handlers.items():
            if handler is not signal.SIG_IGN:  # nohup stays nohup
                signal.signal(number, self._on_signal)
        return self

    def _on_signal(self, number: int, _frame) -> None:
        if not self.caught:
            self.caught = number
            os.write(self._wake_write, b"!")

    def check_signal(self) -> None:
        if self.caught:
            raise Interrupted(self.caught)

    @property
    def directory(self) -> str:
        if self._directory is None:
            self._directory = tempfile.mkdtemp(prefix="ringlab-")
        return self._directory

    def start(self, argv: list[str], hint: str = "") -> subprocess.Popen:
        """Its stdin is empty, stdout and stderr are pipes; it leads a process group of its own."""
        try:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, start_new_session=True,
                                     preexec_fn=_die_with_parent)
        except OSError as error:
            raise LauncherError(f"cannot run {argv[0]}: {error.strerror}{hint}",
                                NOT_STARTED) from error
        self.running.append(child)
        return child

    def output(self, child: subprocess.Popen) -> str:
        """What the child says on stdout and stderr, until it ends."""
        said = b""
        with selectors.DefaultSelector() as selector:
            for pipe in (self.wake_read, child.stdout, child.stderr):
                selector.register(pipe, selectors.EVENT_READ)
            while len(selector.get_map()) > 1:
                for key, _ in selector.select():
                    self.check_signal()
                    data = os.read(key.fd, 65536)
                    said += data
                    if not data:
                        selector.unregister(key.fileobj)
        return said.decode(errors="replace")

    def wait_for_file(self, path: str, child: subprocess.Popen, timeout_s: float) -> bool:
        """False if the child ended, or the time was up, before the file was there."""
        deadline = time.monotonic() + timeout_s
        while not os.path.exists(path):
            self.check_signal()
            if has_ended(child) or time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True

    def __exit__(self, *_exc) -> None:
        # Until all is cleaned up, a further signal is only recorded by _on_signal.
        for child in reversed(self.running):
            stop(child)
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        os.close(self.wake_read)
        os.close(self._wake_write)


def has_ended(child: subprocess.Popen) -> bool:
    """Does not reap, so that the number of the process group cannot be used anew meanwhile."""
    if child.returncode is not None:
        return True
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill_group(child: subprocess.Popen, number: int) -> None:
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        pass


def stop(child: subprocess.Popen) -> int:
    """Ends the child and its group: at once if it has ended itself, else with some grace."""
    if child.returncode is None:
        if not has_ended(child):
            _kill_group(child, signal.SIGTERM)
            handle = os.pidfd_open(child.pid)
            with selectors.DefaultSelector() as selector:
                selector.register(handle, selectors.EVENT_READ)
                selector.select(TERM_GRACE_S)
            os.close(handle)
        _kill_group(child, signal.SIGKILL)
        child.wait()
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    return child.returncode
