# SPDX-License-Identifier: BSD-2-Clause
"""Has each CPU a queue of its own, with its own interrupt, and are all sums those of the parts?"""
import re
import sys
from pathlib import Path

import pytest

from guest import file_disk, null_disk
from smp import cpus
from traces import accepted_features, accesses, count

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

import report_keys  # noqa: E402

ENABLE, SELECT = 28, 22  # of the common configuration
SPARSE = (0, 1, 2, 4, 5, 6)  # the APIC ids of two sockets with three cores each
NOTIFY = ("virtio_notify", "virtio_notify_irqfd")
ACCESS_PLATFORM, X2APIC = 1 << 33, 1 << 10
SLOW_NS = 2_000_000
SUMS = ("requests", "commands", "batches", "kicks", "kicks_suppressed", "interrupts",
        "interrupts_spurious", "polls_empty", "ring_full", "rekicks")


def parts(out) -> list[dict]:
    """Each job's own object, after what holds for jobs that share nothing."""
    report_keys.check(out.json)
    jobs = [job["ringlab"] for job in out.json["jobs"]]
    for job, own in zip(out.json["jobs"], jobs, strict=True):
        assert (own["sharers"], own["cpu_jobs"]) == (1, 1)
        assert own["requests"] == job["read"]["total_ios"] > 0
        assert own["batches"] + own["rekicks"] == own["kicks"] + own["kicks_suppressed"]
        assert own["wakeups_missed"] == own["timeouts"] == job["error"] == 0
        if own["mode"] == "poll":
            assert own["interrupts"] == own["halted_cycles"] == 0
    group, = out.json["ringlab"]["groups"]
    for key in SUMS:
        assert group[key] == sum(own[key] for own in jobs), key
    return jobs


def placed(jobs) -> list[tuple]:
    return [(own["cpu"], own["queue"], own["mode"], own["interrupt"]) for own in jobs]


IRQ = [("irq", "msix")] * 4
POLL = [("poll", "none")] * 4
HYBRID = [("hybrid", "msix")] * 4


@pytest.mark.parametrize("options, kinds", [
    ("blk.mode=irq", IRQ), ("blk.mode=poll", POLL), ("blk.mode=hybrid", HYBRID),
    ("blk.mode=irq blk.poll_queues=2", IRQ[:2] + POLL[2:]),
    ("blk.mode=hybrid blk.poll_queues=3", HYBRID[:1] + POLL[1:])])
@pytest.mark.conformance("MSIX-03", "MSIX-07")
def test_f129_a_queue_for_each_cpu(boot, options, kinds):
    """What was submitted to a queue was completed by its own CPU, to the last one."""
    out = boot(f"{options} numjobs=4 rw=randread bs=4k iodepth=64 number_ios=20000",
               null_disk(device="num-queues=4"), accel=cpus(4), json=True)
    jobs = parts(out)
    assert placed(jobs) == [(cpu, cpu, *kind) for cpu, kind in enumerate(kinds)]
    assert [own["requests"] for own in jobs] == [20000] * 4
    for own in jobs:
        assert own["max_in_flight"] == 64 and own["kicks"] > 0
        assert own["mode"] != "irq" or 1 < own["interrupts"] <= 20001
    queue_map = out.json["ringlab"]["devices"][0]["queue_map"]
    assert [(q["mode"], q["interrupt"], q["cpus"]) for q in queue_map] == [
        (*kind, [cpu]) for cpu, kind in enumerate(kinds)]
    assert not re.search("^warning: vda 00:", out.text, re.MULTILINE), out.show()
    out.find(r" jobs=4 cpus=4 queues=4$")


@pytest.mark.parametrize("machine, vectors, poll_queues, interrupt, said", [
    ("q35", 0, 0, "intx", ["no MSI-X: no such capability"]),
    ("pc", 0, 0, "intx", ["no MSI-X: no such capability"]),
    ("q35", 1, 0, "msix-shared", ["not an MSI-X vector for each queue: 5 needed, the device has 1",
                                  "not an MSI-X vector that the queues share: 2 needed, the "
                                  "device has 1"]),
    ("pc", 2, 0, "msix-shared", ["not an MSI-X vector for each queue: 5 needed, the device has 2"]),
    ("q35", 3, 0, "msix-shared", ["not an MSI-X vector for each queue: 5 needed, the device has 3"]),
    ("pc", 5, 0, "msix", []), ("q35", 3, 2, "msix", []), ("pc", 4, 2, "msix", [])])
@pytest.mark.conformance("MSIX-01", "MSIX-02", "MSIX-03", "MSIX-04")
def test_f118_vectors_for_four_queues(boot, machine, vectors, poll_queues, interrupt, said):
    """One that is shared leads to one CPU, which wakes the others: each step down is said once."""
    out = boot(f"blk.mode=irq blk.poll_queues={poll_queues} numjobs=4 iodepth=2 number_ios=60",
               null_disk(latency_ns=SLOW_NS, device=f"num-queues=4,vectors={vectors}"),
               machine=machine, accel=cpus(4), json=True)
    assert re.findall(r"^warning: vda 00:\S+: (.*)$", out.text, re.MULTILINE) == said
    jobs = parts(out)
    armed = 4 - poll_queues
    assert placed(jobs) == [(cpu, cpu, "irq", interrupt) if cpu < armed else
                            (cpu, cpu, "poll", "none") for cpu in range(4)]
    for own in jobs[:armed]:
        assert own["interrupts"] > 1 and own["halted_cycles"] > 0
        assert interrupt != "msix" or own["interrupts"] <= own["requests"] + 1


@pytest.mark.parametrize("queues, smp, mode, machine, device", [
    (1, 8, "hybrid", "q35", ""), (2, 3, "irq", "pc", ""), (3, 8, "irq", "q35", "event_idx=off"),
    (5, 2, "hybrid", "pc", ""), (8, 3, "irq", "q35", ""), (64, 1, "irq", "pc", ""),
    (64, 8, "hybrid", "q35", "packed=on"), (3, 2, "poll", "q35", ""), (8, 8, "poll", "pc", ""),
    (4, 4, "irq", "pc", "disable-modern=on"), (2, 4, "hybrid", "q35", "disable-modern=on"),
    (4, 3, "poll", "pc", "disable-modern=on,vectors=0")])
def test_queues_to_cpus(boot, stamped, queues, smp, mode, machine, device):
    """Any number of one with any of the other, whole to the last byte on each CPU. Legacy devices
    have several queues, too."""
    out = boot(f"blk.mode={mode} numjobs={smp} rw=read hash=crc32c bs=4k iodepth=8",
               file_disk(stamped.path, f"num-queues={queues},{device}".rstrip(",")),
               machine=machine, accel=cpus(f"{smp},maxcpus={max(smp, 2)}"), json=True)
    report_keys.check(out.json)
    used = min(queues, smp)
    assert out.json["ringlab"]["devices"][0]["queues"] == used
    for cpu, job in enumerate(out.json["jobs"]):
        own = job["ringlab"]
        assert (own["cpu"], own["queue"], own["mode"]) == (cpu, cpu % used, mode)
        assert int(own["crc32c"], 16) == stamped.crc() and own["crc32c_valid"]
        assert job["read"]["io_bytes"] == stamped.size
        assert own["wakeups_missed"] == own["timeouts"] == 0
        assert own["transport"] == ("legacy" if "modern=on" in device else "modern")
    assert (smp, used) == (out.json["ringlab"]["groups"][0]["cpus"],
                           out.json["ringlab"]["groups"][0]["queues"])


@pytest.mark.conformance("NOTIF-01", "NOTIF-03")
def test_f132_queues_that_are_left_off(boot):
    """Of eight, as many as asked for are enabled, and no other is notified, by any CPU."""
    trace = ("memory_region_ops_write", "virtio_queue_notify")
    for queues in (1, 3):
        out = boot(f"blk.queues={queues} numjobs=4 iodepth=4 number_ios=200",
                   null_disk(device="num-queues=8,ioeventfd=off"), accel=cpus(4), json=True,
                   trace=trace)
        common = accesses(out.trace, "common", True)
        selected, on = None, set()
        for access in common:
            selected = access.value if access.offset == SELECT else selected
            if access.offset == ENABLE and access.value == 1:
                on.add(selected)
        assert on == set(range(queues)), out.show()
        told = re.findall(r"^virtio_queue_notify .* n (\d+) ", "\n".join(out.trace), re.MULTILINE)
        assert set(map(int, told)) == on and len(told) > queues
        notify = accesses(out.trace, "notify", True)
        assert {access.size for access in notify} == {2}
        assert {access.value for access in notify} == on
        assert [job["ringlab"]["queue"] for job in out.json["jobs"]] == [
            cpu % queues for cpu in range(4)]
        assert out.json["ringlab"]["groups"][0]["read"]["total_ios"] == 800


@pytest.mark.parametrize("machine", ["q35", "pc"])
def test_f134_f014_each_interrupts_its_own_cpu(boot, machine):
    """
    The APIC ids have a hole: what leads to CPU 3 goes to id 4. Each has the same work, and none
    does it by looking at its queue when a halt is over for other reasons.
    """
    out = boot("blk.mode=irq numjobs=6 iodepth=2 number_ios=300",
               null_disk(latency_ns=SLOW_NS, device="num-queues=6,vectors=7"), machine=machine,
               accel=cpus("6,sockets=2,cores=3,threads=1"), json=True, trace=("apic_deliver_irq",))
    report_keys.check(out.json)
    jobs = [job["ringlab"] for job in out.json["jobs"]]
    assert [(own["cpu"], own["queue"], own["interrupt"]) for own in jobs] == [
        (cpu, cpu, "msix") for cpu in range(6)]
    told = re.findall(r"^apic_deliver_irq dest (\d+) dest_mode (\d+) delivery_mode (\d+) ",
                      "\n".join(out.trace), re.MULTILINE)
    assert {(mode, kind) for _, mode, kind in told} == {("0", "0")}, "physical, fixed"
    arrived = {apic_id: 0 for apic_id in SPARSE}
    for dest, _, _ in told:
        arrived[int(dest)] += 1
    for own, apic_id in zip(jobs, SPARSE, strict=True):
        # Those of the last requests may come when the job has ended.
        assert 1 < own["interrupts"] <= arrived[apic_id] <= own["interrupts"] + 4, arrived
    assert [own["wakeups_missed"] for own in jobs] == [0] * 6
    assert [job["read"]["total_ios"] for job in out.json["jobs"]] == [300] * 6


@pytest.mark.parametrize("mode", ["irq", "hybrid"])
def test_interrupts_lead_to_cpus_that_poll(boot, mode):
    """Who halts on CPUs 2 and 3 is woken by CPUs 0 and 1, which spin on queues of their own."""
    out = boot(f"blk.mode={mode} blk.poll_queues=2 numjobs=2 iodepth=2 number_ios=150 "
               "name=spins hipri=1 number_ios=400 name=halts hipri=0",
               null_disk(latency_ns=SLOW_NS, device="num-queues=4"), accel=cpus(4), json=True)
    jobs = parts(out)
    assert placed(jobs) == [(0, 2, "poll", "none"), (1, 3, "poll", "none"),
                            (2, 0, mode, "msix"), (3, 1, mode, "msix")]
    for job in out.json["jobs"][2:]:
        assert job["ringlab"]["interrupts"] > 1 and job["ringlab"]["halted_cycles"] > 0
        # Without the wake-up all wait for the next look at the queue, 10 ms later.
        assert job["read"]["clat_ns"]["percentile"]["10.000000"] < 8_000_000


@pytest.mark.parametrize("event_idx", ["on", "off"])
@pytest.mark.conformance("MSIX-07", "RING-SPLIT-15", "RING-SPLIT-16")
def test_f082_four_cpus_poll_without_interrupt(boot, event_idx):
    """The device tells of the first used buffer of each queue whatever the mark says, at most."""
    out = boot("blk.mode=poll numjobs=4 iodepth=4 number_ios=2000",
               null_disk(device=f"num-queues=4,event_idx={event_idx}"), accel=cpus(4), json=True,
               trace=NOTIFY)
    assert [own["requests"] for own in parts(out)] == [2000] * 4
    assert sum(count(out.trace, event) for event in NOTIFY) <= 4


@pytest.mark.conformance("RSVD-03")
def test_f135_behind_an_iommu(boot, stamped):
    """Translation is off, and the device insists: the bit is taken, and interrupts come as ever."""
    out = boot("blk.mode=irq numjobs=2 rw=read hash=crc32c bs=4k iodepth=8",
               file_disk(stamped.path, "num-queues=2,iommu_platform=on,disable-legacy=on"),
               accel=cpus(2), json=True, qemu=("-device", "intel-iommu"),
               trace=("memory_region_ops_write", "vtd_dmar_fault"))
    assert accepted_features(out.trace) & ACCESS_PLATFORM
    assert count(out.trace, "vtd_dmar_fault") == 0
    for own in parts(out):
        assert int(own["crc32c"], 16) == stamped.crc()
        assert own["interrupt"] == "msix" and own["interrupts"] > 0


def test_f017_xapic(boot):
    """This CPU has no x2APIC: each CPU finds that out, and none reads an MSR that is not there."""
    out = boot("blk.mode=irq numjobs=3 number_ios=50",
               null_disk(latency_ns=SLOW_NS, device="num-queues=3"), accel=cpus(3), json=True,
               trace=("apic_mem_writel", "cpu_set_apic_base"))
    assert [own["requests"] for own in parts(out)] == [50] * 3
    enabled = re.findall(r"^apic_mem_writel 0xf0 = 0x000001ff$", "\n".join(out.trace), re.MULTILINE)
    assert len(enabled) == 3
    bases = re.findall(r"^cpu_set_apic_base 0x0*([0-9a-f]+)$", "\n".join(out.trace), re.MULTILINE)
    assert all(int(base, 16) & X2APIC == 0 for base in bases)
