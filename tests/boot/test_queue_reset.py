# SPDX-License-Identifier: BSD-2-Clause
"""Is a queue that is stuck reset by itself, and set up again from the start?"""
import pytest

from guest import IO_ERROR, USAGE, null_disk
from traces import accesses, written64

SELECT, SIZE, VECTOR, ENABLE, DESC, RESET, STATUS = 22, 24, 26, 28, 32, 58, 20
TRACE = ("memory_region_ops_write", "memory_region_ops_read")
STUCK = "blk.timeout_ms=500 iodepth=4 rw=read bs=4k number_ios=4"


def common(trace):
    return [a for a in accesses(trace, "common") if a.offset != STATUS or a.write]


@pytest.mark.conformance("QRST-01", "QRST-03", "QRST-04", "QRST-05", "QRST-07")
def test_stuck_queue(boot):
    """The second job meets the same silence; then it is the device's turn."""
    out = boot(f"blk.recover=queue {STUCK} name=a name=b stonewall",
               null_disk(latency_ns=4_000_000_000, iothread=True),
               status=IO_ERROR, trace=TRACE, json=True)
    assert out.text.count("warning: vda 00:01.0: queue 0 was reset by itself; 4 commands") == 1
    assert out.text.count("queue 0: request timed out; 4 commands in flight fail") == 1
    assert [out.job(n)["ringlab"]["errors"] for n in (0, 1)] == [{"timed out": 4}] * 2
    assert [out.job(n)["ringlab"]["queue_resets"] for n in (0, 1)] == [1, 0]
    assert [group["queue_resets"] for group in out.json["ringlab"]["groups"]] == [1, 0]
    seen = common(out.trace)
    asked, = [n for n, a in enumerate(seen) if a.write and a.offset == RESET]
    assert seen[asked].value == 1
    reads = [a.value for a in seen[asked:] if not a.write and a.offset in (RESET, ENABLE)]
    assert reads[:2] == [0, 0], "the reset is not seen to be done"
    again = [a for a in seen[asked:] if a.write and a.offset not in (SELECT, RESET, STATUS)]
    assert [a.offset for a in again] == [VECTOR, *range(DESC, DESC + 24, 4), ENABLE]
    first = [a for a in seen[:asked] if a.write and a.offset in range(DESC, DESC + 24)]
    assert [a.value for a in again[1:7]] == [a.value for a in first]
    assert written64(out.trace, DESC) > 0
    # One reset of the device at the start, one after the second silence, one at the end.
    statuses = [a.value for a in seen if a.write and a.offset == STATUS]
    assert statuses[:6] == [0, 1, 3, 11, 15, 0]


def test_device_is_the_default(boot):
    out = boot(STUCK, null_disk(latency_ns=2_000_000_000, iothread=True), status=IO_ERROR, trace=TRACE)
    assert RESET not in [a.offset for a in common(out.trace) if a.write]
    assert "request timed out; 4 commands in flight fail" in out.text


@pytest.mark.parametrize("device, append", [("queue_reset=off", ""),
                                            ("disable-modern=on", ""),
                                            ("", "blk.feature.ring_reset=0")])
def test_bad_input(boot, device, append):
    out = boot(f"blk.recover=queue {append}", null_disk(device=device), status=USAGE)
    assert out.errors() == ["error: blk.recover=queue: vda 00:01.0: RING_RESET, which that needs, "
                            "is not accepted; use blk.recover=device"]
