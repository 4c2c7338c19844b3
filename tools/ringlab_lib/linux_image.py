# SPDX-License-Identifier: BSD-2-Clause
"""What does it take to boot Debian's Linux with fio in it? A kernel, and an initramfs of our making.

Everything goes to build/linux; nothing is installed. Packages come from apt-get download, fio and
the libraries that it needs from this system.
"""
import glob
import os
import re
import shutil
import stat
import subprocess

from .errors import NOT_STARTED, LauncherError
from .qemu import ROOT

HOME = os.path.join(ROOT, "build", "linux")
TIMEOUT_S = 600
# In the order of insmod.
MODULES = ("virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci",
           "virtio_blk")
BEGIN, END = "fio-json-begin", "fio-json-end"

INIT = f"""\
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox dmesg -n 1
. /job
for module in {' '.join(MODULES)}; do
	words=
	[ $module != virtio_blk ] || words="$virtio_blk"
	/bin/busybox insmod /modules/$module.ko $words
done
echo none >/sys/block/vda/queue/scheduler
/bin/fio --output=/report $fio
echo {BEGIN}
/bin/busybox cat /report
echo {END}
/bin/busybox poweroff -f
"""


def _run(*words: str, cwd: str | None = None) -> str:
    try:
        done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT_S)
    except OSError as error:
        raise LauncherError(f"cannot run {words[0]}: {error.strerror}", NOT_STARTED) from error
    if done.returncode:
        raise LauncherError(f"{' '.join(words)}: failed: {done.stderr.strip()[-300:]}", NOT_STARTED)
    return done.stdout


def _unpacked(package: str) -> str:
    """Where a package's files are; downloaded once."""
    into = os.path.join(HOME, package)
    if not os.path.isdir(into):
        _run("apt-get", "download", package, cwd=HOME)
        found = glob.glob(os.path.join(HOME, f"{package}_*.deb"))
        if not found:
            raise LauncherError(f"apt-get download {package} left no package", NOT_STARTED)
        _run("dpkg-deb", "-x", found[0], into + ".new")
        os.rename(into + ".new", into)
    return into


def _kernel_package() -> str:
    """The one that linux-image-amd64 stands for."""
    match = re.search(r"Depends: (linux-image-[\w.+-]+)", _run("apt-cache", "depends",
                                                              "linux-image-amd64"))
    if not match:
        raise LauncherError("apt-cache knows no linux-image-amd64; try apt-get update", NOT_STARTED)
    return match[1]


def _cpio_entry(name: str, mode: int, data: bytes, number: int) -> bytes:
    """The "newc" format: a header in hexadecimal, name and data each padded to 4 bytes."""
    name_bytes = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name_bytes), 0)
    head = b"070701" + "".join(f"{field:08x}" for field in fields).encode() + name_bytes
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


class Initramfs:
    def __init__(self) -> None:
        self.text = bytearray()
        self.number = 0
        self.directories: set[str] = set()

    def _entry(self, name: str, mode: int, data: bytes = b"") -> None:
        self.number += 1
        self.text += _cpio_entry(name, mode, data, self.number)

    def directory(self, name: str) -> None:
        parent = os.path.dirname(name)
        if name and name not in self.directories:
            self.directory(parent)
            self.directories.add(name)
            self._entry(name, stat.S_IFDIR | 0o755)

    def add(self, name: str, data: bytes, mode: int = 0o755) -> None:
        self.directory(os.path.dirname(name))
        self._entry(name, stat.S_IFREG | mode, data)

    def copy(self, path: str, name: str) -> None:
        with open(path, "rb") as file:
            self.add(name, file.read())

    def whole(self) -> bytes:
        return bytes(self.text) + _cpio_entry("TRAILER!!!", 0, b"", 0)


def _libraries(program: str) -> list[str]:
    """Each as the loader looks for it: by the path that ldd names."""
    return re.findall(r"(?:=> |^\s*)(/\S+) \(0x", _run("ldd", program), re.MULTILINE)


def _base() -> tuple[str, Initramfs]:
    os.makedirs(HOME, exist_ok=True)
    fio = shutil.which("fio")
    if fio is None:
        raise LauncherError("there is no fio here; install with: apt-get install fio", NOT_STARTED)
    kernel, busybox = _unpacked(_kernel_package()), _unpacked("busybox-static")
    image = Initramfs()
    for name in ("dev", "proc", "sys", "tmp"):
        image.directory(name)
    image.add("init", INIT.encode())
    image.copy(os.path.join(busybox, "bin", "busybox"), "bin/busybox")
    image.copy(fio, "bin/fio")
    for path in _libraries(fio):
        image.copy(path, path.lstrip("/"))
    for module in MODULES:
        found = glob.glob(f"{kernel}/lib/modules/*/kernel/drivers/*/{module}.ko")
        if not found:
            raise LauncherError(f"{kernel} has no module {module}.ko", NOT_STARTED)
        image.copy(found[0], f"modules/{module}.ko")
    return glob.glob(f"{kernel}/boot/vmlinuz-*")[0], image


def make(jobs: dict[str, dict[str, str]]) -> tuple[str, dict[str, str]]:
    """The kernel, and for each job an initramfs that runs it. A job says what $fio and $virtio_blk
    are."""
    kernel, image = _base()
    paths = {}
    for name, words in jobs.items():
        job = "".join(f"{key}='{value}'\n" for key, value in words.items())
        paths[name] = os.path.join(HOME, f"{name}.cpio")
        with open(paths[name], "wb") as file:
            # Later archives add to earlier ones.
            file.write(image.whole() + _cpio_entry("job", stat.S_IFREG | 0o644, job.encode(), 1)
                       + _cpio_entry("TRAILER!!!", 0, b"", 0))
    return kernel, paths
