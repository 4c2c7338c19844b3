# SPDX-License-Identifier: BSD-2-Clause
"""What did the device see? Lines of QEMU's trace, as events of the kernel and not of firmware."""
import re
from dataclasses import dataclass

BANNER = b"ringlab "
WRITTEN = re.compile(r"serial_write write addr 0x00 val 0x([0-9a-f]{2})$")


def after_banner(lines: list[str]) -> list[str]:
    """What follows the kernel's first words; before them, firmware drives the same devices."""
    said = bytearray()
    for number, line in enumerate(lines):
        match = WRITTEN.match(line)
        if match:
            said.append(int(match[1], 16))
            if said.endswith(BANNER):
                return [rest for rest in lines[number + 1:] if not WRITTEN.match(rest)]
    return []


def count(trace: list[str], event: str) -> int:
    return sum(line.split(" ", 1)[0] == event for line in trace)


@dataclass(frozen=True)
class Access:
    """One access to a structure of the device: at which line of the trace, and what."""
    line: int
    write: bool
    region: str
    address: int
    value: int
    size: int

    @property
    def offset(self) -> int:
        """QEMU lays each structure at a multiple of its page."""
        return self.address & 0xFFF


REGION = re.compile(r"memory_region_ops_(read|write) cpu \S+ mr \S+ addr (\S+) value (\S+) "
                    r"size (\d+) name '(virtio-pci-.*)-virtio-blk'$")


def accesses(trace: list[str], region: str = "", write: bool | None = None) -> list[Access]:
    found = []
    for number, line in enumerate(trace):
        match = REGION.match(line)
        if not match:
            continue
        access = Access(number, match[1] == "write", match[5].removeprefix("virtio-pci-"),
                        int(match[2], 16), int(match[3], 16), int(match[4]))
        if region in ("", access.region) and write in (None, access.write):
            found.append(access)
    return found


def statuses(trace: list[str]) -> list[int]:
    """QEMU tells of one write of the status in up to two ways: once is enough here."""
    return [access.value for access in accesses(trace, "common", True) if access.offset == 20]


def written64(trace: list[str], offset: int) -> int:
    """What the two halves of a 64-bit field of the common configuration were set to."""
    halves = {a.offset: a.value for a in accesses(trace, "common", True)}
    return halves[offset] | halves[offset + 4] << 32


def accepted_features(trace: list[str]) -> int:
    """From driver_feature_select (8) and driver_feature (12)."""
    features, word = 0, 0
    for access in accesses(trace, "common", True):
        if access.offset == 8:
            word = access.value
        elif access.offset == 12:
            features |= access.value << 32 * word
    return features


def config_writes(trace: list[str], device: str = "virtio-blk-pci") -> list[tuple[int, int]]:
    """(offset, value) of each write to the configuration space of the disk."""
    found = re.findall(rf"pci_cfg_write {device} \S+ @(\S+) <- (\S+)$", "\n".join(trace), re.M)
    return [(int(offset, 16), int(value, 16)) for offset, value in found]


def chains(trace: list[str]) -> list[tuple[int, int]]:
    """(in, out): how many pieces of memory each request had for the device to write, to read."""
    pops = re.findall(r"virtqueue_pop .* in_num (\d+) out_num (\d+)$", "\n".join(trace), re.M)
    return [(int(ins), int(outs)) for ins, outs in pops]


def transfers(trace: list[str], kind: str) -> list[tuple[int, int]]:
    """(sector, sectors) of each read or write of the disk."""
    found = re.findall(rf"virtio_blk_handle_{kind} .* sector (\d+) nsectors (\d+)$",
                       "\n".join(trace), re.M)
    return [(int(sector), int(n)) for sector, n in found]
