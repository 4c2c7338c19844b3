# SPDX-License-Identifier: BSD-2-Clause
"""Is each address that the device gets the right one, high in memory or on scattered pages?"""
import pytest

from guest import file_disk
from traces import chains, written64

FOUR_GIB = 1 << 32
RING_FIELDS = {"descriptors": 32, "available": 40, "used": 48}


@pytest.mark.parametrize("machine", ["q35", "pc"])
@pytest.mark.parametrize("buffers", ["contiguous", "scattered"])
def test_f021_memory_above_the_hole(boot, stamped, machine, buffers):
    out = boot(f"alloc=high rw=read hash=crc32c bs=64k iodepth=16 buffers={buffers}",
               file_disk(stamped.path), machine=machine, memory="6G", json=True,
               trace=("memory_region_ops_write",))
    assert out.crc32c() == stamped.crc()
    assert 0 <= (6 << 30) - out.json["ringlab"]["ram_bytes"] < 2 << 20
    for name, offset in RING_FIELDS.items():
        assert written64(out.trace, offset) >= FOUR_GIB, f"{name} below 4 GiB"


@pytest.mark.parametrize("memory", ["2G", "4G", "20G"])
def test_f021_sizes_round_the_hole(boot, stamped, memory):
    out = boot("rw=read hash=crc32c bs=64k iodepth=16", file_disk(stamped.path), memory=memory,
               json=True)
    assert out.crc32c() == stamped.crc()
    assert 0 <= (int(memory[:-1]) << 30) - out.json["ringlab"]["ram_bytes"] < 2 << 20


@pytest.mark.parametrize("indirect", ["never", "always"])
def test_f023_scattered_pages(boot, stamped, indirect):
    """64 KiB on 16 pages that are no neighbours: 16 pieces, and the status byte."""
    out = boot(f"rw=read hash=crc32c bs=64k iodepth=16 buffers=scattered blk.indirect={indirect}",
               file_disk(stamped.path), trace=("virtqueue_pop",))
    assert out.crc32c() == stamped.crc()
    whole, last = stamped.size // 65536, chains(out.trace)[-1]
    assert chains(out.trace)[:whole] == [(17, 1)] * whole
    assert last == (2, 1)


def test_f023_contiguous_pages_are_one_piece(boot, stamped):
    out = boot("rw=read hash=crc32c bs=64k iodepth=16", file_disk(stamped.path),
               trace=("virtqueue_pop",))
    assert set(chains(out.trace)) == {(2, 1)}


@pytest.mark.parametrize("indirect", ["never", "always"])
@pytest.mark.conformance("RING-SPLIT-01")
def test_f026_large_ring(boot, stamped, indirect):
    """1024 descriptors fill four pages, which have to be neighbours."""
    out = boot(f"rw=read hash=crc32c bs=4k iodepth=341 buffers=scattered blk.indirect={indirect}",
               file_disk(stamped.path, "queue-size=1024"), trace=("memory_region_ops_write",))
    assert out.crc32c() == stamped.crc()
    assert written64(out.trace, RING_FIELDS["descriptors"]) % 16 == 0
    assert written64(out.trace, RING_FIELDS["available"]) % 2 == 0
    assert written64(out.trace, RING_FIELDS["used"]) % 4 == 0
    assert int(out.own("max_in_flight")) == 341
