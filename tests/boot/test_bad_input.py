# SPDX-License-Identifier: BSD-2-Clause
"""Does each mistake get one clear line and the right status, with nothing run or written?"""
import pytest

from gdb import symbol
from guest import KERNEL, NO_DEVICE, USAGE, file_disk, null_disk
from images import sparse
from smp import cpus
from traces import count, statuses, transfers

ACCESS_PLATFORM = 1 << 33
TRACE = ("virtio_blk_handle_write", "virtio_blk_handle_read")


def refused(boot, append, disk, *said, status=USAGE, **how):
    """Boots, and sees one line of error that holds each of @said, no job, no request."""
    out = boot(append, disk, status=status, trace=TRACE, **how)
    assert len(out.errors()) == 1, out.show()
    for words in said:
        assert words in out.errors()[0], out.show()
    assert "IOPS" not in out.text, out.show()
    assert transfers(out.trace, "write") == []
    assert transfers(out.trace, "read") == []
    return out


@pytest.mark.parametrize("token, said", [
    ("bogus=1", "unknown option 'bogus'"),
    ("iodept=4", "unknown option 'iodept' (did you mean iodepth?)"),
    ("iodepth=0", "iodepth=0: expected 1 to 1024"),
    ("iodepth=1025", "iodepth=1025: expected 1 to 1024"),
    ("iodepth=four", "iodepth=four: expected 1 to 1024"),
    ("iodepth=4x", "iodepth=4x: expected 1 to 1024"),
    ("iodepth=", "iodepth=: the value is missing; expected 1 to 1024"),
    ("iodepth", "iodepth: needs a value; expected 1 to 1024"),
    ("bs=4q", "bs=4q: expected a size up to 1g"),
    ("bs=-4k", "bs=-4k: expected a size up to 1g"),
    ("bs=99999999999999999999", "bs=99999999999999999999: expected a size up to 1g"),
    ("runtime=soon", "runtime=soon: expected a time up to 365d"),
    ("offset=110%", "offset=110%: expected a size, such as 64m, or a share of the disk"),
    ("rwmixread=101", "rwmixread=101: expected 0 to 100"),
    ("rw=randtrim", "rw=randtrim: expected read|write|randread|randwrite|rw|randrw"),
    ("hash=md5", "hash=md5: expected crc32c"),
    ("log=loud", "log=loud: expected error|warn|info|debug"),
    ("blk.qsize=2", "blk.qsize=2: expected 0 (what the device offers) or 3 to 32768"),
    ("blk.indirect=maybe", "blk.indirect=maybe: expected auto|never|always|threshold"),
    ("blk.indirect=threshold:0", "blk.indirect=threshold:0: expected auto|never|always|threshold"),
    ("blk.ring=both", "blk.ring=both: expected auto|split|packed"),
    ("blk.mode=foo", "blk.mode=foo: expected poll|irq|hybrid"),
    ("blk.irq_coalesce=0", "blk.irq_coalesce=0: expected 1 to 32768"),
    ("verify=crc32c", "verify=crc32c: only 0 is supported"),
    ("numjobs=0", "numjobs=0: expected 1 to 64"),
    ("numjobs=65", "numjobs=65: expected 1 to 64"),
    ("percentile_list=0", "percentile_list=0: expected up to 20 numbers"),
    ("'name=a", "a quote is not closed"),
])
def test_value(boot, small, token, said):
    refused(boot, f"rw=randwrite {token}", file_disk(small.path), said)
    assert small.unchanged()


@pytest.mark.parametrize("job, said", [
    ("bs=1000", "bs=1000: not a multiple of the 512-byte blocks of vda"),
    ("offset=1000", "offset=1000: not a multiple of the 512-byte blocks of vda"),
    ("offset=256k", "offset=262144: not below the 262144 bytes of vda"),
    ("size=512k", "size=524288: only 262144 of the 262144 bytes of vda are left after offset"),
    ("offset=128k size=132k", "size=135168: only 131072 of the 262144 bytes"),
    ("bs=128m", "bs=134217728: not one block fits in the range of 262144 bytes on vda"),
    ("time_based", "time_based: needs a runtime, such as runtime=10"),
    ("hash=crc32c", "hash=crc32c: needs rw=read, not rw=randwrite"),
    ("filename=vdq", "filename=vdq: no such disk; there is vda"),
    ("blk.qsize=512", "blk.qsize=512: vda offers a queue of 256"),
    ("blk.qsize=100", "blk.qsize=100: vda has a split ring, whose size is a power of two"),
    ("blk.ring=packed", "blk.ring=packed: vda has a split ring only"),
    ("name=first name=second bs=1000", "bs=1000: not a multiple of the 512-byte blocks of vda"),
])
def test_job_against_disk(boot, small, job, said):
    """Of several jobs, not even the good ones are begun."""
    refused(boot, f"rw=randwrite {job}", file_disk(small.path), said)
    assert small.unchanged()


@pytest.mark.parametrize("device, append, said", [
    ("num-queues=2", "blk.queues=3", "blk.queues=3: vda has 2 queues"),
    ("num-queues=1", "blk.queues=2", "blk.queues=2: vda has 1 queue"),
    ("num-queues=2", "blk.poll_queues=2", "blk.poll_queues=2: leaves none of the 2 queues of vda"),
    ("num-queues=4", "blk.queues=1 blk.poll_queues=1",
     "blk.poll_queues=1: leaves none of the 1 queue of vda"),
    ("num-queues=2", "cpus_allowed=1-3 numjobs=2",
     "cpus_allowed=1-3: there is no CPU 2; CPUs 0 to 1 run"),
    ("num-queues=2,vectors=2", "blk.mode=irq blk.irq=msix",
     "blk.irq=msix: vda: not a vector for each queue: 3 needed, the device has 2; use blk.irq=auto"),
    ("vectors=0", "blk.mode=hybrid blk.irq=msix",
     "blk.irq=msix: vda: not a vector for each queue: no MSI-X; use blk.irq=auto"),
    ("num-queues=2", "blk.mode=irq hipri=1", "hipri=1: vda has no queue that is polled; use "
     "blk.poll_queues=N or blk.mode=poll"),
    ("num-queues=2", "blk.poll_queues=1 hipri=0",
     "hipri=0: all queues of vda are polled; use blk.mode=irq or blk.mode=hybrid"),
    ("num-queues=2", "numjobs=64 name=a name=b name=c name=d name=e",
     "numjobs: 320 jobs in all; a run has at most 256"),
    ("num-queues=2", "rate_iops=1000,x", "rate_iops=1000,x: expected requests a second up to "),
    ("num-queues=2", "rate_iops=-1", "rate_iops=-1: expected requests a second up to "),
    ("num-queues=2", "thinktime=-5", "thinktime=-5: expected a time up to 365d, such as 100 "),
    ("num-queues=2", "thinktime=9ms thinktime_blocks=0",
     "thinktime_blocks=0: expected 1 to 4294967295"),
    ("num-queues=2", "name=good numjobs=2 name=late stonewall cpus_allowed=2",
     "cpus_allowed=2: there is no CPU 2; CPUs 0 to 1 run"),
])
def test_jobs_against_cpus_and_queues(boot, small, device, append, said):
    """On two CPUs; of several groups, not even the first is begun."""
    refused(boot, f"rw=randwrite {append}", file_disk(small.path, device), f"error: {said}",
            accel=cpus(2))
    assert small.unchanged()


def test_blocks_of_the_disk(boot, small):
    device = "logical_block_size=4096,physical_block_size=4096"
    for job, said in (("bs=512", "bs=512: not a multiple of the 4096-byte blocks of vda"),
                      ("offset=512", "offset=512: not a multiple of the 4096-byte blocks of vda")):
        refused(boot, f"rw=randwrite {job}", file_disk(small.path, device), said)
    assert small.unchanged()


def test_indirect_not_offered(boot, small):
    refused(boot, "rw=randwrite blk.indirect=always", file_disk(small.path, "indirect_desc=off"),
            "blk.indirect=always: vda does not offer indirect descriptors", "blk.indirect=never")
    refused(boot, "rw=randwrite blk.indirect=threshold:9", file_disk(small.path, "indirect_desc=off"),
            "blk.indirect=threshold:9: vda does not offer indirect descriptors")
    assert small.unchanged()


def test_line_too_long(boot, small):
    refused(boot, "rw=randwrite name=" + "x" * 4096, file_disk(small.path),
            "command line longer than 4095 bytes")
    assert small.unchanged()


def test_no_device(boot):
    out = boot("rw=randwrite", status=NO_DEVICE)
    assert out.errors() == ["error: no virtio-blk device found"]


def test_disk_without_sectors(boot, tmp_path):
    refused(boot, "rw=randread", file_disk(sparse(tmp_path / "empty.img", 0)),
            "vda: has no sectors")


@pytest.mark.conformance("INIT-05", "INIT-07", "INIT-08")
def test_features_refused(start, small, debugger):
    """QEMU's disk insists on ACCESS_PLATFORM; the kernel takes it, so it has to be made not to."""
    guest = start("rw=randwrite", file_disk(small.path, "iommu_platform=on,disable-legacy=on"),
                  trace=("memory_region_ops_write", "virtio_queue_notify"),
                  qemu=debugger.words(), fds=(debugger.theirs.fileno(),))
    debugger.run_to(symbol(KERNEL, "virtio_negotiate"))
    debugger.set_register("rsi", debugger.register("rsi") & ~ACCESS_PLATFORM)
    debugger.detach()
    out = guest.finish()
    assert out.status == NO_DEVICE, out.show()
    assert len(out.errors()) == 2, out.show()
    assert out.errors()[0].startswith("error: vda 00:01.0: device refused features 0x"), out.show()
    assert "FEATURES_OK reads back" in out.errors()[0]
    assert out.errors()[1] == "error: no usable virtio-blk device"
    assert statuses(out.trace)[-1] & 128, "FAILED is not the last word"
    assert count(out.trace, "virtio_queue_notify") == 0
    assert small.unchanged()


@pytest.mark.parametrize("append", ["", None], ids=["empty", "absent"])
def test_empty_command_line_is_the_default_job(boot, small, append):
    out = boot(append, file_disk(small.path), trace=TRACE)
    assert "result: ringlab rw=randread bs=4096 iodepth=1: IOPS=" in out.text
    assert len(transfers(out.trace, "read")) == small.size // 4096
    assert transfers(out.trace, "write") == []
    assert small.unchanged()


def test_default_writes_nothing_whatever_else_is_asked(boot, small):
    """Only a writing rw= may write: none of the other options makes a job do so."""
    out = boot("bs=8k iodepth=8 rwmixread=0 number_ios=100 randseed=1", file_disk(small.path),
               trace=TRACE)
    assert transfers(out.trace, "write") == []
    assert small.unchanged()


def test_ignored_options_are_named_once(boot):
    out = boot("ioengine=libaio direct=1 direct=1 group_reporting number_ios=1", null_disk())
    out.find(r"^note: options without a meaning here: ioengine, direct, group_reporting$")
