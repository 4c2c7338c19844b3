# SPDX-License-Identifier: BSD-2-Clause
"""Is what the guest reads and writes right over a packed ring, of any size and in any mode?"""
import itertools

import pytest

from guest import file_disk, null_disk
from images import Image, crc32c

READ = "rw=read hash=crc32c"
QUEUE_SIZES = (4, 8, 128, 256, 1024)
SWITCH = ("on", "off")
MODES = ("poll", "irq")
COMBINATIONS = list(itertools.product(QUEUE_SIZES, SWITCH, SWITCH, MODES))
SHAPES = list(itertools.product(("4k", "128k", "512"), (1, 3, 64), ("contiguous", "scattered")))
POLICIES = ("never", "always", "threshold", "threshold:auto", "threshold:5")


@pytest.mark.parametrize("number", range(len(COMBINATIONS)),
                         ids=["-".join(map(str, c)) for c in COMBINATIONS])
@pytest.mark.conformance("RSVD-06", "CONF-04", "RING-PACKED-10", "RING-PACKED-19",
                         "RING-PACKED-21")
def test_f088_matrix(boot, stamped, number):
    size, event_idx, indirect, mode = COMBINATIONS[number]
    bs, depth, buffers = SHAPES[number % len(SHAPES)]
    policy = POLICIES[number % len(POLICIES)] if indirect == "on" else "never"
    beside = number % 3 > 0  # else the device reads the ring before the notification returns
    out = boot(f"{READ} bs={bs} iodepth={depth} buffers={buffers} blk.mode={mode} "
               f"blk.indirect={policy}",
               file_disk(stamped.path, f"packed=on,event_idx={event_idx},indirect_desc={indirect},"
                         f"queue-size={size}" + ("" if beside else ",ioeventfd=off"),
                         iothread=beside))
    assert out.crc32c() == stamped.crc(), out.show()
    assert (out.own("ring"), out.own("mode")) == ("packed", mode)
    if event_idx == "on" and not beside:  # else a slow host looks like a lost notification
        assert out.own("rekicks") == "0"
    assert out.own("indirect").startswith(policy)


@pytest.mark.parametrize("qsize, indirect", [(3, "never"), (5, "always"), (7, "threshold:4"),
                                             (100, "never"), (255, "threshold:auto")])
@pytest.mark.conformance("RING-PACKED-34", "RING-PACKED-05")
def test_f067_no_power_of_two(boot, stamped, qsize, indirect):
    out = boot(f"{READ} bs=64k iodepth=16 buffers=scattered blk.qsize={qsize} "
               f"blk.indirect={indirect}", file_disk(stamped.path, "packed=on"))
    assert out.crc32c() == stamped.crc()
    assert out.own("qsize") == str(qsize)


@pytest.mark.parametrize("device, iothread, number", [("", True, 60000),
                                                      (",ioeventfd=off", False, 20000)])
def test_f087_chain_ends_where_the_ring_ends(boot, device, iothread, number):
    """
    Two pieces with header and status fill a ring of 4 each time. In a thread of its own the device
    may be late on a busy host, and be told again; where it reads the ring before the notification
    returns it is never late.
    """
    out = boot(f"bs=8k iodepth=2 buffers=scattered number_ios={number}",
               null_disk(device="packed=on,queue-size=4,indirect_desc=off" + device,
                         iothread=iothread))
    assert f"issued rwts: total={number},0,0,0" in out.text
    assert int(out.own("rekicks")) <= (number // 1000 if iothread else 0)


@pytest.mark.parametrize("ring, used", [("auto", "packed"), ("split", "split"),
                                        ("packed", "packed")])
def test_f092_the_ring_that_was_agreed(boot, stamped, ring, used):
    out = boot(f"{READ} bs=16k iodepth=8 blk.ring={ring}", file_disk(stamped.path, "packed=on"))
    assert out.crc32c() == stamped.crc()
    assert out.own("ring") == used


@pytest.mark.parametrize("device, append", [
    ("disable-modern=on", ""), ("disable-legacy=off", "virtio.transport=legacy"),
    ("packed=off", ""), ("", "blk.feature.ring_packed=0")])
def test_f092_packed_is_out_of_reach(boot, stamped, device, append):
    """The bit lies beyond what a legacy interface can show, or is not agreed on: then it is split."""
    out = boot(f"{READ} bs=16k iodepth=8 {append}",
               file_disk(stamped.path, f"packed=on,{device}".rstrip(",")))
    assert out.crc32c() == stamped.crc()
    assert out.own("ring") == "split"


@pytest.mark.parametrize("indirect", ["never", "always", "threshold:8"])
def test_writes(boot, tmp_path, indirect):
    """Each block is written once, with nothing of its neighbours; a split ring reads the same back."""
    image = Image(tmp_path / "d.img", 2048)
    out = boot(f"rw=write bs=12k iodepth=16 buffers=scattered size=768k randseed=3 "
               f"blk.indirect={indirect}",
               file_disk(image.path, "packed=on,queue-size=32", iothread=True))
    image.check_written(0, 768 << 10, 12 << 10, 16, randseed=3)
    back = boot(f"{READ} bs=64k iodepth=8 blk.ring=split", file_disk(image.path, "packed=on"))
    assert back.crc32c() == crc32c(image.now())
    assert (out.own("ring"), back.own("ring")) == ("packed", "split")
