# SPDX-License-Identifier: BSD-2-Clause
"""Is the disk found and driven wherever it sits, and nothing else taken for one?"""
import pytest

from guest import NO_DEVICE, REFUSED, USAGE, file_disk, null_disk
from traces import accesses, config_writes, count, statuses

READ = "rw=read hash=crc32c bs=64k iodepth=16"
BAR_HIGH = ("-object", "memory-backend-ram,id=mb,size=4G,share=on",
            "-device", "ivshmem-plain,memdev=mb")
COMMAND, BAR0, BAR_END = 0x4, 0x10, 0x28
DECODE = 0x3  # I/O and memory


def devices(*words):
    return tuple(part for word in words for part in ("-device", word))


@pytest.mark.parametrize("machine, bridges, bus, address", [
    ("q35", ["pcie-root-port,id=rp,chassis=1,slot=1"], "rp", "01:00.0"),
    ("q35", ["pcie-root-port,id=rp,chassis=1,slot=1", "pcie-pci-bridge,id=pp,bus=rp",
             "pci-bridge,id=pb,bus=pp,chassis_nr=3,addr=1"], "pb,addr=3", "03:03.0"),
    ("pc", ["pci-bridge,id=pb,chassis_nr=3"], "pb,addr=2", "01:02.0"),
    ("q35", ["pxb-pcie,id=px,bus_nr=128,bus=pcie.0", "pcie-root-port,id=rp,bus=px,chassis=1"],
     "rp", "81:00.0"),
], ids=["root-port", "three-levels", "pc-bridge", "second-root-bus"])
def test_f027_behind_bridges(boot, stamped, machine, bridges, bus, address):
    out = boot(READ, file_disk(stamped.path, f"bus={bus}"), machine=machine,
               qemu=devices(*bridges), json=True)
    assert out.crc32c() == stamped.crc()
    assert [d["address"] for d in out.json["ringlab"]["devices"]] == [address]


def test_f030_no_cf8(boot, stamped):
    """microvm: ECAM only, and nobody has assigned the BARs. A clear refusal is enough."""
    out = boot(READ, file_disk(stamped.path), machine="microvm,pcie=on", status=NO_DEVICE)
    assert out.errors()[0].startswith("error: vda 00:01.0: ")
    assert "unassigned" in out.errors()[0]
    assert out.errors()[1] == "error: no usable virtio-blk device"


@pytest.mark.parametrize("machine", ["q35", "pc"])
def test_f032_functions(boot, stamped, machine):
    """Function 0 is no disk, 1 and 2 are a gap, 3 is one; the disk of one function is one disk."""
    out = boot(READ, file_disk(stamped.path, "addr=5.3"), null_disk(1 << 20, "addr=6.0"),
               machine=machine, qemu=devices("virtio-rng-pci,addr=5.0,multifunction=on"),
               json=True)
    assert out.crc32c() == stamped.crc()
    assert [d["address"] for d in out.json["ringlab"]["devices"]] == ["00:05.3", "00:06.0"]


@pytest.mark.conformance("PCI-DISC-01", "PCI-DISC-02", "LEG-03", "LEG-04")
def test_f033_identity(boot, stamped):
    disks = (null_disk(1 << 20, "addr=4,disable-modern=on"), file_disk(stamped.path, "addr=5"),
             null_disk(3 << 20, "addr=6,disable-legacy=on"))
    decoys = devices("virtio-rng-pci,addr=7", "virtio-scsi-pci,addr=8")
    out = boot(READ + " filename=vdb", *disks, qemu=decoys, json=True)
    assert out.crc32c() == stamped.crc()
    found = [(d["name"], d["transport"], d["capacity_512"] * 512)
             for d in out.json["ringlab"]["devices"]]
    assert found == [("vda", "legacy", 1 << 20), ("vdb", "modern", stamped.size),
                     ("vdc", "modern", 3 << 20)]
    out = boot(READ + " filename=vdd", *disks, status=USAGE)
    assert out.errors()[-1] == "error: filename=vdd: no such disk; there is vda vdb vdc"


@pytest.mark.parametrize("machine", ["q35", "pc"])
def test_f035_bar_above_4g(boot, stamped, machine):
    out = boot(READ, file_disk(stamped.path), machine=machine, qemu=BAR_HIGH,
               trace=("memory_region_ops_write",))
    assert out.crc32c() == stamped.crc()
    assert min(a.address for a in accesses(out.trace, "common")) >= 1 << 32


@pytest.mark.parametrize("machine", ["q35", "pc"])
@pytest.mark.conformance("PCI-CAP-08")
def test_f037_sizing_with_decode_off(boot, machine):
    out = boot("number_ios=1", null_disk(), machine=machine, trace=("pci_cfg_write",))
    writes = config_writes(out.trace)
    assert writes, "the trace shows nothing"
    decode = True
    for number, (offset, value) in enumerate(writes):
        if offset == COMMAND:
            decode = bool(value & DECODE)
        elif value == 0xFFFFFFFF:
            assert not decode, f"BAR at {offset:#x} sized while it answers"
            restored = [v for o, v in writes[number + 1:] if o == offset]
            assert restored and restored[0] != 0xFFFFFFFF
    assert decode, "decoding left off"
    touched = {offset for offset, _ in writes}
    assert touched <= {COMMAND, *range(BAR0, BAR_END, 4)}, "a capability was written"


@pytest.mark.parametrize("device, region", [
    ("ioeventfd=off", "notify"),
    ("ioeventfd=off,page-per-vq=on", "notify"),
    ("ioeventfd=off,modern-pio-notify=on", "notify-pio"),
], ids=["multiplier-4", "multiplier-4096", "multiplier-0"])
@pytest.mark.conformance("PCI-NTF-01", "PCI-CAP-06", "PCI-CAP-02", "NOTIF-01", "NOTIF-03")
def test_f042_notify_multiplier(boot, stamped, device, region):
    out = boot(READ, file_disk(stamped.path, device),
               trace=("memory_region_ops_write", "virtio_queue_notify"))
    assert out.crc32c() == stamped.crc()
    kicks = accesses(out.trace, region, True)
    assert kicks and {(k.size, k.value) for k in kicks} == {(2, 0)}
    heard = [line for line in out.trace if line.startswith("virtio_queue_notify ")]
    assert len(heard) == len(kicks)
    assert all(" n 0 " in line for line in heard)
    assert int(round(float(out.own("kicks/io")) * 33)) == len(kicks)


@pytest.mark.conformance("PCI-CAP-02")
def test_f044_several_capabilities(boot, stamped):
    """Of two ways to notify, one in an I/O BAR and one high in memory, one is used throughout."""
    out = boot(READ, file_disk(stamped.path, "ioeventfd=off,modern-pio-notify=on"),
               qemu=BAR_HIGH, trace=("memory_region_ops_write",))
    assert out.crc32c() == stamped.crc()
    used = {a.region for a in accesses(out.trace, write=True) if a.region.startswith("notify")}
    assert used == {"notify-pio"}


def test_no_kick_without_a_disk_that_works(boot):
    """A refused device is left alone after its status said so."""
    out = boot("blk.feature.access_platform=0", null_disk(device=REFUSED), status=NO_DEVICE,
               trace=("virtio_queue_notify", "memory_region_ops_write"))
    assert count(out.trace, "virtio_queue_notify") == 0
    assert statuses(out.trace) == [0, 1, 3, 11, 128 + 3]
