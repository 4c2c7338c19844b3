# SPDX-License-Identifier: BSD-2-Clause
"""Which commands boot the kernel with these options? Nothing is started here."""
import os
import platform
import re
import shlex
from dataclasses import dataclass, field

from . import disks as disks_module
from .disks import Disk, escape, parse_size
from .errors import LauncherError, NOT_STARTED

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEFAULT_KERNEL = os.path.join(ROOT, "build", "ringlab.elf")
MEM_BYTES_MIN = 2 << 20  # the image lies at 1 MiB
WRITING = {"write", "randwrite", "rw", "readwrite", "randrw"}


@dataclass
class Options:
    """What `tools/ringlab run` was asked for."""
    accel: str = "auto"
    machine: str = "q35"
    smp: str = "1"
    mem: str = "256M"
    cpu: str = ""
    disk: list[str] = field(default_factory=list)
    backend: str | None = None
    iothread: bool = True
    device: list[str] = field(default_factory=list)
    qemu_arg: list[str] = field(default_factory=list)
    kernel: str = DEFAULT_KERNEL
    icount: bool = False
    timeout_s: float | None = None
    tokens: list[str] = field(default_factory=list)


def qemu_program() -> str:
    return os.environ.get("RINGLAB_QEMU", "qemu-system-x86_64")


def qemu_img_program() -> str:
    return os.environ.get("RINGLAB_QEMU_IMG", "qemu-img")


def storage_daemon_program() -> str:
    return os.environ.get("RINGLAB_QSD", "qemu-storage-daemon")


def short_path(path: str) -> str:
    """Relative to where we are, if it is below."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def kvm_usable() -> bool:
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    try:
        os.close(os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def quote_token(token: str) -> str:
    """For the kernel's parser: blanks part tokens, either kind of quote keeps them."""
    if token and not re.search(r"[\s'\"]", token):
        return token
    runs = re.findall(r"[^\"]+|\"+", token) or [""]
    return "".join(f"'{run}'" if run.startswith('"') else f'"{run}"' for run in runs)


def job_value(tokens: list[str], key: str) -> list[str]:
    """Each value that the tokens give to key, with or without leading dashes."""
    values = []
    for token in tokens:
        name, equals, value = token.partition("=")
        if equals and name.lstrip("-") == key:
            values.append(value)
    return values


class Command:
    """QEMU's command line for a run, and that of a storage daemon if one is needed."""

    def __init__(self, options: Options):
        self.options = options
        self.accel = self._accel_name()
        self.machine = options.machine.split(",")[0]
        self.vcpus = self._vcpus()
        self.disks: list[Disk] = disks_module.choose(options.disk, options.backend)
        self.writes = any(WRITING.intersection(job_value(options.tokens, key))
                          for key in ("rw", "readwrite"))
        self._mem_bytes()  # refuses what is no size, before anything is started
        self._more = [self._words(text) for text in options.qemu_arg]

    def _accel_name(self) -> str:
        accel = self.options.accel
        if accel == "auto":
            accel = "kvm" if kvm_usable() and not self.options.icount else "tcg"
        name = accel.split(",")[0]
        if self.options.icount and name != "tcg":
            raise LauncherError(f"--icount: counts instructions under tcg only, not {name}")
        return name

    def _vcpus(self) -> int:
        match = re.match(r"(?:cpus=)?(\d+)(?:,|$)", self.options.smp)
        if not match or int(match[1]) == 0:
            raise LauncherError(f"--smp {self.options.smp}: not a number of CPUs; valid: 1, 4, "
                                "or QEMU's own form such as 6,sockets=2,cores=3,threads=1")
        return int(match[1])

    def _mem_bytes(self) -> int:
        text = self.options.mem.split(",")[0].removeprefix("size=")
        size = parse_size(text + "M" if text.isdigit() else text)
        if not size:
            raise LauncherError(f"--mem {self.options.mem}: not a size; valid: 256M, 6G")
        if size < MEM_BYTES_MIN:
            raise LauncherError(f"--mem {self.options.mem}: too little for the kernel; valid: "
                                f"{MEM_BYTES_MIN >> 20}M and more")
        return size

    @staticmethod
    def _words(text: str) -> list[str]:
        try:
            return shlex.split(text)
        except ValueError as error:
            raise LauncherError(f"--qemu-arg {text}: {error}") from error

    def check_kernel(self) -> None:
        kernel = self.options.kernel
        if not os.path.isfile(kernel):
            hint = ": run `make` first" if kernel == DEFAULT_KERNEL else ""
            raise LauncherError(f"no kernel image {short_path(kernel)}{hint}", NOT_STARTED)

    @property
    def vhost_user(self) -> bool:
        return self.options.backend == "vhost-user" and bool(self.disks)

    @property
    def has_com2(self) -> bool:
        """microvm has one serial port; the kernel then puts JSON between marker lines on it."""
        return self.machine != "microvm"

    def append(self) -> str:
        tokens = self.options.tokens
        # The kernel skips a first word without '=': some loaders put the image's path there.
        path = ["/ringlab"] if tokens and "=" not in tokens[0] else []
        return " ".join(path + [quote_token(token) for token in tokens])

    def queues(self) -> int:
        """As many as virtio-blk-pci makes on its own, one for each CPU, unless told otherwise."""
        given = re.findall(r"(?:^|,)num-queues=(\d+)", ",".join(self.options.device))
        return int(given[-1]) if given else self.vcpus

    def storage_daemon(self, directory: str) -> list[list[str]]:
        groups = [[storage_daemon_program()], ["--pidfile", pidfile(directory)]]
        for index, disk in enumerate(self.disks):
            export = (f"type=vhost-user-blk,id=e{index},node-name=d{index},addr.type=unix,"
                      f"addr.path={escape(socket_path(directory, index))},"
                      f"num-queues={self.queues()}")
            if self.options.iothread:
                groups.append(["--object", f"iothread,id=io{index}"])
                export += f",iothread=io{index}"
            if self.writes and not disk.read_only:
                export += ",writable=on"
            path = temp_disk(directory, index)
            groups += [["--blockdev", text] for text in disk.blockdevs(index, path)]
            groups.append(["--export", export])
        return groups

    def qemu(self, directory: str, json_path: str | None) -> list[list[str]]:
        """In groups: an option with its value."""
        options = self.options
        groups = [[qemu_program()], ["-nodefaults"], ["-no-user-config"], ["-no-reboot"],
                  ["-display", "none"]]
        groups += self._machine_groups()
        groups += [["-kernel", short_path(options.kernel)], ["-append", self.append()],
                   ["-serial", "stdio"]]
        if json_path is not None and self.has_com2:
            groups.append(["-serial", f"file:{json_path}"])
        groups.append(["-device", "isa-debug-exit,iobase=0xf4,iosize=4"])
        for index, disk in enumerate(self.disks):
            groups += self._disk_groups(index, disk, directory)
        return groups + self._more

    def _machine_groups(self) -> list[list[str]]:
        options = self.options
        machine, accel, smp, cpu = options.machine, options.accel, options.smp, options.cpu
        groups = []
        if self.machine == "microvm" and "pcie=" not in machine:
            machine += ",pcie=on"
        if self.vhost_user:
            machine += ",memory-backend=mem"
            groups.append(["-object", "memory-backend-memfd,id=mem,share=on,"
                                      f"size={self._mem_bytes()}"])
        if accel in ("auto", "tcg"):
            # With one possible CPU, or without thread=multi, TCG leaves out the guest's barriers.
            accel = {"tcg": "tcg,thread=multi"}.get(self.accel, self.accel)
            if options.icount:
                accel = "tcg"
            elif self.accel == "tcg" and smp.isdigit():
                smp = f"{smp},maxcpus={max(self.vcpus, 2)}"
        if self.accel == "kvm" and not cpu:
            cpu = "host"
        groups += [["-machine", machine], ["-accel", accel]]
        if options.icount:
            groups.append(["-icount", "shift=0,sleep=off"])
        groups += [["-smp", smp], ["-m", options.mem]]
        return groups + ([["-cpu", cpu]] if cpu else [])

    def _disk_groups(self, index: int, disk: Disk, directory: str) -> list[list[str]]:
        options, groups = self.options, []
        if self.vhost_user:
            path = escape(socket_path(directory, index))
            groups.append(["-chardev", f"socket,id=c{index},path={path}"])
            device = [f"vhost-user-blk-pci,chardev=c{index}", f"num-queues={self.queues()}"]
        else:
            device = [f"virtio-blk-pci,drive=d{index}"]
            if options.iothread:
                groups.append(["-object", f"iothread,id=io{index}"])
                device.append(f"iothread=io{index}")
            path = temp_disk(directory, index)
            groups += [["-blockdev", text] for text in disk.blockdevs(index, path)]
            device += disk.device_options()
        groups.append(["-device", ",".join(device + options.device)])
        return groups

    def temp_disks(self, directory: str) -> list[tuple[str, int]]:
        return [(temp_disk(directory, index), disk.size_bytes)
                for index, disk in enumerate(self.disks) if disk.kind == "temp"]


def pidfile(directory: str) -> str:
    return os.path.join(directory, "storage-daemon.pid")


def socket_path(directory: str, index: int) -> str:
    return os.path.join(directory, f"disk{index}.sock")


def temp_disk(directory: str, index: int) -> str:
    return os.path.join(directory, f"disk{index}.img")


def flatten(groups: list[list[str]]) -> list[str]:
    return [word for group in groups for word in group]


def shell_text(groups: list[list[str]]) -> str:
    """One option a line, ready to paste."""
    return " \\\n    ".join(shlex.join(group) for group in groups)
