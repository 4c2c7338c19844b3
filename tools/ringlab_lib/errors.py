# SPDX-License-Identifier: BSD-2-Clause
"""Which ways are there for a run to end, and what is each called?"""

SUCCESS, IO_ERROR, USAGE, NO_DEVICE, PANIC, NOT_STARTED = range(6)
TIMED_OUT = 124
SIGNALLED = 128  # plus the signal's number: 130 for ctrl-C

# isa-debug-exit makes QEMU exit with 2 * status + 1.
FROM_QEMU = {33: SUCCESS, 35: IO_ERROR, 37: USAGE, 39: NO_DEVICE, 41: PANIC}

NAMES = {
    SUCCESS: "success",
    IO_ERROR: "I/O or verify errors",
    USAGE: "usage",
    NO_DEVICE: "no usable device",
    PANIC: "kernel panic",
    NOT_STARTED: "no result",
    TIMED_OUT: "timeout",
}


def reason(error: Exception) -> str:
    """What the system says, without the number."""
    return getattr(error, "strerror", None) or str(error)


def status_name(status: int) -> str:
    return NAMES.get(status, "interrupted")


class LauncherError(Exception):
    """Ends the launcher with one line on stderr and an exit status."""

    def __init__(self, message: str, status: int = USAGE):
        super().__init__(message)
        self.status = status


class Interrupted(Exception):
    """A signal asked the launcher to stop."""

    def __init__(self, signum: int):
        super().__init__(f"signal {signum}")
        self.status = SIGNALLED + signum
