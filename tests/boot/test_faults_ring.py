# SPDX-License-Identifier: BSD-2-Clause
"""Does the ring hold what it should, at any size, full, wrapped, and with few notifications?"""
import pytest

from guest import file_disk, null_disk
from images import Image
from traces import accesses, chains, count

READ = "rw=read hash=crc32c"


@pytest.mark.parametrize("size", [4, 8, 64, 256, 512, 1024])
@pytest.mark.conformance("PCI-COM-03", "RING-SPLIT-35")
def test_f065_queue_size_of_the_device(boot, stamped, size):
    out = boot(READ + " bs=4k iodepth=1024", file_disk(stamped.path, f"queue-size={size}"),
               trace=("memory_region_ops_read", "memory_region_ops_write"))
    assert out.crc32c() == stamped.crc()
    assert out.own("qsize") == str(size)
    sizes = [a.value for a in accesses(out.trace, "common") if a.offset == 24]
    assert set(sizes) == {size}


@pytest.mark.parametrize("asked", [4, 16, 128])
@pytest.mark.conformance("PCI-COM-03", "PCI-COM-10")
def test_f065_smaller_on_request(boot, stamped, asked):
    out = boot(f"{READ} bs=4k iodepth=64 blk.qsize={asked}", file_disk(stamped.path),
               trace=("memory_region_ops_write",))
    assert out.crc32c() == stamped.crc()
    assert out.own("qsize") == str(asked)
    assert [a.value for a in accesses(out.trace, "common", True) if a.offset == 24] == [asked]


@pytest.mark.conformance("RING-SPLIT-09", "BLK-INIT-10")
def test_f069_seg_max_larger_than_the_ring(boot, stamped):
    """The device says 126 segments; a ring of 64 has room for 62 and header and status."""
    device = "queue-size=64,seg-max-adjust=off,indirect_desc=off"
    out = boot(READ + " bs=1m iodepth=4 buffers=scattered", file_disk(stamped.path, device),
               trace=("virtqueue_pop",))
    assert out.crc32c() == stamped.crc()
    assert max(ins + outs for ins, outs in chains(out.trace)) <= 64


@pytest.mark.parametrize("size, indirect, depth, number", [
    (4, "never", 1, 70000), (4, "always", 4, 200000),
    (256, "never", 85, 200000), (256, "always", 256, 200000),
])
@pytest.mark.conformance("RING-SPLIT-13", "RING-SPLIT-35")
def test_f070_index_wrap(boot, size, indirect, depth, number):
    """As deep as the ring is, and past 65,536 requests."""
    out = boot(f"bs=512 iodepth={depth} number_ios={number} blk.indirect={indirect}",
               null_disk(device=f"queue-size={size}", iothread=True))
    assert f"issued rwts: total={number},0,0,0" in out.text
    assert out.own("max_in_flight") == str(depth)
    assert out.own("ring_full") == "0"


@pytest.mark.parametrize("rw", ["randread", "randrw"])
def test_f073_ring_full(boot, rw):
    out = boot(f"rw={rw} iodepth=512 number_ios=4000", iothread_disk(), json=True)
    job = out.job()
    assert job["read"]["total_ios"] + job["write"]["total_ios"] == 4000
    assert out.own("max_in_flight") == "2"
    assert int(out.own("ring_full")) > 0


def iothread_disk():
    return null_disk(device="queue-size=8,indirect_desc=off", iothread=True)


@pytest.mark.parametrize("bs, buffers, size, depth", [
    ("64k", "scattered", 256, 16), ("64k", "scattered", 16, 64), ("20k", "scattered", 8, 3),
    ("512", "contiguous", 8, 9),
])
def test_f073_ring_full_of_long_chains(boot, stamped, bs, buffers, size, depth):
    """Chains of several slots come and go, so that each descriptor has been each part of one."""
    out = boot(f"{READ} bs={bs} buffers={buffers} iodepth={depth}",
               file_disk(stamped.path, f"queue-size={size},indirect_desc=off"))
    assert out.crc32c() == stamped.crc()
    assert int(out.own("ring_full")) > 0


@pytest.mark.parametrize("event_idx, most", [(1, 50000 // 32768 + 1), (0, 1)])
@pytest.mark.conformance("RING-SPLIT-16", "RING-SPLIT-15", "MSIX-07")
def test_f082_polled_without_interrupts(boot, event_idx, most):
    """With EVENT_IDX the flag has to stay 0, so the mark is parked; without it the flag is set."""
    out = boot(f"iodepth=32 number_ios=50000 blk.event_idx={event_idx}", null_disk(iothread=True),
               trace=("virtio_notify", "virtio_notify_irqfd"))
    assert "issued rwts: total=50000,0,0,0" in out.text
    assert count(out.trace, "virtio_notify") + count(out.trace, "virtio_notify_irqfd") <= most
    assert out.own("irqs/io") == "0.000"


@pytest.mark.parametrize("event_idx", [0, 1])
@pytest.mark.conformance("RING-SPLIT-34", "RING-SPLIT-28", "RING-SPLIT-30")
def test_f086_one_kick_a_batch(boot, event_idx):
    """The disk works in the thread that is kicked, so it asks for each batch once, no more."""
    out = boot("iodepth=16 iodepth_batch_submit=16 iodepth_batch_complete_min=16 number_ios=1600 "
               f"blk.event_idx={event_idx}", null_disk(device="ioeventfd=off"), json=True,
               trace=("virtio_queue_notify",))
    kicks = count(out.trace, "virtio_queue_notify")
    assert 0 < kicks <= 100 + 3
    assert out.own("batches/io") == "0.063"
    assert out.job()["ringlab"]["kicks_per_io"] == pytest.approx(kicks / 1600, abs=0.001)


@pytest.mark.parametrize("device", ["", "event_idx=off"])
def test_plain_qemu_never_hangs(boot, device):
    """With one possible CPU TCG leaves out the guest's barriers: lost kicks are sent again."""
    out = boot("iodepth=1 number_ios=3000", null_disk(device=device, iothread=True),
               accel=("-accel", "tcg"))
    assert "issued rwts: total=3000,0,0,0" in out.text
    assert (out.own("rekicks") != "0") == ("repeated (rekicks)" in out.text)


@pytest.mark.conformance("RING-SPLIT-09", "RING-SPLIT-12")
def test_f093_table_no_longer_than_the_queue(boot, stamped):
    out = boot(READ + " bs=256k iodepth=8 buffers=scattered blk.indirect=always",
               file_disk(stamped.path, "queue-size=8"), trace=("virtqueue_pop",))
    assert out.crc32c() == stamped.crc()
    assert max(ins + outs for ins, outs in chains(out.trace)) == 8


def test_f095_table_larger_than_a_page(boot, tmp_path):
    """302 entries of 16 bytes: more than a page, so its pages have to be neighbours."""
    image = Image(tmp_path / "d.img", 7205)
    out = boot(READ + " bs=1200k iodepth=4 buffers=scattered blk.indirect=always",
               file_disk(image.path, "queue-size=1024"), trace=("virtqueue_pop",))
    assert out.crc32c() == image.crc()
    assert chains(out.trace)[:3] == [(301, 1)] * 3


@pytest.mark.parametrize("device", ["queue-size=256", "queue-size=128", "queue-size=256,"
                                    "seg-max-adjust=off"])
@pytest.mark.conformance("BLK-INIT-10", "RING-SPLIT-09")
def test_f101_more_segments_than_the_device_takes(boot, tmp_path, device):
    image = Image(tmp_path / "d.img", 8193)
    seg_max = 126 if "128" in device or "off" in device else 254
    for indirect in ("never", "always"):
        out = boot(f"{READ} bs=4m iodepth=2 buffers=scattered blk.indirect={indirect}",
                   file_disk(image.path, device), trace=("virtqueue_pop",))
        assert out.crc32c() == image.crc()
        assert max(ins for ins, _ in chains(out.trace)) - 1 <= seg_max


@pytest.mark.conformance("BLK-INIT-10")
def test_f102_one_segment_a_request(boot, stamped):
    """A ring of 4 has room for one segment with its header and status, whatever seg_max says."""
    out = boot(READ + " bs=16k iodepth=4 buffers=scattered",
               file_disk(stamped.path, "queue-size=4,indirect_desc=off,seg-max-adjust=off"),
               trace=("virtqueue_pop",))
    assert out.crc32c() == stamped.crc()
    assert max(ins + outs for ins, outs in chains(out.trace)) <= 4
