# SPDX-License-Identifier: BSD-2-Clause
"""What should the guest have read? Images in which each sector holds its number, and their CRC."""
import os
import struct
from functools import lru_cache

SECTOR = 512
POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed


def _table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


TABLE = _table()


def crc32c(data: bytes) -> int:
    crc, table = 0xFFFFFFFF, TABLE
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def stamp(sector: int) -> bytes:
    return struct.pack("<Q", sector) * (SECTOR // 8)


class Image:
    """A raw file whose every sector of 512 bytes holds its own number, 64 times."""

    def __init__(self, path: str, sectors: int):
        self.path = str(path)
        self.data = b"".join(stamp(n) for n in range(sectors))
        with open(self.path, "wb") as file:
            file.write(self.data)

    @property
    def size(self) -> int:
        return len(self.data)

    @lru_cache(maxsize=None)  # noqa: B019: an image lives as long as the session
    def crc(self, offset: int = 0, size: int | None = None) -> int:
        end = self.size if size is None else offset + size
        return crc32c(self.data[offset:end])

    def now(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read()

    def unchanged(self) -> bool:
        return self.now() == self.data


def sparse(path: str, size: int, stamps: tuple[int, ...] = ()) -> str:
    """A file of zeros of which only the named sectors hold their number."""
    with open(path, "wb") as file:
        file.truncate(size)
        for sector in stamps:
            os.pwrite(file.fileno(), stamp(sector), sector * SECTOR)
    return str(path)
