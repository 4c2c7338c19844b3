# SPDX-License-Identifier: BSD-2-Clause
"""Does the report of several jobs say the same in text and JSON, each figure once?"""
import re
import sys
from pathlib import Path

from guest import OK, null_disk

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

import report_keys  # noqa: E402

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
    listed = re.findall(r"^(vd.) \S+: 1 queue of (\d+), for 1 CPU\n  queue  0: +(\S+) +msix (\d+) "
                        r"cpu 0\na: \(groupid=0", out.text, re.MULTILINE)
    assert listed == [("vda", str(vda["queue_size"]), "irq", "1")], out.show()
    assert "vdb" not in out.text
    assert vdb["queue_map"] == [{"queue": 0, "mode": "irq", "interrupt": "msix", "vector": 1,
                                 "cpus": [0]}]
