# SPDX-License-Identifier: BSD-2-Clause
"""Do several CPUs on one queue each get all of their own requests back, and no one else's?"""
import itertools
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from guest import KERNEL, ROOT, file_disk, null_disk
from smp import cpus

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

import report_keys  # noqa: E402

LAUNCHER = ROOT / "tools" / "ringlab"
LAUNCHER_TIMEOUT_S = 100
SLOW_NS = 2_000_000
SINGLE = 1500  # requests one at a time on a disk that answers at once
SHARE = ("rw=read hash=crc32c bs=4k numjobs=4 name=one iodepth=1 name=many stonewall iodepth=64 "
         "name=full stonewall iodepth=200 bs=512")


def whole(jobs, stamped) -> None:
    """Each of them read the image, in its own order, and nothing but the image."""
    for job in jobs:
        own = job["ringlab"]
        assert job["error"] == 0 and own["crc32c_valid"]
        assert int(own["crc32c"], 16) == stamped.crc(), job["jobname"]
        assert own["hashed_bytes"] == job["read"]["io_bytes"] == stamped.size
        assert own["wakeups_missed"] == own["timeouts"] == 0


@pytest.mark.parametrize("queues, mode, event_idx", itertools.product(
    (1, 2), ("poll", "irq", "hybrid"), ("on", "off")))
@pytest.mark.conformance("RING-SPLIT-15", "RING-SPLIT-16")
def test_f129_each_gets_its_own(boot, stamped, queues, mode, event_idx):
    """
    One at a time, 64 each, and more than the ring holds. A request that went to the wrong CPU, or
    twice, or nowhere, makes the checksum another or the job never end.
    """
    device = f"num-queues={queues},event_idx={event_idx}"
    out = boot(f"blk.mode={mode} {SHARE}", file_disk(stamped.path, device), accel=cpus(4),
               json=True)
    report_keys.check(out.json)
    jobs = out.json["jobs"]
    whole(jobs, stamped)
    assert len(jobs) == 12
    for number, job in enumerate(jobs):
        own = job["ringlab"]
        assert (own["cpu"], own["queue"], own["sharers"]) == (
            number % 4, number % queues, 4 // queues)
    if mode == "poll":
        assert sum(job["ringlab"]["interrupts"] for job in jobs) == 0
    full = out.json["ringlab"]["groups"][2]
    assert full["read"]["total_ios"] == 4 * stamped.size // 512
    assert full["ring_full"] > 0 or queues == 2


@pytest.mark.parametrize("mode", ["irq", "hybrid"])
def test_f129_one_at_a_time(boot, mode):
    """
    Thousands of halts on two queues, also by CPUs that the interrupt does not lead to, and by one
    alone. A lost wake-up costs the time to the next look at the queue, 10 ms.
    """
    out = boot(f"blk.mode={mode} iodepth=1 number_ios={SINGLE} name=all numjobs=3 "
               "name=far stonewall cpus_allowed=3 "
               "name=slow stonewall numjobs=4 filename=vdb number_ios=100",
               null_disk(device="num-queues=2"),
               null_disk(latency_ns=SLOW_NS, device="num-queues=2"), accel=cpus(4), json=True)
    report_keys.check(out.json)
    jobs = out.json["jobs"]
    assert [job["ringlab"]["cpu"] for job in jobs] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert [job["ringlab"]["queue"] for job in jobs] == [0, 1, 0, 1, 0, 1, 0, 1]
    assert [job["read"]["total_ios"] for job in jobs] == [SINGLE] * 4 + [100] * 4
    for job in jobs:
        assert job["ringlab"]["wakeups_missed"] == job["ringlab"]["timeouts"] == 0
        assert job["read"]["clat_ns"]["percentile"]["10.000000"] < 8_000_000
    far = jobs[3]
    assert 1 < far["ringlab"]["interrupts"] <= SINGLE + 1


@pytest.mark.parametrize("options, vectors, kinds", [
    ("blk.mode=poll", 3, ["poll", "poll"]),
    ("blk.mode=irq blk.poll_queues=1", 3, ["irq", "poll"]),
    ("blk.mode=irq blk.poll_queues=1", 2, ["irq", "poll"]),
    ("blk.mode=hybrid", 3, ["hybrid", "hybrid"])])
@pytest.mark.conformance("MSIX-03", "MSIX-07")
def test_backend_outside_of_qemu(tmp_path, monkeypatch, stamped, options, vectors, kinds):
    """A queue that is polled has the vector that is left over, or that of configuration changes."""
    if not shutil.which("qemu-storage-daemon"):
        pytest.skip("qemu-storage-daemon is not installed")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    report = tmp_path / "report.json"
    ran = subprocess.run(
        [str(LAUNCHER), "run", "--kernel", KERNEL, "--accel", "tcg", "--backend", "vhost-user",
         "--smp", "4", "--disk", stamped.path, "--device", f"num-queues=2,vectors={vectors}",
         "--json", str(report), "--timeout", "60", "--", *options.split(), *SHARE.split()],
        capture_output=True, text=True, timeout=LAUNCHER_TIMEOUT_S)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    document = report_keys.json.loads(report.read_text())
    report_keys.check(document)
    whole(document["jobs"], stamped)
    assert [job["ringlab"]["mode"] for job in document["jobs"]] == kinds * 6
    came = dict.fromkeys(kinds, 0)  # a job whose requests are back at its first look has none
    for job in document["jobs"]:
        came[job["ringlab"]["mode"]] += job["ringlab"]["interrupts"]
    assert came.get("poll", 0) == 0 and came.get("irq", 1) > 0
    assert not re.search("^warning: vda 00:", ran.stdout, re.MULTILINE), ran.stdout
