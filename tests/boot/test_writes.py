# SPDX-License-Identifier: BSD-2-Clause
"""Does a job that writes change what it was asked to change, and not one sector beside it?"""
import pytest

from guest import file_disk
from images import SECTOR, Image
from traces import transfers

OFFSET, SIZE = 1 << 20, 320 << 10
TRACE = ("virtio_blk_handle_read", "virtio_blk_handle_write")


@pytest.fixture
def image(tmp_path):
    return Image(tmp_path / "written.img", 4099)


def changed_sectors(image):
    now = image.now()
    assert len(now) == image.size
    return {n for n in range(image.size // SECTOR)
            if now[n * SECTOR:][:SECTOR] != image.data[n * SECTOR:][:SECTOR]}


def sectors_of(ranges):
    return {n for first, count in ranges for n in range(first, first + count)}


@pytest.mark.parametrize("rw", ["write", "randwrite", "rw", "randrw"])
@pytest.mark.parametrize("job", [
    "bs=4k iodepth=16", "bs=512 iodepth=64 number_ios=300",
    "bs=64k iodepth=16 buffers=scattered", "bs=20k iodepth=7 buffers=scattered",
])
@pytest.mark.conformance("BLK-OP-02", "RING-SPLIT-02")
def test_only_the_range_is_written(boot, image, rw, job):
    out = boot(f"rw={rw} offset={OFFSET} size={SIZE} {job}", file_disk(image.path), json=True,
               trace=TRACE)
    writes, reads = transfers(out.trace, "write"), transfers(out.trace, "read")
    assert out.job()["write"]["total_ios"] <= len(writes)
    changed = changed_sectors(image)
    if reads:  # buffers are shared, so that a sector may be given back what was read from it
        assert changed <= sectors_of(writes) and len(changed) > len(sectors_of(writes)) // 2
    else:
        assert changed == sectors_of(writes)
    allowed = set(range(OFFSET // SECTOR, (OFFSET + SIZE) // SECTOR))
    assert sectors_of(writes) | sectors_of(reads) <= allowed
    assert writes and bool(reads) == (rw in ("rw", "randrw"))


def test_write_covers_its_range_once(boot, image):
    out = boot(f"rw=write offset={OFFSET} size={SIZE} bs=4k iodepth=16 randseed=5",
               file_disk(image.path), trace=TRACE)
    image.check_written(OFFSET, SIZE, 4096, 16, randseed=5)
    writes = transfers(out.trace, "write")
    assert sorted(sector for sector, _ in writes) == list(
        range(OFFSET // SECTOR, (OFFSET + SIZE) // SECTOR, 8))
    assert changed_sectors(image) == sectors_of(writes)


def test_what_is_written_is_no_zeroes(boot, image):
    boot("rw=write bs=64k iodepth=4", file_disk(image.path))
    now = image.now()
    for at in range(0, image.size - image.size % 65536, SECTOR):
        assert now[at:at + SECTOR].count(0) < SECTOR // 8


def test_shared_disk_of_two_jobs(boot, image):
    """The second job reads what the first has left outside its range."""
    out = boot(f"name=w rw=randwrite offset={OFFSET} size={SIZE} name=r stonewall rw=read hash=crc32c "
               f"bs=64k size={OFFSET}", file_disk(image.path))
    assert out.crc32c() == image.crc(0, OFFSET)


@pytest.mark.parametrize("mix, most_writes", [(100, 0), (0, 400), (70, 170)])
def test_rwmixread(boot, image, mix, most_writes):
    out = boot(f"rw=randrw rwmixread={mix} number_ios=400 iodepth=8", file_disk(image.path),
               json=True, trace=TRACE)
    writes = len(transfers(out.trace, "write"))
    assert out.job()["write"]["total_ios"] == writes
    assert out.job()["read"]["total_ios"] == 400 - writes
    assert writes <= most_writes
    assert writes >= most_writes * 2 // 5
