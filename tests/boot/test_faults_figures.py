# SPDX-License-Identifier: BSD-2-Clause
"""Do the figures agree with each other, and with what the host has counted?"""
import itertools
import re

import pytest

from guest import USAGE, file_disk, null_disk, throttled_disk
from images import SECTOR, Image
from traces import transfers

TRACE = ("virtio_blk_handle_read",)
LATENCY_NS = 1_000_000
CLOCK_ERROR = 0.005  # of the TSC's calibration, against the host's


def mean(job, which, direction="read"):
    return job[direction][f"{which}_ns"]["mean"]


def check_sane(job, before=0):
    """Of any set of figures; @before: requests that may have been issued before the window."""
    read = job["read"]
    for which in ("slat", "clat", "lat"):
        stat = read[f"{which}_ns"]
        assert 0 <= stat["min"] <= stat["mean"] <= stat["max"] < 60e9
        assert 0 <= stat["stddev"] <= stat["max"] - stat["min"]
        assert read["total_ios"] - before <= stat["N"] <= read["total_ios"]
    assert mean(job, "lat") == pytest.approx(mean(job, "slat") + mean(job, "clat"), rel=0.01)
    percentiles = [value for _, value in sorted(
        (float(key), value) for key, value in read["clat_ns"].get("percentile", {}).items())]
    assert percentiles == sorted(percentiles)
    assert all(value <= read["clat_ns"]["max"] * 1.02 for value in percentiles)
    assert read["io_bytes"] == read["total_ios"] * 4096
    if read["runtime"] > 100:
        rate = read["total_ios"] * 1000 / read["runtime"]
        assert read["iops"] == pytest.approx(rate, rel=0.02)
    assert sum(job["iodepth_level"].values()) == pytest.approx(100, abs=0.6)


def test_f145_latency_of_a_batch(boot):
    """Each request of a batch takes as long as the disk does, never less."""
    out = boot("iodepth=64 iodepth_batch_submit=16 number_ios=1024",
               null_disk(latency_ns=LATENCY_NS, iothread=True), json=True)
    job = out.job()
    assert job["read"]["clat_ns"]["min"] >= LATENCY_NS * (1 - CLOCK_ERROR)
    assert job["read"]["lat_ns"]["min"] >= job["read"]["clat_ns"]["min"]
    check_sane(job)


@pytest.mark.parametrize("job", ["rw=read bs=4k", "rw=randread bs=4k number_ios=1000",
                                 "rw=read bs=4k offset=99%", "rw=randread bs=64k size=50%"])
@pytest.mark.conformance("BLK-OP-02")
def test_f148_never_past_the_end(boot, tmp_path, job):
    image = Image(tmp_path / "odd.img", 2049)
    out = boot(f"{job} iodepth=8", file_disk(image.path), trace=TRACE)
    reads = transfers(out.trace, "read")
    assert reads and max(sector + n for sector, n in reads) <= 2049
    if "size" not in job:
        out.find(r"^  note: the last 512 bytes of the range are less than a block; left out$")
    if job == "rw=read bs=4k":
        assert sorted(reads) == [(8 * n, 8) for n in range(256)]


@pytest.mark.parametrize("job, said", [
    ("size=2m", "size=2097152: only 1049088 of the 1049088 bytes of vda are left after offset"),
    ("bs=128m", "bs=134217728: not one block fits in the range of 1049088 bytes on vda"),
    ("offset=100%", "offset=1048576: not below"),
])
def test_f148_clear_errors(boot, tmp_path, job, said):
    image = Image(tmp_path / "even.img", 2049 if "100" not in job else 2048)
    out = boot(job, file_disk(image.path), status=USAGE, trace=TRACE)
    assert len(out.errors()) == 1 and said in out.errors()[0], out.show()
    assert transfers(out.trace, "read") == []


@pytest.mark.parametrize("block, job, said", [
    (512, "offset=1000", "offset=1000: not a multiple of the 512-byte blocks of vda"),
    (512, "bs=1000", "bs=1000: not a multiple of the 512-byte blocks of vda"),
    (4096, "offset=512", "offset=512: not a multiple of the 4096-byte blocks of vda"),
    (4096, "bs=1536", "bs=1536: not a multiple of the 4096-byte blocks of vda"),
])
def test_f149_unaligned(boot, stamped, block, job, said):
    device = f"logical_block_size={block},physical_block_size=4096"
    out = boot(f"rw=read {job}", file_disk(stamped.path, device), status=USAGE, trace=TRACE)
    assert out.errors() == [f"error: {said}"]
    assert transfers(out.trace, "read") == []


def test_f149_odd_and_yet_aligned(boot, stamped):
    out = boot("rw=read hash=crc32c bs=1536 offset=512 size=9k iodepth=4",
               file_disk(stamped.path), trace=TRACE)
    assert out.crc32c() == stamped.crc(512, 9 * 1024)
    assert sorted(transfers(out.trace, "read")) == [(1 + 3 * n, 3) for n in range(6)]


@pytest.mark.parametrize("depth", [1, 8])
def test_f150_rate_depth_and_latency(boot, stamped, depth):
    """
    A disk that makes 100 a second. What it saved up beforehand is spent in the ramp; what a busy
    host keeps it from doing for up to a second, it makes up for.
    """
    out = boot(f"rw=randread bs=4k iodepth={depth} ramp_time=1 runtime=3 time_based",
               throttled_disk(stamped.path, 100, saved=100), json=True)
    job = out.job()
    assert job["read"]["iops"] == pytest.approx(100, rel=0.1)
    assert job["read"]["iops"] * mean(job, "lat") / 1e9 == pytest.approx(depth, rel=0.05)
    assert job["read"]["clat_ns"]["N"] == job["read"]["total_ios"]
    check_sane(job, before=depth)


@pytest.mark.parametrize("rw", ["read", "randread"])
def test_f150_counts_of_the_host(boot, stamped, rw):
    out = boot(f"rw={rw} bs=4k iodepth=8 number_ios=300", file_disk(stamped.path), json=True,
               trace=TRACE)
    reads = transfers(out.trace, "read")
    assert len(reads) == out.job()["read"]["total_ios"] == 300
    assert sum(n for _, n in reads) * SECTOR == out.job()["read"]["io_bytes"]
    if rw == "randread":
        assert len(set(reads)) > 200


@pytest.mark.parametrize("percentiles, output, progress", itertools.product(
    ("", "percentile_list=50", "percentile_list=1:99.999:100"),
    ("output-format=json", "output-format=normal,json"),
    ("eta=never", "eta=always status-interval=10ms")))
def test_f151_switches_of_the_report(start, percentiles, output, progress):
    runtime = "500ms" if "always" in progress else "50ms"
    guest = start(f"runtime={runtime} time_based iodepth=4 {percentiles} {output} {progress}",
                  null_disk(iothread=True), qemu=("-serial", "null"))
    text = guest.finish().text
    assert ("% done" in text) == ("always" in progress)
    assert ("IOPS=" in text) == ("normal" in output)


@pytest.mark.parametrize("job", ["", "percentile_list=50", "percentile_list=1:99.999:100",
                                 "eta=always status-interval=10ms",
                                 "gtod_reduce=0 disable_lat=0 log=debug"])
def test_f151_each_figure_is_sane(boot, job):
    out = boot(f"runtime=150ms time_based iodepth=4 {job}", null_disk(iothread=True), json=True)
    check_sane(out.job())
    if "list" in job:
        given = [float(text) for text in job.split("=")[1].split(":")]
        found = out.job()["read"]["clat_ns"]["percentile"]
        assert sorted(map(float, found)) == sorted(given)


def test_f152_cost_of_the_clock(boot):
    """On a disk that costs nothing, what it takes to read the clock is told, and is little."""
    out = boot("bs=512 iodepth=64 runtime=300ms time_based", null_disk(iothread=True))
    each, an_io, share = out.find(r"^  ringlab: time stamps: ([0-9.]+) ns each, ([0-9.]+) ns/io, "
                                  r"([0-9.]+)% of the run$").groups()
    assert 0 < float(an_io) <= 3 * float(each)
    assert float(share) < 5


@pytest.mark.parametrize("machine", ["q35", "pc,hpet=off"])
def test_f152_no_slow_clock_in_the_window(boot, machine):
    """Between the first request and the last, no register of any timer is read."""
    out = boot("rw=randread number_ios=2000 iodepth=4 eta=never", null_disk(device="ioeventfd=off"),
               machine=machine, trace=(*TRACE, "memory_region_ops_read"))
    at = [n for n, line in enumerate(out.trace) if line.startswith(TRACE[0])]
    assert len(at) == 2000
    window = "\n".join(out.trace[at[0]:at[-1]])
    assert re.findall(r"name '(hpet|acpi-tmr|pit|rtc)'", window) == []
    assert re.search(r"name '(hpet|acpi-tmr)'", "\n".join(out.trace[at[-1]:])), "no trace of any"
