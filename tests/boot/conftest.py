# SPDX-License-Identifier: BSD-2-Clause
"""What may a boot test ask for? boot() a kernel, start() one to talk to, images to read."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from gdb import Debugger  # noqa: E402
from guest import DEBUG_EXIT, KERNEL, OK, QEMU, TCG, TIMEOUT_S, Guest, Monitor  # noqa: E402
from images import Image  # noqa: E402

HERE = Path(__file__).resolve().parent
TEST_TIMEOUT_S = 150
STAMPED_SECTORS = 4099  # 2 MiB and three sectors: no block size but 512 divides it


def pytest_configure(config):
    config.addinivalue_line("markers",
                            "conformance(id, ...): rows of the virtio checklist that it covers")


def pytest_collection_modifyitems(items):
    """A test that hangs is a failure of that test, not of the run."""
    for item in items:
        if item.path.parent == HERE and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(TEST_TIMEOUT_S))


@pytest.fixture(scope="session")
def stamped(tmp_path_factory):
    """Read-only by custom: whoever changes it fails the session."""
    image = Image(tmp_path_factory.mktemp("images") / "stamped.img", STAMPED_SECTORS)
    yield image
    assert image.unchanged()


@pytest.fixture
def small(tmp_path):
    """256 KiB that a test may write."""
    return Image(tmp_path / "small.img", 512)


@pytest.fixture
def start(tmp_path):
    """Starts QEMU and returns the Guest; all that are left are killed when the test ends."""
    guests = []

    def start(append, *disks, machine="q35", memory="256M", cpu=None, kernel=KERNEL, qemu=(),
              accel=TCG, trace=(), json=False, serial="stdio", debug_exit=True, reboot=False,
              monitor=None, fds=()):
        assert os.path.isfile(kernel), f"{kernel} is not there: run `make` first"
        directory = tmp_path / f"guest{len(guests)}"
        directory.mkdir()
        argv = [QEMU, "-nodefaults", "-no-user-config", "-display", "none", *accel, "-M", machine,
                "-m", memory, "-kernel", str(kernel), "-serial", serial]
        argv += [] if reboot else ["-no-reboot"]
        argv += ["-cpu", cpu] if cpu else []
        argv += DEBUG_EXIT if debug_exit else []
        if json:
            append = f"{append} output-format=normal,json"
            argv += ["-serial", f"file:{directory / 'report.json'}"]
        argv += ["-append", append] if append is not None else []
        argv += qemu
        if trace:
            argv += ["-D", str(directory / "trace")]
        for event in (*trace, "serial_write") if trace else ():
            argv += ["-trace", event]
        for number, disk in enumerate(disks):
            argv += disk.words(number)
        if monitor:
            argv += monitor.words()
            fds = (*fds, monitor.theirs.fileno())
        guests.append(Guest(argv, directory, fds))
        if monitor:
            monitor.greet()
        return guests[-1]

    yield start
    for guest in guests:
        guest.close()


@pytest.fixture
def boot(start):
    """One run from power-on to exit. A status other than @status, or a word of QEMU's, fails."""
    def boot(append, *disks, status=OK, timeout_s=TIMEOUT_S, **how):
        outcome = start(append, *disks, **how).finish(timeout_s)
        assert outcome.status == status, outcome.show()
        assert outcome.stderr == "", outcome.show()
        return outcome
    return boot


@pytest.fixture
def monitor():
    made = Monitor()
    yield made
    made.close()


@pytest.fixture
def debugger():
    made = Debugger()
    yield made
    made.close()


@pytest.fixture
def tool():
    """Skips the test where a program of the host is not installed."""
    def tool(name):
        if not shutil.which(name):
            pytest.skip(f"{name} is not installed")
        return lambda *words, **how: subprocess.run(
            [name, *words], check=True, capture_output=True, text=True, timeout=TEST_TIMEOUT_S,
            **how).stdout
    return tool
