# SPDX-License-Identifier: BSD-2-Clause
"""Does a run go by the size that the disk has now, and outlive a disk that shrinks under it?"""
import pytest

from guest import IO_ERROR, OK, file_disk, throttled_disk
from images import SECTOR, Image
from traces import transfers

MIB = 1 << 20
TRACE = ("virtio_blk_handle_read",)


@pytest.fixture
def image(tmp_path):
    return Image(tmp_path / "resized.img", 8 * MIB // SECTOR)


def resize(monitor, mib):
    """While the job runs, however slow the host is; then the job may end."""
    monitor("block_resize", **{"node-name": "d0", "size": mib * MIB})
    monitor.release()


# Random reads of all of the disk, half a minute of them unless the disk is released, and then one
# more of each block.
WHOLE_DISK = ("bs=4k iodepth=8 status-interval=200ms name=running rw=randread number_ios=600 "
              "name=after stonewall rw=read")
PER_SECOND = 20


@pytest.mark.parametrize("mode, device", [
    ("poll", ""), ("irq", ""), ("irq", "vectors=1"), ("irq", "vectors=0"),
    ("poll", "disable-modern=on"), ("irq", "disable-modern=on"), ("irq", "packed=on")])
@pytest.mark.conformance("BLK-OP-01", "CFG-07", "PCI-ISR-03")
def test_f059_growth(start, monitor, image, device, mode):
    """Twice as large while a job runs: that job keeps to what it knew, the next one takes all."""
    guest = start(f"blk.mode={mode} {WHOLE_DISK}", throttled_disk(image.path, PER_SECOND, device),
                  monitor=monitor, json=True)
    guest.read_until(r"^running: \d+% done")
    resize(monitor, 16)
    out = guest.finish()
    assert out.status == OK, out.show()
    out.find(r"^warning: vda 00:01\.0: capacity changed from 16384 to 32768 sectors$")
    assert out.job(1)["read"]["total_ios"] == 16 * MIB // 4096
    assert out.json["ringlab"]["devices"][0]["capacity_512"] == 16 * MIB // SECTOR
    assert not out.errors() and out.stderr == "", out.show()


@pytest.mark.parametrize("mode, device", [("poll", ""), ("irq", ""), ("irq", "disable-modern=on")])
@pytest.mark.conformance("BLK-OP-01", "BLK-OP-02")
def test_f059_shrink(start, monitor, image, device, mode):
    """What lies behind the new end fails, each request for itself; the next job does not go there."""
    guest = start(f"blk.mode={mode} {WHOLE_DISK}", throttled_disk(image.path, PER_SECOND, device),
                  monitor=monitor, json=True)
    guest.read_until(r"^running: \d+% done")
    resize(monitor, 2)
    out = guest.finish()
    assert out.status == IO_ERROR, out.show()
    out.find(r"^warning: vda 00:01\.0: capacity changed from 16384 to 4096 sectors$")
    failed = out.job(0)["ringlab"]["errors"]
    assert set(failed) == {"I/O error"} and failed["I/O error"] > 0
    assert out.job(0)["read"]["total_ios"] > 0
    assert out.job(1)["ringlab"]["errors"] == {}
    assert out.job(1)["read"]["total_ios"] == 2 * MIB // 4096


def test_f059_next_job_does_not_fit(start, monitor, image):
    """A range that was there when the run began, and is not any more: said, and nothing is sent."""
    guest = start(f"{WHOLE_DISK} offset=4m size=1m", throttled_disk(image.path, PER_SECOND),
                  monitor=monitor, trace=TRACE, json=True)
    guest.read_until(r"^running: \d+% done")
    resize(monitor, 3)
    out = guest.finish()
    assert out.status == IO_ERROR, out.show()
    assert out.errors() == ["error: offset=4194304: not below the 3145728 bytes of vda"]
    assert len(out.json["jobs"]) == 1, "the job that did run is not reported"


def test_no_change_no_word(boot, image):
    out = boot("name=a number_ios=1 name=b stonewall rw=read", file_disk(image.path), trace=TRACE)
    assert "capacity" not in out.text
    assert sum(n for _, n in transfers(out.trace, "read")) == 8 * MIB // SECTOR + 8
