# SPDX-License-Identifier: BSD-2-Clause
"""Does each completion mode end with the right bytes, with as many interrupts as it may have?"""
import itertools
import re

import pytest

from guest import USAGE, file_disk, null_disk, throttled_disk
from traces import count

MODES = ("poll", "irq", "hybrid")
NOTIFY = ("virtio_notify", "virtio_notify_irqfd")
SLOW_NS = 2_000_000
SLOW = "number_ios=50 iodepth=1"  # of a disk as slow as that: longer than it takes to halt


def told(job):
    """Of the JSON's own figures of @job, after what holds whatever the mode."""
    own = job["ringlab"]
    assert own["irqs_per_io"] == pytest.approx(own["interrupts"] / own["requests"], abs=0.001)
    assert own["interrupts_spurious"] <= own["interrupts"]
    assert own["halted_cycles"] <= own["idle_cycles"]
    waited_for = own["caught_awake"] + own["caught_halted"]
    assert waited_for <= own["requests"] if own["mode"] != "poll" else waited_for == 0
    return own


def notifications(trace):
    """Of used buffers, by the device: with an iothread it says so in another way."""
    return sum(count(trace, event) for event in NOTIFY)


@pytest.mark.parametrize("mode, event_idx, machine",
                         itertools.product(MODES, ("on", "off"), ("q35", "pc")))
@pytest.mark.conformance("RING-SPLIT-15", "RING-SPLIT-16")
def test_bytes_in_each_mode(boot, stamped, mode, event_idx, machine):
    out = boot(f"blk.mode={mode} rw=read hash=crc32c bs=4k iodepth=8",
               file_disk(stamped.path, f"event_idx={event_idx}"), machine=machine, json=True)
    assert out.crc32c() == stamped.crc(), out.show()
    assert f"over {stamped.size} bytes" in out.text
    assert out.own("event_idx") == ("1" if event_idx == "on" else "0")
    assert out.own("mode") == told(out.job())["mode"] == mode
    expected = "none" if mode == "poll" else "msix"
    assert out.own("irq") == out.job()["ringlab"]["interrupt"] == expected
    assert ("waits: caught awake=" in out.text) == (mode != "poll")


@pytest.mark.parametrize("event_idx", ["on", "off"])
@pytest.mark.parametrize("vectors, iothread", [("", False), ("", True), ("vectors=0", False)])
@pytest.mark.conformance("RING-SPLIT-15", "RING-SPLIT-16", "MSIX-07")
def test_f082_poll_has_no_interrupt(boot, event_idx, vectors, iothread):
    """The device tells of its first used buffer whatever the mark says, and of no other."""
    device = ",".join(filter(None, (f"event_idx={event_idx}", vectors)))
    out = boot("blk.mode=poll number_ios=3000 iodepth=4", null_disk(device=device,
               iothread=iothread), json=True, trace=NOTIFY)
    assert out.job()["read"]["total_ios"] == 3000
    own = told(out.job())
    assert own["interrupts"] == own["irqs_per_io"] == own["halted_cycles"] == 0
    assert out.own("irqs/io") == "0.000"
    assert notifications(out.trace) <= 1


@pytest.mark.parametrize("device, iothread, number", [
    ("ioeventfd=off", False, 30000), ("", True, 100000), ("event_idx=off", True, 20000)])
@pytest.mark.conformance("RING-SPLIT-16")
def test_f080_f084_f085_depth_1(boot, device, iothread, number):
    """
    Each lost wake-up would cost a wait for the timer, so that many of them are a time-out here.
    Without ioeventfd and iothread the disk has read the ring before the notification returns,
    however busy the host is: nothing can look like a lost one.
    """
    out = boot(f"blk.mode=irq iodepth=1 number_ios={number}",
               null_disk(device=device, iothread=iothread), json=True)
    own = told(out.job())
    assert out.job()["read"]["total_ios"] == own["requests"] == number
    assert 1 < own["interrupts"] <= own["requests"] + 1  # one may be left of what came before
    assert own["halted_cycles"] > 0 and own["caught_halted"] > 0
    assert own["timeouts"] == own["wakeups_missed"] == 0
    if not iothread:
        assert own["rekicks"] == 0


@pytest.mark.parametrize("event_idx", ["on", "off"])
@pytest.mark.conformance("RING-SPLIT-16")
def test_f080_not_only_the_first(boot, event_idx):
    """What takes longer than to halt is told of by an interrupt, and at most once."""
    disk = null_disk(latency_ns=SLOW_NS, device=f"event_idx={event_idx}")
    out = boot(f"blk.mode=irq {SLOW}", disk, json=True, trace=NOTIFY)
    own = told(out.job())
    assert own["requests"] == 50
    assert 1 < own["interrupts"] <= 51
    assert own["interrupts"] <= notifications(out.trace) <= 51
    assert own["caught_awake"] < 50 and own["caught_halted"] > 1


@pytest.mark.parametrize("vectors, irq, said", [
    (0, "intx", ["no MSI-X: no such capability"]),
    (1, "msix-shared", ["not an MSI-X vector for each queue: 2 needed, the device has 1"]),
    (2, "msix", []), (3, "msix", []), (5, "msix", [])])
@pytest.mark.parametrize("machine", ["q35", "pc"])
@pytest.mark.conformance("MSIX-01", "MSIX-02", "MSIX-04")
def test_f118_too_few_vectors(boot, vectors, irq, said, machine):
    """Each step down is one line; on each of them the interrupts arrive."""
    disk = null_disk(latency_ns=SLOW_NS, device=f"num-queues=4,vectors={vectors}")
    out = boot(f"blk.mode=irq {SLOW}", disk, machine=machine, json=True)
    assert re.findall(r"^warning: vda 00:\S+: (.*)$", out.text, re.MULTILINE) == said
    assert out.own("irq") == irq
    own = told(out.job())
    assert own["interrupt"] == irq and own["mode"] == "irq"
    assert own["requests"] == 50
    assert 1 < own["interrupts"] <= 51


@pytest.mark.parametrize("mode", ["irq", "hybrid"])
@pytest.mark.parametrize("machine", ["q35", "pc"])
def test_f128_without_an_apic(boot, stamped, mode, machine):
    """No interrupt can come, by any way: the queue is polled, as it is said, and is whole."""
    out = boot(f"blk.mode={mode} rw=read hash=crc32c iodepth=4", file_disk(stamped.path),
               machine=machine, cpu="qemu64,-apic", json=True)
    out.find(r"^warning: vda 00:\S+: not INTx: .*; using polled completion$")
    assert out.text.count("using polled completion") == 1
    assert out.own("mode") == "poll" and out.own("irq") == "none"
    assert told(out.job())["interrupts"] == 0
    assert out.crc32c() == stamped.crc()


@pytest.mark.parametrize("depth", [1, 8])
def test_f125_two_disks_on_one_line(boot, depth):
    """Neither starves, nor is told of more than it has completed."""
    disks = [null_disk(latency_ns=SLOW_NS, device=f"addr={addr},vectors=0") for addr in (4, 8)]
    job = f"number_ios={50 * depth}"
    out = boot(f"blk.mode=irq iodepth={depth} stonewall name=a filename=vda {job} name=b filename=vdb {job} "
               f"name=c filename=vda {job}", *disks, machine="pc", json=True)
    for number, disk in enumerate(("vda", "vdb", "vda")):
        own = told(out.job(number))
        assert own["device"] == disk and own["interrupt"] == "intx"
        assert out.job(number)["read"]["total_ios"] == 50 * depth
        assert 1 < own["interrupts"] <= 50 * depth + 1
    assert "masked" not in out.text


@pytest.mark.parametrize("value, said", [
    ("blk.mode=foo", "blk.mode=foo: expected poll|irq|hybrid"),
    ("blk.mode=", "blk.mode=: the value is missing; expected poll|irq|hybrid"),
    ("blk.irq_coalesce=0", "blk.irq_coalesce=0: expected 1 to 32768"),
    ("blk.irq_coalesce=32769", "blk.irq_coalesce=32769: expected 1 to 32768"),
    ("blk.irq_coalesce=many", "blk.irq_coalesce=many: expected 1 to 32768")])
def test_bad_values(boot, value, said):
    out = boot(f"rw=randwrite {value}", null_disk(), status=USAGE, trace=("virtio_queue_notify",))
    assert out.errors() == [f"error: {said}"]
    assert count(out.trace, "virtio_queue_notify") == 0
    assert "IOPS" not in out.text


def test_coalesced(boot, stamped):
    """
    Completions come one by one, 64 are waited for: an interrupt tells of at least eight, since
    that many are waited for from where the last look at the ring was. Of the last ones there are
    fewer than eight, and what was the first of all for the device is told of whatever the mark.
    """
    out = boot("blk.mode=irq blk.irq_coalesce=8 rw=randread bs=4k iodepth=64 number_ios=500",
               throttled_disk(stamped.path, 1000), json=True)
    own = told(out.job())
    assert own["irq_coalesce"] == 8 and "irq_coalesce=8" in out.text
    assert own["requests"] == 500
    assert own["interrupts"] <= 500 / 8 + 64 / 8 + 2


def test_coalesced_to_the_last(boot):
    """Fewer are in flight than are to be told of at once: the last of them is told of."""
    out = boot("blk.mode=irq blk.irq_coalesce=1000 iodepth=4 number_ios=200",
               null_disk(latency_ns=SLOW_NS), json=True)
    own = told(out.job())
    assert own["requests"] == 200
    assert 1 < own["interrupts"] <= 201
