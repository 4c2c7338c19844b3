# SPDX-License-Identifier: BSD-2-Clause
"""How does a test boot the kernel and learn what it said? Each QEMU is bounded, and is reaped."""
import ctypes
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from traces import after_banner

ROOT = Path(__file__).resolve().parents[2]
KERNEL = os.environ.get("RINGLAB_KERNEL", str(ROOT / "build" / "ringlab.elf"))
QEMU = os.environ.get("RINGLAB_QEMU", "qemu-system-x86_64")

# QEMU's exit status for each of the kernel's (DESIGN, "Exit").
OK, IO_ERROR, USAGE, NO_DEVICE, PANIC = 33, 35, 37, 39, 41

# More than one possible CPU and thread=multi: else TCG leaves out the guest's barriers.
TCG = ("-accel", "tcg,thread=multi", "-smp", "1,maxcpus=2")
ICOUNT = ("-accel", "tcg", "-icount", "shift=0,sleep=off")
DEBUG_EXIT = ("-device", "isa-debug-exit,iobase=0xf4,iosize=4")
# A boot takes about half a second; this is for a host that does much else.
TIMEOUT_S = 60.0
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with_parent() -> None:
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclass
class Disk:
    """The values of -blockdev and of the disk's -device; "{n}" is the number of the disk."""
    blockdev: list[str]
    device: str = ""
    iothread: bool = False
    objects: list[str] = field(default_factory=list)

    def words(self, n: int) -> list[str]:
        objects, device = list(self.objects), "virtio-blk-pci,drive=d{n}"
        if self.iothread:
            objects.append("iothread,id=io{n}")
            device += ",iothread=io{n}"
        pairs = [("-object", text) for text in objects]
        pairs += [("-blockdev", text) for text in self.blockdev]
        pairs.append(("-device", f"{device},{self.device}".rstrip(",")))
        return [word.replace("{n}", str(n)) for pair in pairs for word in pair]


def file_disk(path, device: str = "", blockdev: str = "", iothread: bool = False) -> Disk:
    text = f"driver=raw,node-name=d{{n}},file.driver=file,file.filename={path},{blockdev}"
    return Disk([text.rstrip(",")], device, iothread)


def null_disk(size: int = 1 << 30, device: str = "", latency_ns: int = 0,
              iothread: bool = False) -> Disk:
    text = f"driver=null-co,node-name=d{{n}},size={size},read-zeroes=on"
    if latency_ns:
        text += f",latency-ns={latency_ns}"
        device += ",cyls=16,heads=16,secs=63"  # else QEMU itself waits for a sector at its start
    return Disk([text], device.lstrip(","), iothread)


# Of a device that refuses the driver which comes with blk.feature.access_platform=0.
REFUSED = "iommu_platform=on,disable-legacy=on"


def throttled_disk(path, iops: int, device: str = "", saved: int = 0) -> Disk:
    """@saved: as many requests may be made up for at once after a pause, and at the start."""
    limits = f"x-iops-total={iops}" + (f",x-iops-total-max={saved}" if saved else "")
    return Disk([f"driver=raw,node-name=f{{n}},file.driver=file,file.filename={path}",
                 "driver=throttle,node-name=d{n},throttle-group=t{n},file=f{n}"], device,
                objects=[f"throttle-group,id=t{{n}},{limits}"])


@dataclass
class Outcome:
    """What is left of a run: QEMU's exit status, what the guest said, QEMU's own words."""
    status: int | None
    text: str
    stderr: str
    json: dict | None
    trace: list[str]

    def show(self) -> str:
        return f"exit status {self.status}\n{self.text}{self.stderr}"

    def find(self, pattern: str) -> re.Match:
        match = re.search(pattern, self.text, re.MULTILINE)
        assert match, f"no /{pattern}/ in: {self.show()}"
        return match

    def errors(self) -> list[str]:
        return [line for line in self.text.splitlines() if line.startswith("error:")]

    def crc32c(self) -> int:
        return int(self.find(r"^  crc32c: 0x([0-9a-f]{8}) over ")[1], 16)

    def own(self, key: str) -> str:
        """From the lines that only this kernel prints: "ringlab: ... key=value ..."."""
        return self.find(rf"^  ringlab: (?:.* )?{re.escape(key)}=(\S+)")[1]

    def job(self, index: int = 0) -> dict:
        assert self.json is not None, f"no JSON: {self.show()}"
        return self.json["jobs"][index]


class Guest:
    """A QEMU that runs. stop() it, or finish() it, whatever happens: the fixture does."""

    def __init__(self, argv: list[str], directory: Path, fds: tuple[int, ...] = ()):
        self.argv, self.directory, self.console = argv, directory, b""
        with open(directory / "stderr", "wb") as stderr:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=stderr, pass_fds=fds,
                                            start_new_session=True, preexec_fn=die_with_parent)

    def _read(self, deadline: float) -> bool:
        """One piece of the console; False at its end. The deadline is the test's failure."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(max(deadline - time.monotonic(), 0)):
                self.stop()
                raise AssertionError(f"time is up: {self.outcome().show()}")
        data = os.read(self.process.stdout.fileno(), 65536)
        self.console += data
        return bool(data)

    @property
    def text(self) -> str:
        return self.console.decode(errors="replace").replace("\r\n", "\n")

    def read_until(self, pattern: str, timeout_s: float = TIMEOUT_S) -> re.Match:
        deadline = time.monotonic() + timeout_s
        while not (match := re.search(pattern, self.text, re.MULTILINE)):
            if not self._read(deadline):
                self.stop()
                raise AssertionError(f"no /{pattern}/ in: {self.outcome().show()}")
        return match

    def finish(self, timeout_s: float = TIMEOUT_S) -> Outcome:
        deadline = time.monotonic() + timeout_s
        while self._read(deadline):
            pass
        self.process.wait(max(deadline - time.monotonic(), 1))
        return self.outcome()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.stop()
        self.process.stdout.close()

    def outcome(self) -> Outcome:
        report = self.directory / "report.json"
        said = report.read_text() if report.exists() else ""
        trace = self.directory / "trace"
        return Outcome(self.process.poll(), self.text,
                       (self.directory / "stderr").read_text(errors="replace"),
                       json.loads(said) if said else None,
                       after_banner(trace.read_text().splitlines()) if trace.exists() else [])


class Monitor:
    """QMP over one end of a socket pair, whose other end QEMU inherits: no path, no port."""

    def __init__(self) -> None:
        self._socket, self.theirs = socket.socketpair()
        self._socket.settimeout(TIMEOUT_S)
        self._file = self._socket.makefile("rw", encoding="utf-8")
        self.events: list[dict] = []

    def words(self) -> list[str]:
        return ["-chardev", f"socket,id=qmp,fd={self.theirs.fileno()}",
                "-mon", "chardev=qmp,mode=control"]

    def greet(self) -> None:
        self.theirs.close()
        assert "QMP" in json.loads(self._file.readline())
        self("qmp_capabilities")

    def _next(self) -> dict:
        line = self._file.readline()
        assert line, "QEMU closed its monitor"
        return json.loads(line)

    def __call__(self, command: str, **arguments):
        self._file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._file.flush()
        while "return" not in (message := self._next()):
            assert "error" not in message, f"{command}: {message['error']}"
            self.events.append(message)
        return message["return"]

    def wait_for(self, event: str) -> None:
        while not any(seen["event"] == event for seen in self.events):
            self.events.append(self._next())
        self.events = [seen for seen in self.events if seen["event"] != event]

    def release(self, number: int = 0) -> None:
        """A throttled_disk() works as fast as it can from now on."""
        self("qom-set", path=f"/objects/t{number}", property="limits", value={"iops-total": 0})

    def close(self) -> None:
        self._file.close()
        self._socket.close()
