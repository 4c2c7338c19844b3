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


def buffers(randseed: int, bs: int, iodepth: int) -> list[bytes]:
    """What a job that writes has in each of its buffers, as kernel/bench/requests.c fills them."""
    mask, words = (1 << 64) - 1, []
    state = (randseed + 0x9E3779B97F4A7C15) & mask
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ state >> shift) * factor & mask
    state ^= state >> 31
    for _ in range(bs * iodepth // 8):
        state = (state * 6364136223846793005 + 1442695040888963407) & mask
        words.append(state)
    data = struct.pack(f"<{len(words)}Q", *words)
    return [data[at:at + bs] for at in range(0, len(data), bs)]


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

    def check_written(self, offset: int, size: int, bs: int, iodepth: int, randseed: int) -> None:
        """Each block of the range is one buffer of the job, and each buffer is in use."""
        now, end = self.now(), offset + size
        blocks = [now[at:at + bs] for at in range(offset, end, bs)]
        assert set(blocks) == set(buffers(randseed, bs, iodepth))
        assert len(now) == self.size and now[:offset] == self.data[:offset]
        assert now[end:] == self.data[end:]

    def unchanged(self) -> bool:
        return self.now() == self.data


def sparse(path: str, size: int, stamps: tuple[int, ...] = ()) -> str:
    """A file of zeros of which only the named sectors hold their number."""
    with open(path, "wb") as file:
        file.truncate(size)
        for sector in stamps:
            os.pwrite(file.fileno(), stamp(sector), sector * SECTOR)
    return str(path)
