# SPDX-License-Identifier: BSD-2-Clause
"""Is the device brought up in the order that the specification asks for, as its trace shows?"""
import pytest

from guest import NO_DEVICE, REFUSED, USAGE, file_disk, null_disk
from images import Image, sparse
from traces import accepted_features, accesses, count, statuses

VERSION_1, EVENT_IDX, INDIRECT_DESC, ACCESS_PLATFORM = 1 << 32, 1 << 29, 1 << 28, 1 << 33
RO, FLUSH, CONFIG_WCE, RING_PACKED = 1 << 5, 1 << 9, 1 << 11, 1 << 34
# SIZE_MAX, SEG_MAX, RO, BLK_SIZE, FLUSH, CONFIG_WCE, MQ; RING_RESET: what the driver understands.
IMPLEMENTED = (sum(1 << bit for bit in (1, 2, 5, 6, 9, 11, 12, 40)) | VERSION_1 | EVENT_IDX |
               INDIRECT_DESC | RING_PACKED)
TRACE = ("memory_region_ops_read", "memory_region_ops_write", "virtio_set_status",
         "virtio_queue_notify")
READ_ONLY_FIELDS = {4: "device_feature", 18: "num_queues", 21: "config_generation",
                    30: "queue_notify_off", 56: "queue_notif_config_data"}
# The width of each field of the common configuration (4.1.4.3).
WIDTH = {**dict.fromkeys((0, 4, 8, 12, 32, 36, 40, 44, 48, 52), 4),
         **dict.fromkeys((16, 18, 22, 24, 26, 28, 30), 2), 20: 1, 21: 1}
QUEUE_SIZE, VECTOR, ENABLE, STATUS, DRIVER_FEATURE = 24, 26, 28, 20, 12


@pytest.fixture(params=["q35", "pc"])
def trace(request, boot):
    """All that the device sees of a small job; firmware has driven it before (F-045)."""
    return boot("number_ios=20 iodepth=4", null_disk(device="ioeventfd=off"),
                machine=request.param, trace=TRACE).trace


@pytest.mark.conformance("INIT-01", "STAT-01", "STAT-02", "STAT-06", "PCI-COM-05")
def test_f045_f047_status(trace):
    """SeaBIOS leaves the device at DRIVER_OK: reset first, then step by step."""
    assert statuses(trace) == [0, 1, 3, 11, 15, 0]
    reads = [a for a in accesses(trace, "common", False) if a.offset == STATUS]
    reset, *_ = [a.line for a in accesses(trace, "common", True) if a.offset == STATUS]
    assert [a.value for a in reads if a.line > reset][0] == 0
    assert 11 in [a.value for a in reads], "FEATURES_OK is not read back"


@pytest.mark.conformance("INIT-09", "NOTIF-01", "NOTIF-03")
def test_f047_no_kick_before_driver_ok(trace):
    ready = [a.line for a in accesses(trace, "common", True)
             if a.offset == STATUS and a.value == 15][0]
    kicks = accesses(trace, "notify", True)
    assert kicks and min(k.line for k in kicks) > ready
    assert {(k.size, k.value) for k in kicks} == {(2, 0)}
    assert count(trace[:ready], "virtio_queue_notify") == 0


@pytest.mark.conformance("INIT-04", "INIT-06", "PCI-COM-01", "PCI-COM-04", "PCI-COM-06",
                         "PCI-ACC-01")
def test_f047_registers(trace):
    writes = accesses(trace, "common", True)
    for access in accesses(trace, "common"):
        assert access.size == WIDTH[access.offset], access
    assert not [READ_ONLY_FIELDS[a.offset] for a in writes if a.offset in READ_ONLY_FIELDS]
    line = {a.offset: a.line for a in writes if a.offset != STATUS}
    ready = [a.line for a in writes if a.offset == STATUS and a.value == 15][0]
    features_ok = [a.line for a in writes if a.offset == STATUS and a.value == 11][0]
    assert [a.value for a in writes if a.offset == ENABLE] == [1]
    assert line[DRIVER_FEATURE] < features_ok
    assert max(line[offset] for offset in (VECTOR, 32, 36, 40, 44, 48, 52)) < line[ENABLE] < ready
    assert max(line.values()) < ready


@pytest.mark.conformance("INIT-02", "BLK-INIT-04", "BLK-INIT-05", "CFG-02")
def test_f047_device_config(trace):
    """Never written, and read only once the features are settled, between two generations."""
    config = accesses(trace, "device")
    features_ok = [a.line for a in accesses(trace, "common", True)
                   if a.offset == STATUS and a.value == 11][0]
    assert config and not [a for a in config if a.write]
    assert min(a.line for a in config) > features_ok
    generation = [a.line for a in accesses(trace, "common", False) if a.offset == 21]
    assert min(generation) < min(a.line for a in config)
    assert max(generation) > max(a.line for a in config)


@pytest.mark.parametrize("device", ["disable-legacy=on", "disable-legacy=off"])
@pytest.mark.conformance("RSVD-01", "PCI-DISC-01", "PCI-COM-09")
def test_f048_version_1(boot, device):
    out = boot("number_ios=1", null_disk(device=device), trace=TRACE)
    assert accepted_features(out.trace) & VERSION_1


@pytest.mark.parametrize("append, device, must, must_not", [
    ("", "", EVENT_IDX | FLUSH | INDIRECT_DESC, RING_PACKED),
    ("blk.indirect=always", "", EVENT_IDX | INDIRECT_DESC, 0),
    ("blk.event_idx=0", "", 0, EVENT_IDX),
    ("", "event_idx=off", 0, EVENT_IDX),
    ("", "num-queues=4,packed=on", VERSION_1 | RING_PACKED, 0),
    ("blk.ring=split", "packed=on", VERSION_1, RING_PACKED),
    ("", "write-cache=off,config-wce=off", VERSION_1, FLUSH | CONFIG_WCE),
    ("", "discard=on,write-zeroes=on", VERSION_1, 0),
])
@pytest.mark.conformance("FEAT-01", "FEAT-04", "FEAT-05", "FEAT-06", "CONF-04")
def test_f050_only_what_is_implemented(boot, append, device, must, must_not):
    out = boot(f"{append} number_ios=1", null_disk(device=device), trace=TRACE)
    accepted = accepted_features(out.trace)
    assert accepted & ~IMPLEMENTED == 0
    assert accepted & must == must
    assert accepted & must_not == 0


@pytest.mark.conformance("RSVD-03", "RSVD-04")
def test_f050_access_platform(boot, stamped):
    out = boot("rw=read hash=crc32c bs=64k iodepth=8",
               file_disk(stamped.path, "iommu_platform=on,disable-legacy=on"), trace=TRACE)
    assert accepted_features(out.trace) & ACCESS_PLATFORM
    assert out.crc32c() == stamped.crc()


@pytest.mark.parametrize("size", [64 << 20, (64 << 20) + 512])
@pytest.mark.parametrize("block", [512, 4096])
@pytest.mark.conformance("BLK-INIT-07")
def test_f062_capacity(boot, tmp_path, size, block):
    disk = file_disk(sparse(tmp_path / "d.img", size),
                     f"logical_block_size={block},physical_block_size={block}")
    out = boot("number_ios=1 log=info", disk, json=True)
    device, = out.json["ringlab"]["devices"]
    assert device["capacity_512"] * 512 == size
    assert device["block_bytes"] == block
    out.find(rf"^info: vda 00:01\.0: {size // 512} sectors of 512 bytes, blocks of {block},")


@pytest.mark.timeout(150)
def test_f063_block_of_2_mib(boot, tmp_path):
    """Huge, and yet a power of two: it works, in its own units only."""
    image = Image(tmp_path / "d.img", 2 * 4096)
    disk = file_disk(image.path, "logical_block_size=2097152,physical_block_size=2097152")
    out = boot("rw=read hash=crc32c bs=2m iodepth=2", disk)
    assert out.crc32c() == image.crc()
    out = boot("rw=read bs=1m", disk, status=USAGE)
    assert out.errors() == ["error: bs=1048576: not a multiple of the 2097152-byte blocks of vda"]


@pytest.mark.conformance("RSVD-03", "INIT-05")
def test_f063_refused_disk_does_not_stop_others(boot, stamped):
    """This one wants its addresses to go through the platform, and is told no."""
    append = "blk.feature.access_platform=0"
    disks = (null_disk(device=REFUSED), file_disk(stamped.path))
    out = boot(f"{append} filename=vdb rw=read hash=crc32c bs=64k", *disks)
    assert out.crc32c() == stamped.crc()
    out = boot(f"{append} filename=vda", *disks, status=NO_DEVICE)
    assert out.errors()[-1] == "error: filename=vda: this disk cannot be used, see above"
    boot(append, disks[0], status=NO_DEVICE)
