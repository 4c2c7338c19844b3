# SPDX-License-Identifier: BSD-2-Clause
"""Is a legacy device driven as the specification's notes on legacy interfaces say?"""
import re
from dataclasses import dataclass

import pytest

from guest import USAGE, file_disk, null_disk, throttled_disk
from images import crc32c
from traces import chains, count

READ = "rw=read hash=crc32c bs=64k iodepth=16"
LEGACY_ONLY = ("disable-modern=on", "auto")
MODERN = ("disable-legacy=on", "auto")
IN_LEGACY_USE = ("disable-legacy=off,disable-modern=off", "legacy")
TRACE = ("memory_region_ops_read", "memory_region_ops_write", "virtio_set_status",
         "virtio_queue_notify", "virtqueue_pop")
NOTIFY_ON_EMPTY, ANY_LAYOUT, INDIRECT_DESC, EVENT_IDX = 1 << 24, 1 << 27, 1 << 28, 1 << 29
UNUSED = 1 << 30
FEATURES, ACCEPTED, ADDRESS, SIZE, SELECT, NOTIFY, STATUS, ISR = 0, 4, 8, 12, 14, 16, 18, 19
VECTORS = range(20, 24)  # while MSI-X is on
PORT = re.compile(r"memory_region_ops_(read|write) cpu \S+ mr \S+ addr (\S+) value (\S+) "
                  r"size (\d+) name 'virtio-pci'$")


@dataclass(frozen=True)
class PortAccess:
    write: bool
    offset: int
    value: int
    size: int


def ports(trace, write=None):
    """The accesses to the legacy registers, which QEMU lays at a multiple of 128."""
    matches = [PORT.match(line) for line in trace]
    found = [PortAccess(m[1] == "write", int(m[2], 16) & 0x7F, int(m[3], 16), int(m[4]))
             for m in matches if m]
    return [a for a in found if write in (None, a.write)]


@pytest.mark.parametrize("transport, expected", [("auto", "modern"), ("modern", "modern"),
                                                 ("legacy", "legacy")])
@pytest.mark.conformance("LEG-03", "PCI-DET-01")
def test_choice(boot, stamped, transport, expected):
    out = boot(f"{READ} virtio.transport={transport}",
               file_disk(stamped.path, IN_LEGACY_USE[0]), json=True)
    assert out.crc32c() == stamped.crc()
    assert out.json["ringlab"]["devices"][0]["transport"] == expected
    assert f"transport={expected} " in out.find(r"^  result: .*")[0]


@pytest.mark.parametrize("machine", ["q35", "pc"])
@pytest.mark.conformance("LEG-10", "LEG-09", "LEG-22", "LEG-23", "LEG-01")
def test_f052_status_and_features(boot, machine):
    out = boot("number_ios=5", null_disk(device="disable-modern=on,ioeventfd=off"),
               machine=machine, trace=TRACE)
    written = ports(out.trace, write=True)
    assert [a.value for a in written if a.offset == STATUS] == [0, 1, 3, 7, 0]
    offered = [a.value for a in ports(out.trace, write=False) if a.offset == FEATURES]
    accepted = [a.value for a in written if a.offset == ACCEPTED]
    assert len(offered) == len(accepted) == 1
    assert accepted[0] & ~offered[0] == 0
    assert offered[0] & NOTIFY_ON_EMPTY and offered[0] & UNUSED
    assert accepted[0] & (NOTIFY_ON_EMPTY | UNUSED) == 0
    assert accepted[0] & EVENT_IDX and accepted[0] & INDIRECT_DESC
    # Width and place of each access; without MSI-X nothing is written behind the header.
    width = {FEATURES: 4, ACCEPTED: 4, ADDRESS: 4, SIZE: 2, SELECT: 2, NOTIFY: 2, STATUS: 1}
    assert {a.offset for a in written} == {ACCEPTED, ADDRESS, SELECT, NOTIFY, STATUS}
    assert all(a.size == width[a.offset] for a in written)
    order = [a.offset for a in written]
    assert order.index(NOTIFY) > [n for n, a in enumerate(written)
                                  if (a.offset, a.value) == (STATUS, 7)][0]
    assert order.index(ADDRESS) > order.index(SELECT) > order.index(ACCEPTED)


@pytest.mark.parametrize("size", [4, 64, 256, 512, 1024])
@pytest.mark.conformance("LEG-11", "LEG-14", "LEG-15")
def test_f065_size_is_the_device_s(boot, stamped, size):
    out = boot(READ, file_disk(stamped.path, f"disable-modern=on,queue-size={size}"), trace=TRACE,
               memory="6G", machine="q35")
    assert out.crc32c() == stamped.crc()
    assert SIZE not in [a.offset for a in ports(out.trace, write=True)]
    assert out.own("qsize") == str(size)


@pytest.mark.parametrize("size", [4, 256, 1024])
@pytest.mark.conformance("LEG-15")
def test_f025_f026_ring_above_4g(start, monitor, stamped, size):
    """The device's own idea of where the ring is, against the number of the page that was written."""
    guest = start("alloc=high status-interval=200ms name=long rw=randread number_ios=600 "
                  f"name=all stonewall {READ}",
                  throttled_disk(stamped.path, 20, f"disable-modern=on,queue-size={size}"),
                  memory="6G", trace=TRACE, monitor=monitor)
    guest.read_until(r"^long: \d+% done")  # half a minute of it, unless the disk is released
    disk, = [d["path"] for d in monitor("x-query-virtio") if d["name"] == "virtio-blk"]
    queue = monitor("x-query-virtio-queue-status", path=disk, queue=0)
    monitor.release()
    out = guest.finish()
    assert out.crc32c() == stamped.crc()
    page, = [a.value for a in ports(out.trace, write=True) if a.offset == ADDRESS]
    assert page >= 1 << 20
    table = page << 12
    assert (queue["vring-num"], queue["vring-desc"]) == (size, table)
    assert queue["vring-avail"] == table + 16 * size
    assert queue["vring-used"] == (table + 18 * size + 6 + 4095) & -4096


@pytest.mark.parametrize("any_layout", ["on", "off"])
@pytest.mark.parametrize("indirect", ["never", "always"])
@pytest.mark.conformance("LEG-19", "LEG-20", "LEG-21")
def test_f055_layout(boot, small, any_layout, indirect):
    """Header and status each in a piece of its own, whatever lies between."""
    device = f"disable-legacy=off,any_layout={any_layout},write-cache=off"
    out = boot(f"virtio.transport=legacy blk.indirect={indirect} bs=16k log=info "
               "name=r rw=read number_ios=2 name=w stonewall rw=write number_ios=2 "
               "name=s stonewall rw=read number_ios=2 buffers=scattered",
               file_disk(small.path, device), trace=TRACE)
    accepted, = [a.value for a in ports(out.trace, write=True) if a.offset == ACCEPTED]
    assert bool(accepted & ANY_LAYOUT) == (any_layout == "on")
    # The serial; then one piece of data, one that the device reads, four.
    assert chains(out.trace) == [(2, 1)] + [(2, 1)] * 2 + [(1, 2)] * 2 + [(5, 1)] * 2


@pytest.mark.parametrize("mode", ["poll", "irq", "hybrid"])
@pytest.mark.parametrize("vectors, interrupt", [(0, "intx"), (1, "msix-shared"), (2, "msix"),
                                                (3, "msix")])
@pytest.mark.conformance("LEG-07", "LEG-08", "MSIX-05")
def test_f058_config_moves(boot, stamped, mode, vectors, interrupt):
    out = boot(f"{READ} blk.mode={mode}",
               file_disk(stamped.path, f"disable-modern=on,vectors={vectors}"), trace=TRACE,
               json=True)
    assert out.json["ringlab"]["devices"][0]["capacity_512"] * 512 == stamped.size
    assert out.crc32c() == stamped.crc()
    assert out.own("irq") == ("none" if mode == "poll" else interrupt)
    vectors_written = [a for a in ports(out.trace, write=True) if a.offset in VECTORS]
    assert bool(vectors_written) == (mode != "poll" and vectors > 0)


@pytest.mark.parametrize("vectors, interrupt", [(0, "intx"), (1, "msix-shared"), (2, "msix")])
@pytest.mark.conformance("LEG-07", "MSIX-05")
def test_f058_interrupts(boot, vectors, interrupt):
    """I/Os of 50 ms are halted for, and ended by interrupts."""
    disk = null_disk(device=f"disable-modern=on,vectors={vectors}", latency_ns=50_000_000)
    out = boot("blk.mode=irq number_ios=10", disk)
    assert out.own("irq") == interrupt
    assert float(out.own("irqs/io")) > 0
    assert out.own("wakeups_missed") == "0"


@pytest.mark.parametrize("mode", ["poll", "irq"])
@pytest.mark.parametrize("writer, reader", [
    (LEGACY_ONLY, MODERN), (MODERN, LEGACY_ONLY), (IN_LEGACY_USE, MODERN), (MODERN, IN_LEGACY_USE)])
def test_writes(boot, small, writer, reader, mode):
    """What is written through one interface is read through the other."""
    out = boot(f"rw=write offset=16k size=128k bs=4k iodepth=8 randseed=7 blk.mode={mode} "
               f"virtio.transport={writer[1]}", file_disk(small.path, writer[0]))
    small.check_written(16 << 10, 128 << 10, 4096, 8, randseed=7)
    back = boot(f"{READ} blk.mode={mode} virtio.transport={reader[1]}",
                file_disk(small.path, reader[0]))
    assert back.crc32c() == crc32c(small.now())
    assert {out.own("transport"), back.own("transport")} == {"legacy", "modern"}


@pytest.mark.parametrize("device, append, said", [
    ("disable-modern=on", "virtio.transport=modern",
     "virtio.transport=modern: vda 00:01.0 has only the legacy interface"),
    ("disable-legacy=on", "virtio.transport=legacy",
     "virtio.transport=legacy: vda 00:01.0 has only the modern interface"),
    ("", "virtio.transport=mmio", "virtio.transport=mmio: expected auto|modern|legacy"),
    ("disable-modern=on", "blk.qsize=8",
     "blk.qsize=8: the size of a legacy queue is fixed: 256 on vda 00:01.0"),
    ("disable-modern=on", "blk.qsize=512", "blk.qsize=512: the size of a legacy queue is fixed"),
    ("disable-modern=on", "blk.feature.ring_reset=1",
     "blk.feature.ring_reset=1: vda 00:01.0: the device does not offer it"),
])
@pytest.mark.conformance("LEG-14")
def test_bad_input(boot, small, device, append, said):
    out = boot(f"rw=randwrite {append}", file_disk(small.path, device), status=USAGE, trace=TRACE)
    assert len(out.errors()) == 1 and said in out.errors()[0], out.show()
    assert count(out.trace, "virtqueue_pop") == 0
    assert small.unchanged()
