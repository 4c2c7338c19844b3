# SPDX-License-Identifier: BSD-2-Clause
"""What stands behind each --disk, and how is QEMU, or a storage daemon beside it, told of it?"""
import os
import re
import stat
from dataclasses import dataclass, field

from .errors import LauncherError

BACKENDS = ("file", "null", "vhost-user")
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
NULL_BYTES = 1 << 30
TEMP_SIZE = "256M"
# With a geometry given, QEMU does not read a slow disk's first sector to guess one.
GEOMETRY = "cyls=16,heads=16,secs=63"


def parse_size(text: str) -> int | None:
    """Bytes of 4096, 64k, 256M, 1G, 1GiB; None if the text is no size."""
    match = re.fullmatch(r"(\d+)([kmgt]?)(?:i?b)?", text, re.IGNORECASE)
    return int(match[1]) * UNITS[match[2].lower()] if match else None


def escape(value: str) -> str:
    """A comma inside a value is written twice in QEMU's key=value lists."""
    return value.replace(",", ",,")


@dataclass
class Disk:
    kind: str                   # "file", "null" or "temp"
    size_bytes: int = 0         # of null and temp
    path: str = ""              # of file
    read_only: bool = False
    host_device: bool = False   # a block device, not a file
    null_options: list[str] = field(default_factory=list)

    def name(self) -> str:
        if self.kind == "file":
            return self.path
        return f"{self.kind} ({self.size_bytes} bytes)"

    def blockdevs(self, index: int, path: str) -> list[str]:
        """The values of --blockdev that make node d<index>; path is that of a temporary disk."""
        if self.kind == "null":
            options = ["driver=null-co", f"node-name=d{index}", f"size={self.size_bytes}"]
            if not any(o.startswith("read-zeroes=") for o in self.null_options):
                options.append("read-zeroes=on")
            return [",".join(options + self.null_options)]
        read_only = ",read-only=on" if self.read_only else ""
        protocol = "host_device" if self.host_device else "file"
        filename = escape(self.path if self.kind == "file" else path)
        return [f"driver={protocol},node-name=f{index},filename={filename},aio=threads{read_only}",
                f"driver=raw,node-name=d{index},file=f{index}{read_only}"]

    def device_options(self) -> list[str]:
        """What virtio-blk-pci needs for this disk, beyond its drive."""
        slow = any(o.startswith("latency-ns=") for o in self.null_options)
        return [GEOMETRY] if slow else []


def _null_disk(text: str) -> Disk:
    head, *options = text.split(",")
    size_bytes = NULL_BYTES
    if head != "null":
        size = parse_size(head.removeprefix("null:"))
        if size is None:
            raise LauncherError(f"--disk {text}: '{head.removeprefix('null:')}' is not a size; "
                                "valid: null, null:4G, null:4G,latency-ns=20000")
        size_bytes = size
    for option in options:
        if "=" not in option:
            raise LauncherError(f"--disk {text}: '{option}' is not an option of null-co; "
                                "valid: KEY=VALUE, as in null,latency-ns=20000")
    return Disk("null", size_bytes, null_options=options)


def _file_disk(text: str) -> Disk:
    try:
        mode = os.stat(text).st_mode
    except OSError as error:
        raise LauncherError(f"--disk {text}: {error.strerror}; valid: a file, null[:SIZE], "
                            "none, or a size such as 256M") from error
    if not (stat.S_ISREG(mode) or stat.S_ISBLK(mode)):
        raise LauncherError(f"--disk {text}: neither a file nor a block device")
    if not os.access(text, os.R_OK):
        raise LauncherError(f"--disk {text}: not readable")
    # root may write to anything, but a file without a write bit was not meant for that.
    read_only = not os.access(text, os.W_OK) or not mode & 0o222
    return Disk("file", path=text, read_only=read_only, host_device=stat.S_ISBLK(mode))


def parse_disk(text: str) -> Disk:
    """null and sizes win over files of such a name: write ./256M for a file called 256M."""
    if re.match(r"null(?=[:,]|$)", text):
        return _null_disk(text)
    size = parse_size(text)
    if size is None:
        return _file_disk(text)
    if size == 0:
        raise LauncherError(f"--disk {text}: a disk of 0 bytes; valid: a size such as 256M")
    return Disk("temp", size)


def choose(specs: list[str], backend: str | None) -> list[Disk]:
    """The disks of a run. Without --disk there is one, of the kind that the backend suggests."""
    specs = specs or [TEMP_SIZE if backend == "file" else "null"]
    if "none" in specs:
        if len(specs) > 1:
            raise LauncherError("--disk none: means no disk at all, but another --disk is given")
        return []
    disks = [parse_disk(spec) for spec in specs]
    for spec, disk in zip(specs, disks):
        if backend == "null" and disk.kind == "temp":
            disk.kind = "null"
        if backend in ("file", "null") and (backend == "null") != (disk.kind == "null"):
            raise LauncherError(f"--backend {backend}: does not fit --disk {spec}")
    return disks
