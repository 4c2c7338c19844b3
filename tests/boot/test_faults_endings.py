# SPDX-License-Identifier: BSD-2-Clause
"""What if a disk never answers, or a job ends while its requests are still out?"""
import errno
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from guest import IO_ERROR, KERNEL, ROOT, file_disk, null_disk, throttled_disk

LAUNCHER = ROOT / "tools" / "ringlab"
LAUNCHER_TIMEOUT_S = 100


@pytest.mark.conformance("CLEAN-02")
def test_f154_disk_that_never_answers(boot):
    """QEMU lets its own disk finish before it resets the device, so that "never" is 4 s here."""
    out = boot("blk.timeout_ms=500 iodepth=4 rw=read bs=4k",
               null_disk(latency_ns=4_000_000_000, iothread=True), status=IO_ERROR, json=True)
    stuck = re.findall(r"^error: vda 00:01\.0: queue 0 tag \d+: read of 4096 bytes at sector "
                       r"(\d+) not answered within (\d+) ms$", out.text, re.MULTILINE)
    assert sorted(int(sector) for sector, _ in stuck) == [0, 8, 16, 24]
    assert {ms for _, ms in stuck} == {"500"}
    assert "request timed out; 4 commands in flight fail" in out.text
    job = out.job()
    assert job["error"] == errno.ETIMEDOUT
    assert job["read"]["total_ios"] == 0 and job["read"]["iops"] == 0
    out.find(r"^  ringlab: errors=4 \(timed out: 4\), the first at sector 0 ")
    assert "to first I/O" not in out.text, "there was no first I/O to be timed"


def test_f154_other_disks_go_on(boot, stamped):
    out = boot("blk.timeout_ms=500 name=stuck name=good stonewall filename=vdb rw=read hash=crc32c bs=64k",
               null_disk(latency_ns=3_000_000_000, iothread=True), file_disk(stamped.path),
               status=IO_ERROR)
    assert out.crc32c() == stamped.crc()


def test_f154_slow_is_not_stuck(boot):
    """Ten times slower than a notification is repeated, and yet within the limit."""
    out = boot("blk.timeout_ms=5000 iodepth=2 number_ios=4",
               null_disk(latency_ns=500_000_000, iothread=True))
    assert "issued rwts: total=4,0,0,0" in out.text
    assert "error" not in out.text


@pytest.mark.conformance("CLEAN-01")
def test_f157_job_ends_with_requests_in_flight(boot, stamped):
    """256 requests wait at a slow disk when the time is up; the next job reads what is there."""
    out = boot("bs=4k name=late rw=randread iodepth=256 runtime=200ms time_based "
               "name=after stonewall rw=read hash=crc32c bs=64k iodepth=8",
               throttled_disk(stamped.path, 1000), json=True)
    assert out.crc32c() == stamped.crc()
    late, after = out.job(0)["read"], out.job(1)["read"]
    assert late["clat_ns"]["N"] == late["total_ios"] >= 256
    assert after["total_ios"] == -(-stamped.size // 65536)


@pytest.mark.parametrize("disk, backend", [
    ("image", "file"), ("image", "vhost-user"), ("null", "null"), ("null", "vhost-user")])
def test_launcher_runs_the_kernel(tmp_path, monkeypatch, stamped, disk, backend):
    """The real programs this time; no process and no file is left."""
    if backend == "vhost-user" and not shutil.which("qemu-storage-daemon"):
        pytest.skip("qemu-storage-daemon is not installed")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    job = ["rw=read", "hash=crc32c", "bs=64k", "iodepth=16"] if disk == "image" else [
        "rw=randread", "iodepth=16", "number_ios=1000"]
    words = [str(LAUNCHER), "run", "--kernel", KERNEL, "--accel", "tcg", "--backend", backend,
             "--disk", stamped.path if disk == "image" else "null", "--timeout", "60", "--", *job]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=LAUNCHER_TIMEOUT_S)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    if disk == "image":
        assert f"crc32c: 0x{stamped.crc():08x} over {stamped.size} bytes" in ran.stdout
    else:
        assert "issued rwts: total=1000,0,0,0" in ran.stdout
    assert "exit=0 (success)" in ran.stdout
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not processes_that_name(str(tmp_path / "tmp"))


def processes_that_name(text):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue  # it has ended
        if text.encode() in words:
            found.append(words)
    return found
