# SPDX-License-Identifier: BSD-2-Clause
"""Are block sizes, limits, cache modes, serials and errors what the disk says they are?"""
import errno
import os

import pytest

from guest import IO_ERROR, USAGE, Disk, file_disk, null_disk
from images import SECTOR, crc32c, sparse, stamp
from traces import transfers

READ = "rw=read hash=crc32c"
BLOCKS_OF_4K = "logical_block_size=4096,physical_block_size=4096"
FAULTY_SECTOR = 256


@pytest.mark.parametrize("bs", ["4k", "64k"])
@pytest.mark.conformance("BLK-INIT-07", "BLK-OP-06")
def test_f097_blocks_of_4k(boot, stamped, bs):
    """Places stay in units of 512 bytes on the wire. What is less than a block is left out."""
    whole = stamped.size - stamped.size % 4096
    out = boot(f"{READ} bs={bs} iodepth=16", file_disk(stamped.path, BLOCKS_OF_4K),
               trace=("virtio_blk_handle_read",))
    assert out.crc32c() == stamped.crc(0, whole)
    reads = transfers(out.trace, "read")
    assert all(sector % 8 == 0 and n % 8 == 0 for sector, n in reads)
    assert sum(n for _, n in reads) == whole // SECTOR


def test_f097_bs_512_on_blocks_of_4k(boot, stamped):
    out = boot(f"{READ} bs=512", file_disk(stamped.path, BLOCKS_OF_4K), status=USAGE,
               trace=("virtio_blk_handle_read",))
    assert out.errors() == ["error: bs=512: not a multiple of the 4096-byte blocks of vda"]
    assert transfers(out.trace, "read") == []


def test_f100_beyond_2_tib(boot, tmp_path):
    sector, size = (1 << 32) + 8, 3 << 40
    disk = file_disk(sparse(tmp_path / "huge.img", size, (8, sector)))
    out = boot(f"{READ} bs=512 offset={sector * SECTOR} size=1k", disk, json=True,
               trace=("virtio_blk_handle_read",))
    assert out.crc32c() == crc32c(stamp(sector) + bytes(SECTOR))
    assert f"over 1024 bytes (range {sector * SECTOR}+1024)" in out.text
    assert out.json["ringlab"]["devices"][0]["capacity_512"] == size // SECTOR
    assert sorted(transfers(out.trace, "read")) == [(sector, 1), (sector + 1, 1)]


def test_f100_random_places_on_3_tib(boot, tmp_path):
    out = boot("rw=randread number_ios=200 iodepth=8",
               file_disk(sparse(tmp_path / "huge.img", 3 << 40)), json=True,
               trace=("virtio_blk_handle_read",))
    places = [sector for sector, _ in transfers(out.trace, "read")]
    assert len(set(places)) == 200
    assert max(places) > 1 << 32 and max(places) < (3 << 40) // SECTOR
    assert out.job()["ringlab"]["range_bytes"] == 3 << 40


@pytest.mark.conformance("BLK-INIT-08", "BLK-OP-03")
def test_f105_read_only(boot, stamped):
    disk = file_disk(stamped.path, blockdev="read-only=on")
    for rw in ("write", "randwrite", "rw", "randrw"):
        out = boot(f"rw={rw}", disk, status=USAGE, trace=("virtio_blk_handle_write",))
        assert out.errors() == [f"error: rw={rw}: vda is read-only"]
        assert transfers(out.trace, "write") == []
    out = boot(f"{READ} bs=64k", disk, json=True)
    assert out.crc32c() == stamped.crc()
    assert out.json["ringlab"]["devices"][0]["read_only"] is True


@pytest.mark.parametrize("device, flush, cache", [
    ("write-cache=on", True, "writeback"),
    ("write-cache=off", True, "writethrough"),
    ("write-cache=on,config-wce=off", True, "writeback"),
    ("write-cache=off,config-wce=off", False, "writethrough"),
])
@pytest.mark.conformance("BLK-INIT-03", "BLK-INIT-05", "BLK-OP-24")
def test_f106_f107_cache_mode(boot, small, device, flush, cache):
    """With or without a bit for flushes writes complete, and the report names the cache mode."""
    out = boot("rw=randwrite iodepth=8 number_ios=40", file_disk(small.path, device), json=True)
    assert out.own("cache") == cache
    assert out.json["ringlab"]["devices"][0]["flush"] is flush
    assert out.json["ringlab"]["devices"][0]["cache"] == cache
    assert out.job()["ringlab"]["cache"] == cache
    assert out.job()["write"]["total_ios"] == 40


def test_f106_read_only_disk_that_offers_flush(boot, stamped):
    out = boot(f"{READ} bs=64k", file_disk(stamped.path, blockdev="read-only=on"), json=True)
    assert out.json["ringlab"]["devices"][0]["flush"] is True
    assert out.crc32c() == stamped.crc()


@pytest.mark.parametrize("serial, seen", [
    ("", ""), ("7", "7"), ("ABCDEFGHIJKLMNOPQRST", "ABCDEFGHIJKLMNOPQRST"),
    ("ABCDEFGHIJKLMNOPQRSTUVWX", "ABCDEFGHIJKLMNOPQRST"), ("a b~c", "a b~c"),
])
@pytest.mark.conformance("BLK-OP-08", "BLK-OP-26")
def test_f108_serial(boot, serial, seen):
    """20 characters come without a terminator; nothing follows them."""
    out = boot("log=info number_ios=1", null_disk(device=f"serial={serial}"))
    assert out.find(r"^info: vda 00:01\.0: .*, serial '(.*)'$")[1] == seen


@pytest.mark.parametrize("job", ["bs=512", "bs=4k", "bs=68k buffers=scattered", "bs=1536"])
def test_f110_direct_io_on_the_host(boot, stamped, job):
    """The host's cache is bypassed, so that it minds how the buffers lie."""
    try:
        os.close(os.open(stamped.path, os.O_RDONLY | os.O_DIRECT))
    except OSError as error:
        assert error.errno == errno.EINVAL
        pytest.skip("this file system has no O_DIRECT")
    blockdev = "cache.direct=on,file.cache.direct=on"
    out = boot(f"{READ} {job} iodepth=16", file_disk(stamped.path, blockdev=blockdev))
    assert out.crc32c() == stamped.crc()


@pytest.mark.parametrize("job, said", [
    ("bs=0", "error: bs=0: expected a size up to 1g, such as 4k, in whole blocks of the disk"),
    ("size=0", "error: size=0: expected a size above 0, such as 64m, or a share of the disk, "
               "1% to 100%"),
    ("bs=512 size=511", "error: bs=512: not one block fits in the range of 511 bytes on vda"),
])
def test_f111_nothing_to_transfer(boot, job, said):
    out = boot(f"rw=randwrite {job}", null_disk(1 << 20), status=USAGE,
               trace=("virtio_blk_handle_read", "virtio_blk_handle_write"))
    assert out.errors() == [said]
    assert transfers(out.trace, "read") == transfers(out.trace, "write") == []


def faulty_disk(path, iotype="read"):
    return Disk(["driver=blkdebug,node-name=d{n},image.driver=file,"
                 f"image.filename={path},inject-error.0.event=none,inject-error.0.errno=5,"
                 f"inject-error.0.iotype={iotype},inject-error.0.sector={FAULTY_SECTOR}"],
                "rerror=report,werror=report,request-merging=off")


@pytest.mark.conformance("BLK-OP-25")
def test_f113_one_sector_cannot_be_read(boot, stamped):
    """Counted, named and left out of the figures; the other requests go on."""
    out = boot("rw=read bs=4k iodepth=8", faulty_disk(stamped.path), status=IO_ERROR, json=True)
    blocks = stamped.size // 4096
    read = out.job()["read"]
    assert read["total_ios"] == blocks - 1 and read["io_bytes"] == (blocks - 1) * 4096
    assert read["clat_ns"]["N"] == blocks - 1
    assert out.job()["error"] == errno.EIO
    out.find(r"^  ringlab: errors=1 \(I/O error: 1\), the first at sector 256 of 512 bytes")
    assert f"issued rwts: total={blocks - 1},0,0,0" in out.text


def test_f113_no_checksum_of_what_was_not_read(boot, stamped):
    out = boot(f"{READ} bs=4k iodepth=8", faulty_disk(stamped.path), status=IO_ERROR)
    out.find(r"^  crc32c: none: \d+ of \d+ bytes were read")


def test_f113_one_sector_cannot_be_written(boot, small):
    out = boot("rw=write bs=4k iodepth=8", faulty_disk(small.path, "write"), status=IO_ERROR,
               json=True)
    assert out.job()["write"]["total_ios"] == small.size // 4096 - 1
    now, hole = small.now(), slice(FAULTY_SECTOR * SECTOR, FAULTY_SECTOR * SECTOR + 4096)
    assert now[hole] == small.data[hole]
    assert now[:hole.start] != small.data[:hole.start]
