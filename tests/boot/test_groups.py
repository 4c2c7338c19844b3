# SPDX-License-Identifier: BSD-2-Clause
"""Do jobs that run together keep their pace, their order and their errors to themselves?"""
import errno
import re
import sys
from pathlib import Path

import pytest

from guest import IO_ERROR, Disk, file_disk, null_disk, throttled_disk
from smp import cpus
from traces import count, transfers

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

import report_keys  # noqa: E402

RATED = 300  # requests, and as many a second


@pytest.mark.parametrize("mode, options, smp", [
    ("poll", "rate_iops=300", 2), ("irq", "rate_iops=300", 4), ("hybrid", "rate_iops=300", 2),
    ("irq", "rw=randrw rwmixread=50 rate_iops=200,100", 4)])
def test_rate_of_each_copy(boot, mode, options, smp):
    """
    Four times the rate of one: what is a second's work for one is no more with the others beside
    it, and would be two if two on a CPU took from each other. Never one too many; who is late
    catches up, so that only what a busy host delays at the end is lost.
    """
    out = boot(f"blk.mode={mode} numjobs=4 iodepth=16 number_ios={RATED} {options}",
               null_disk(device="num-queues=2"), accel=cpus(smp), json=True)
    report_keys.check(out.json)
    group, = out.json["ringlab"]["groups"]
    rates = {"read": 200, "write": 100} if "randrw" in options else {"read": RATED}
    for job in out.json["jobs"]:
        assert sum(job[side]["total_ios"] for side in rates) == RATED
        for side, rate in rates.items():
            runtime_ms = job[side]["runtime"]
            assert job[side]["total_ios"] <= rate * (runtime_ms + 1) // 1000 + 1
            assert runtime_ms <= 1700
    assert sum(group[side]["total_ios"] for side in rates) == 4 * RATED
    assert all(job["ringlab"]["wakeups_missed"] == 0 for job in out.json["jobs"])


@pytest.mark.parametrize("mode", ["poll", "irq"])
def test_time_to_think(boot, mode):
    """Three jobs that think on one CPU, and one beside them that does not."""
    out = boot(f"blk.mode={mode} iodepth=4 "
               "name=thinks numjobs=3 cpus_allowed=0 thinktime=50ms thinktime_blocks=8 "
               "number_ios=80 name=works cpus_allowed=1 thinktime=0 number_ios=0 "
               "runtime=600ms time_based", null_disk(device="num-queues=2"),
               accel=cpus(2), json=True)
    report_keys.check(out.json)
    *thinks, works = [job["read"] for job in out.json["jobs"]]
    for job in thinks:  # eight, nine times 50 ms and eight more; on a busy host later
        assert job["total_ios"] == 80 and 9 * 50 <= job["runtime"] <= 3 * 9 * 50, thinks
    works = works["total_ios"]
    thinks = [job["total_ios"] for job in thinks]
    assert works > sum(thinks)
    if mode == "irq":
        own = out.json["jobs"][0]["ringlab"]
        assert own["halted_cycles"] / out.json["ringlab"]["tsc_hz"] > 9 * 0.05 / 2


def test_groups_follow_each_other(boot, stamped):
    """The device sees nothing of the second group before all of the first; and all of both."""
    half = stamped.size // 2 // 4096 * 4096
    out = boot(f"blk.mode=irq numjobs=4 rw=read bs=4k iodepth=4 name=first size={half} "
               f"name=second stonewall offset={half} size={half}",
               file_disk(stamped.path, "num-queues=4"), accel=cpus(4), json=True,
               trace=("virtio_blk_handle_read",))
    report_keys.check(out.json)
    sectors = [sector for sector, _ in transfers(out.trace, "read")]
    border = half // 512
    first = [sector < border for sector in sectors]
    assert len(sectors) == 8 * half // 4096
    assert first == sorted(first, reverse=True)
    assert [job["groupid"] for job in out.json["jobs"]] == [0] * 4 + [1] * 4


def failing(path) -> Disk:
    return Disk(["driver=blkdebug,node-name=d{n},image.driver=file,"
                 f"image.filename={path},image.locking=off,inject-error.0.event=none,inject-error.0.errno=5,"
                 "inject-error.0.iotype=read,inject-error.0.sector=256"],
                "rerror=report,request-merging=off,num-queues=2")


@pytest.mark.parametrize("mode, queues", [("poll", 1), ("irq", 2), ("hybrid", 1)])
@pytest.mark.conformance("CLEAN-02")
def test_f154_disks_break_beside_a_good_one(boot, stamped, mode, queues):
    """
    One never answers two CPUs, one has a bad sector, one is well: all at the same time. The first
    request that is late takes the dead disk along: what is not yet late finds it gone.
    """
    dead = null_disk(latency_ns=1_200_000_000, device=f"num-queues={queues}")
    out = boot(f"blk.mode={mode} blk.timeout_ms=300 rw=read bs=4k iodepth=4 numjobs=2 "
               "name=dead name=bad filename=vdb name=good filename=vdc hash=crc32c",
               dead, failing(stamped.path), file_disk(stamped.path, f"num-queues={queues}",
                                                         "file.locking=off"),
               accel=cpus(2), status=IO_ERROR, json=True)
    report_keys.check(out.json)
    jobs = out.json["jobs"]
    blocks = stamped.size // 4096
    assert [job["error"] for job in jobs[2:]] == [errno.EIO] * 2 + [0] * 2
    assert {errno.ETIMEDOUT} <= {job["error"] for job in jobs[:2]} <= {errno.ETIMEDOUT, errno.ENODEV}
    late = sum(job["ringlab"]["errors"].get("timed out", 0) for job in jobs[:2])
    for job in jobs[:2]:
        assert job["read"]["total_ios"] == 0
        assert sum(job["ringlab"]["errors"].values()) == 4
    for job in jobs[2:4]:
        assert job["read"]["total_ios"] == blocks - 1
        assert job["ringlab"]["errors"] == {"I/O error": 1}
    for job in jobs[4:]:
        assert int(job["ringlab"]["crc32c"], 16) == stamped.crc()
        assert job["read"]["io_bytes"] == stamped.size
    told = re.findall(r"^error: vda 00:\S+: queue \d+ tag \d+: read of 4096 bytes at sector (\d+) "
                      r"not answered within 300 ms$", out.text, re.MULTILINE)
    assert len(told) == late and set(map(int, told)) <= {0, 8, 16, 24}
    assert not re.search(r"^error: vd[bc]", out.text, re.MULTILINE)


def test_f019_timer_during_a_checksum(boot, stamped):
    """
    Of the jobs beside it on each CPU, one waits 50 us after each request: the timer interrupts the
    CPU as often while it reads and sums, and no register and no byte is lost.
    """
    out = boot("blk.mode=irq numjobs=2 name=sum rw=read hash=crc32c bs=4k iodepth=8 filename=vda "
               "name=tick filename=vdb thinktime=50us number_ios=2000",
               throttled_disk(stamped.path, 1500), null_disk(device="num-queues=2"), accel=cpus(2),
               json=True, trace=("apic_local_deliver",))
    report_keys.check(out.json)
    assert [job["ringlab"]["cpu_jobs"] for job in out.json["jobs"]] == [2] * 4
    for job in out.json["jobs"][:2]:
        assert int(job["ringlab"]["crc32c"], 16) == stamped.crc()
    # On a busy host the 50 us are over before the CPU halts, for some of the 4000.
    assert count(out.trace, "apic_local_deliver") > 1000
