# SPDX-License-Identifier: BSD-2-Clause
"""Does the JSON report on stdin hold what readers of fio's JSON look for?

usage: report_keys.py < REPORT     exits 0, or says what is missing and exits 1
"""
import json
import sys

LATENCY = {"min", "max", "mean", "stddev", "N"}
DIRECTION = {
    "io_bytes", "io_kbytes", "bw_bytes", "bw", "iops", "runtime", "total_ios", "short_ios",
    "drop_ios", "slat_ns", "clat_ns", "lat_ns", "bw_min", "bw_max", "bw_agg", "bw_mean", "bw_dev",
    "bw_samples", "iops_min", "iops_max", "iops_mean", "iops_stddev", "iops_samples"}
LEVELS = {
    "iodepth_level": {"1", "2", "4", "8", "16", "32", ">=64"},
    "iodepth_submit": {"0", "4", "8", "16", "32", "64", ">=64"},
    "iodepth_complete": {"0", "4", "8", "16", "32", "64", ">=64"},
    "latency_ns": {"2", "4", "10", "20", "50", "100", "250", "500", "750", "1000"},
    "latency_us": {"2", "4", "10", "20", "50", "100", "250", "500", "750", "1000"},
    "latency_ms": {"2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000",
                   ">=2000"}}
JOB = {
    "jobname", "groupid", "error", "eta", "elapsed", "job options", "read", "write", "trim", "sync",
    "job_runtime", "usr_cpu", "sys_cpu", "ctx", "majf", "minf", "latency_depth", "latency_target",
    "latency_percentile", "latency_window", "ringlab"} | set(LEVELS)
DISK = {"name", "read_ios", "write_ios", "read_merges", "write_merges", "read_ticks", "write_ticks",
        "in_queue", "util"}
OWN_RUN = {"version", "accel", "machine", "cpus", "tsc_hz", "boot_to_kernel_ms",
           "boot_to_first_io_ms", "devices", "groups"}
OWN_JOB = {"device", "mode", "ring", "transport", "indirect", "queues", "kicks_per_io",
           "irqs_per_io", "batches_per_io", "polls_empty", "merged", "cpu_busy_pct", "cpu",
           "cpu_jobs", "queue", "interrupt", "sharers"}
OWN_GROUP = {"groupid", "jobname", "jobs", "cpus", "queues", "iops", "bw_bytes", "kicks_per_io",
             "irqs_per_io", "cpu_busy_pct", "cpu_halted_pct"}


def once(pairs):
    """An object, refused if a key is in it twice."""
    keys = [key for key, _ in pairs]
    twice = {key for key in keys if keys.count(key) > 1}
    assert not twice, f"keys twice: {twice}"
    return dict(pairs)


def has(where, found, wanted):
    missing = wanted - set(found)
    assert not missing, f"{where}: missing {sorted(missing)}"


def check_direction(where, d):
    has(where, d, DIRECTION)
    for name in ("slat_ns", "clat_ns", "lat_ns"):
        has(f"{where}.{name}", d[name], LATENCY)
        assert d[name]["min"] <= d[name]["mean"] <= d[name]["max"], f"{where}.{name}: out of order"
    assert ("percentile" in d["clat_ns"]) == (d["clat_ns"]["N"] > 0), f"{where}: percentile"
    values = list(d["clat_ns"].get("percentile", {}).values())
    assert values == sorted(values), f"{where}: percentiles do not rise"
    assert d["io_kbytes"] == d["io_bytes"] // 1024 and d["bw"] == d["bw_bytes"] // 1024
    assert d["total_ios"] == d["clat_ns"]["N"] == d["lat_ns"]["N"], f"{where}: counts"


def check_job(index, job):
    where = f"jobs[{index}]"
    has(where, job, JOB)
    has(f"{where}.ringlab", job["ringlab"], OWN_JOB)
    has(f"{where}.sync", job["sync"], {"total_ios", "lat_ns"})
    has(f"{where}.job options", job["job options"], {"rw", "bs", "iodepth", "numjobs"})
    assert all(isinstance(v, str) for v in job["job options"].values()), f"{where}: not a string"
    for name in ("read", "write", "trim"):
        check_direction(f"{where}.{name}", job[name])
    for name, keys in LEVELS.items():
        assert set(job[name]) == keys, f"{where}.{name}: {sorted(job[name])}"
        assert sum(job[name].values()) < 100.2, f"{where}.{name}: above 100 %"


def check_group(group, jobs):
    """What a group says is what its jobs say, each queue's counters once."""
    where = f"groups[{group['groupid']}]"
    has(where, group, OWN_GROUP)
    jobs = [job for job in jobs if job["groupid"] == group["groupid"]]
    assert group["jobs"] == len(jobs), f"{where}: {len(jobs)} jobs"
    for side in ("read", "write"):
        ios = sum(job[side]["total_ios"] for job in jobs)
        assert (side in group) == (ios > 0), f"{where}: {side}"
        if ios:
            assert group[side]["total_ios"] == group[side]["clat_ns"]["N"] == ios, f"{where}: {side}"
    own = [job["ringlab"] for job in jobs]
    assert group["cpus"] == len({job["cpu"] for job in own}), f"{where}: cpus"
    queues = {}
    for job in own:
        key = job["device"], job["queue"]
        queues[key] = max(queues.get(key, 0), job["requests"])
    assert group["queues"] == len(queues), f"{where}: queues"
    assert group["requests"] == sum(queues.values()), f"{where}: requests counted twice?"


def check_readers(document):
    """The accesses of fio-plot, SPDK's nvmf/common.py and benchmark-wrapper (no default list)."""
    assert "fio version" in document
    job = document["jobs"][0]
    rw = job["job options"]["rw"]
    side = job["write" if "write" in rw else "read"]
    assert isinstance(side["iops"], float) and isinstance(side["bw"], int)
    assert isinstance(side["iops_stddev"], float)
    first_lat = [side[key] for key in side if key.startswith("lat")][0]
    assert {"mean", "min", "max", "stddev"} <= set(first_lat)
    if side["clat_ns"]["N"]:
        has("percentile", side["clat_ns"]["percentile"], {"99.000000", "99.900000", "99.990000"})


def check(document):
    has("ringlab", document["ringlab"], OWN_RUN)
    for index, job in enumerate(document["jobs"]):
        check_job(index, job)
    for group in document["ringlab"]["groups"]:
        check_group(group, document["jobs"])
    for device in document["ringlab"]["devices"]:
        assert [q["queue"] for q in device["queue_map"]] == list(range(device["queues"]))
    for disk in document["disk_util"]:
        has("disk_util", disk, DISK)
    check_readers(document)


def main():
    text = sys.stdin.read()
    assert text.splitlines()[0] == "{", "the first line is not '{' alone"
    check(json.loads(text, object_pairs_hook=once))


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, KeyError, ValueError) as error:
        sys.exit(f"report_keys.py: {type(error).__name__}: {error}")
