# SPDX-License-Identifier: BSD-2-Clause
"""Does the report of several jobs say the same in text and JSON, each figure once?"""
import re
import sys
from pathlib import Path

import pytest

from guest import OK, null_disk

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

import report_keys  # noqa: E402

SMP4 = ("-accel", "tcg,thread=multi", "-smp", "4")
OF_GROUP = r"^Run status group {}.*\n   READ: .* io=(\d+)KiB "


def test_groups_between_stonewalls(boot):
    """Two jobs, two disks, one after the other; the sums are of each group."""
    out = boot("iodepth=4 blk.mode=irq stonewall name=a number_ios=200 name=b filename=vdb "
               "number_ios=120", null_disk(), null_disk(), json=True)
    assert out.status == OK, out.show()
    report_keys.check(out.json)
    assert [job["groupid"] for job in out.json["jobs"]] == [0, 1]
    groups = out.json["ringlab"]["groups"]
    for group, ios in zip(groups, (200, 120), strict=True):
        assert (group["jobs"], group["cpus"], group["queues"]) == (1, 1, 1)
        assert group["requests"] == group["read"]["total_ios"] == ios
        assert out.find(OF_GROUP.format(group["groupid"]))[1] == str(ios * 4)


def test_queues_are_listed_once(boot):
    """Of the disk that jobs use, before their blocks; the JSON has all of them."""
    out = boot("number_ios=4 blk.mode=irq stonewall name=a name=b", null_disk(), null_disk(),
               json=True)
    vda, vdb = out.json["ringlab"]["devices"]
    listed = re.findall(r"^(vd.) \S+: 1 queue for 1 CPU\n  queue  0, size +(\d+): +(\S+) +msix (\d+) "
                        r"cpu 0\na: \(groupid=0", out.text, re.MULTILINE)
    assert listed == [("vda", str(vda["queue_size"]), "irq", "1")], out.show()
    assert "vdb" not in out.text
    assert vdb["queue_map"] == [{"queue": 0, "mode": "irq", "interrupt": "msix", "vector": 1,
                                 "size": vdb["queue_size"], "cpus": [0]}]


@pytest.mark.parametrize("mode, queues, kinds", [
    ("irq", 4, ("irq", "irq", "irq", "irq")),
    ("poll", 2, ("poll", "poll")),
    ("irq blk.poll_queues=1", 2, ("irq", "poll")),
])
def test_copies_on_cpus_and_queues(boot, mode, queues, kinds):
    """
    Four copies on four CPUs: as many queues as there are, and each counted once. The disk takes so
    long that they run side by side for sure.
    """
    out = boot(f"blk.mode={mode} numjobs=4 iodepth=4 number_ios=300",
               null_disk(latency_ns=4_000_000, device=f"num-queues={queues}"), json=True,
               accel=SMP4)
    assert out.status == OK, out.show()
    report_keys.check(out.json)
    jobs = [job["ringlab"] for job in out.json["jobs"]]
    assert [(job["cpu"], job["queue"], job["mode"], job["sharers"]) for job in jobs] == [
        (cpu, cpu % queues, kinds[cpu % queues], 4 // queues) for cpu in range(4)]
    group, = out.json["ringlab"]["groups"]
    assert (group["jobs"], group["cpus"], group["queues"]) == (4, 4, queues)
    assert group["read"]["total_ios"] == 4 * 300
    if queues == 4:
        assert group["requests"] == 4 * 300
    else:  # each job counts what its queue did from its own start to its own end
        assert 2 * 300 < group["requests"] <= 4 * 300
    assert sum(job["interrupts"] for job in jobs if job["mode"] == "poll") == 0
    queue_map = out.json["ringlab"]["devices"][0]["queue_map"]
    assert [(q["mode"], q["cpus"]) for q in queue_map] == [
        (kind, list(range(index, 4, queues))) for index, kind in enumerate(kinds)]
    rows = re.findall(r"^  ringlab: +(\d+)  vda +(\d+) +(\w+) .* (\d+)$", out.text, re.MULTILINE)
    assert [(int(cpu), int(queue), kind) for cpu, queue, kind, _ in rows] == [
        (job["cpu"], job["queue"], job["mode"]) for job in jobs]
    if queues == 4:
        assert [int(row[3]) for row in rows] == [job["polls_empty"] for job in jobs]
    assert "  result: ringlab rw=randread bs=4096 iodepth=4: " in out.text
    out.find(rf" jobs=4 cpus=4 queues={queues}$")
    out.find(r"^clock: TSC skew between 4 CPUs: at most \S+ [num]s$")
