# SPDX-License-Identifier: BSD-2-Clause
"""Is what the guest reads the same on each machine, CPU, memory size and shape of the ring?"""
import itertools

import pytest

from guest import file_disk

MACHINES = ("q35", "pc")
CPUS = ("qemu64", "max")
MEMORIES = ("64M", "6G")
SWITCH = ("on", "off")
QUEUE_SIZES = (4, 16, 256, 1024)

# Each combination of the above takes the next of these, so that all meet all.
SHAPES = list(itertools.product(("4k", "64k", "512", "192k", "128k"), (1, 3, 64)))
COMBINATIONS = list(itertools.product(MACHINES, CPUS, MEMORIES, SWITCH, SWITCH, QUEUE_SIZES))
RANDOM_READS = 50


@pytest.mark.parametrize("number", range(len(COMBINATIONS)),
                         ids=["-".join(map(str, c)) for c in COMBINATIONS])
@pytest.mark.conformance("FEAT-06", "RING-SPLIT-09", "BLK-INIT-10", "PCI-DISC-02")
def test_matrix(boot, stamped, number):
    machine, cpu, memory, event_idx, indirect, queue_size = COMBINATIONS[number]
    bs, iodepth = SHAPES[number % len(SHAPES)]
    indirect_policy = "always" if indirect == "on" else "never"
    device = f"event_idx={event_idx},indirect_desc={indirect},queue-size={queue_size}"
    out = boot(f"bs={bs} iodepth={iodepth} blk.indirect={indirect_policy} "
               f"name=all rw=read hash=crc32c name=some stonewall rw=randread number_ios={RANDOM_READS}",
               file_disk(stamped.path, device, iothread=True),
               machine=machine, cpu=cpu, memory=memory)
    assert out.crc32c() == stamped.crc(), out.show()
    assert f"over {stamped.size} bytes" in out.text
    some = out.text[out.find(r"^some: ").start():]
    blocks = stamped.size // {"512": 512}.get(bs, int(bs.rstrip("k")) * 1024)
    assert f"issued rwts: total={min(RANDOM_READS, blocks)},0,0,0" in some
    assert out.own("qsize") == str(queue_size)
    assert out.own("event_idx") == ("1" if event_idx == "on" else "0")
    assert out.own("indirect") == indirect_policy
    assert out.own("machine") == machine
