# SPDX-License-Identifier: BSD-2-Clause
"""Is a second a second, whichever clocks the machine has, and whether or not the guest runs?"""
import os
import signal
import subprocess
import time

import pytest

from guest import ICOUNT, NO_DEVICE, OK, file_disk, null_disk

PAUSE_S = 2.0
CLOCK_ERROR = 0.005  # of the TSC's calibration, against the host's
LINE_LATE_MS = 1500


@pytest.mark.parametrize("machine, source, second", [
    ("q35", "hpet", "pm-timer"), ("q35,pit=off", "hpet", "pm-timer"),
    ("q35,hpet=off", "pm-timer", "pit"), ("pc,hpet=off", "pm-timer", "pit"),
    ("q35,acpi=off,hpet=off", "pm-timer", "pit"), ("q35,pit=off,hpet=off", "pm-timer", None),
    ("pc,acpi=off,hpet=off", "pit", None), ("pc,acpi=off,hpet=off,pit=off", "none", None),
])
def test_f138_clocks_left_out(boot, stamped, machine, source, second):
    """Bounded; with one clock there is nothing to check it against, with none it is a guess."""
    out = boot("rw=read hash=crc32c bs=64k iodepth=8", file_disk(stamped.path), machine=machine,
               json=True)
    assert out.crc32c() == stamped.crc()
    ringlab = out.json["ringlab"]
    assert ringlab["tsc_hz"] > 1e8
    assert ringlab["tsc_source"] == source
    trusted = ringlab["tsc_trusted"]
    assert ("warning: the clock is not trusted" in out.text) == (not trusted)
    if second is None:
        assert not trusted
        out.find(rf"^clock: TSC [0-9.]+ MHz \({source}, no cross-check\)$")
    else:
        assert second == ringlab["tsc_cross_source"]
        assert trusted == (ringlab["tsc_cross_ppm"] <= 5000)
        assert trusted


def test_f138_pit_on_a_busy_host(boot):
    """Three on one core: whoever looks at the PIT is away for longer than it counts."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, [min(cores)])
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2)]
    try:
        out = boot("number_ios=10", null_disk(), machine="q35,hpet=off", json=True)
    finally:
        os.sched_setaffinity(0, cores)
        for other in others:
            other.kill()
            other.wait()
    assert out.json["ringlab"]["tsc_cross_source"] == "pit"
    assert out.json["ringlab"]["tsc_trusted"], out.show()


def test_f138_microvm(boot):
    boot("", machine="microvm,pcie=on,pit=off,pic=off", status=NO_DEVICE)


@pytest.mark.parametrize("machine", ["q35", "q35,hpet=off", "pc", "pc,hpet=off",
                                     "q35,hpet=off,acpi=off"])
def test_f139_exact_rate(boot, machine):
    """Under icount each instruction is a nanosecond, so the rate is known beforehand."""
    out = boot("number_ios=500", null_disk(), machine=machine, accel=ICOUNT, json=True)
    out.find(r"^clock: TSC 1000\.0 MHz \(")
    assert abs(out.json["ringlab"]["tsc_hz"] - 10**9) <= 10**9 // 1000


def test_f139_time_of_a_job(start):
    """
    The host's clock, read when lines arrive, bounds what the guest says about its own: from above
    for sure, from below as far as lines are not late.
    """
    begin = time.monotonic()
    guest = start("runtime=3 time_based status-interval=500ms", null_disk(iothread=True),
                  json=True)
    guest.read_until(r"^ringlab: \d+% done")
    first = time.monotonic()
    guest.read_until(r"^ringlab: \(groupid")
    end = time.monotonic()
    out = guest.finish()
    assert out.status == OK, out.show()
    in_guest_ms = out.job()["read"]["runtime"]
    assert 3000 <= in_guest_ms <= (end - begin) * 1000 * (1 + CLOCK_ERROR)
    assert (end - first) * 1000 < in_guest_ms - 500 + LINE_LATE_MS


def test_f141_stopped_guest(start):
    """Time goes on while the guest does not: the job is no longer, and the pause is in it."""
    begin = time.monotonic()
    guest = start("iodepth=4 runtime=4 time_based status-interval=500ms",
                  null_disk(iothread=True), json=True)
    guest.read_until(r"^ringlab: \d+% done")
    first = time.monotonic()
    guest.process.send_signal(signal.SIGSTOP)
    time.sleep(PAUSE_S)  # no wait for anything: it is the pause
    guest.process.send_signal(signal.SIGCONT)
    guest.read_until(r"^ringlab: \(groupid")
    end = time.monotonic()
    out = guest.finish()
    assert out.status == OK, out.show()
    read = out.job()["read"]
    assert 4000 <= read["runtime"] < 4000 + PAUSE_S * 1000
    assert read["runtime"] <= (end - begin) * 1000 * (1 + CLOCK_ERROR)
    assert (end - first) * 1000 < read["runtime"] - 500 + LINE_LATE_MS
    assert read["clat_ns"]["max"] > (PAUSE_S - 0.1) * 1e9
