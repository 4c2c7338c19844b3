# SPDX-License-Identifier: BSD-2-Clause
"""Does the image boot however it was built, whatever ACPI says, and again in the same memory?"""
import fcntl
import os
import re
import shutil
import subprocess

import pytest

from guest import KERNEL, NO_DEVICE, ROOT, file_disk, null_disk

MULTIBOOT_MAGIC = 0x1BADB002.to_bytes(4, "little")
MULTIBOOT_SEARCH_BYTES = 8192
BUILD_TIMEOUT_S = 300
# Where each is built below build/: what `make lint` has left there is not built again.
FLAVOURS = {"gcc-O2": "lint-gcc", "gcc-O3": "flavour/gcc-O3",
            "clang-O2": "lint-clang", "clang-O3": "flavour/clang-O3"}


def note_entry(tool, kernel) -> int:
    """The 32-bit physical entry of the Xen ELF note that makes an image a PVH one."""
    notes = tool("readelf")("--notes", "--wide", str(kernel))
    match = re.search(r"^\s*Xen\s+0x0000000[48]\s.*0x00000012.*?description data: "
                      r"((?:[0-9a-f]{2} ?)+)", notes, re.MULTILINE | re.DOTALL)
    assert match, notes
    entry = bytes.fromhex(match[1].replace(" ", ""))
    assert entry[4:] == bytes(len(entry) - 4), "entry above 4 GiB"
    return int.from_bytes(entry, "little")


@pytest.fixture(params=FLAVOURS)
def flavour(request):
    """One at a time, so that a second run finds it done."""
    compiler, level = request.param.split("-")
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    directory = ROOT / "build" / FLAVOURS[request.param]
    directory.mkdir(parents=True, exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    with open(directory / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = subprocess.run(["make", "-C", str(ROOT), f"B={directory.relative_to(ROOT)}",
                               f"CC={compiler}", f"OPT=-{level}", "all"], capture_output=True,
                              text=True, timeout=BUILD_TIMEOUT_S, env=environment)
    assert made.returncode == 0, made.stderr
    return directory / "ringlab.elf"


@pytest.mark.timeout(400)
def test_f001_f002_f076_each_build(boot, tool, tmp_path, flavour):
    """F-001: the PVH note is there. F-002: no multiboot magic. F-076: the poll is not hoisted."""
    stripped = tmp_path / "stripped.elf"
    tool("objcopy")("--strip-all", str(flavour), str(stripped))
    for kernel in (flavour, stripped):
        assert 0x100000 <= note_entry(tool, kernel) < 1 << 32
        with open(kernel, "rb") as file:
            assert MULTIBOOT_MAGIC not in file.read(MULTIBOOT_SEARCH_BYTES)
    for machine, kernel in (("pc", flavour), ("q35", stripped)):
        out = boot("rw=randread iodepth=1 number_ios=3000 eta=never", null_disk(iothread=True),
                   machine=machine, kernel=kernel)
        assert out.text.startswith("ringlab "), out.show()
        assert "issued rwts: total=3000,0,0,0" in out.text


@pytest.mark.parametrize("machine", ["pc", "q35"])
def test_f001_banner_first(boot, tool, machine):
    assert note_entry(tool, KERNEL)
    out = boot("number_ios=1", null_disk(), machine=machine)
    banner = out.find(r"\Aringlab .*, image (\d+) KiB \((\d+) KiB loaded\)$")
    image_kib, loaded_kib = banner.groups()
    assert int(loaded_kib) < 160 and int(loaded_kib) < int(image_kib)
    out.find(r"^boot: [0-9.]+ ms to kernel, [0-9.]+ ms to first I/O$")


def test_f005_no_acpi(boot, stamped):
    """QEMU gives no tables then, and the firmware's own serve."""
    out = boot("rw=read hash=crc32c bs=64k iodepth=4", file_disk(stamped.path),
               machine="q35,acpi=off")
    assert out.crc32c() == stamped.crc()


@pytest.mark.parametrize("machine", ["microvm", "microvm,pcie=on,acpi=off"])
def test_f005_f030_no_pci_bus(boot, machine):
    out = boot("rw=read", machine=machine, status=NO_DEVICE)
    assert out.errors() == ["error: no virtio-blk device found"]
    if "acpi=off" in machine:  # and no firmware that would have any: a word says so
        out.find(r"^warning: .*no RSDP")


@pytest.mark.parametrize("memory", ["32M", "128M", "256M"])
def test_f007_little_memory(boot, stamped, memory):
    """Registers lie far above so little RAM: they are mapped on their own account."""
    out = boot("rw=read hash=crc32c bs=16k iodepth=8", file_disk(stamped.path), memory=memory,
               json=True)
    assert out.crc32c() == stamped.crc()
    ram = out.json["ringlab"]["ram_bytes"]
    assert 0 <= (int(memory[:-1]) << 20) - ram < 2 << 20


@pytest.mark.parametrize("machine", ["q35", "pc"])
def test_f009_memory_is_not_zero_the_second_time(start, stamped, monitor, machine):
    """RAM survives a reset: five runs in what the ones before have left."""
    guest = start("rw=read hash=crc32c bs=8k iodepth=64", file_disk(stamped.path),
                  machine=machine, qemu=("-no-shutdown",), debug_exit=False, reboot=True,
                  monitor=monitor)
    for run in range(1, 6):
        monitor.wait_for("SHUTDOWN")  # through ACPI, as there is no isa-debug-exit
        guest.read_until(rf"(?s)(?:^boot: .*?){{{run}}}")
        said = re.findall(r"^  crc32c: 0x(\w+) over", guest.text, re.MULTILINE)
        assert [int(crc, 16) for crc in said] == [stamped.crc()] * run, guest.text
        monitor("system_reset")
        monitor("cont")
    assert guest.text.count("warning") == 0, guest.text


def test_f009_reset_in_the_middle(start, monitor):
    """The device is live, with requests in flight, and the rings are in memory, when it comes."""
    guest = start("iodepth=64 runtime=60 time_based status-interval=50ms", null_disk(iothread=True),
                  reboot=True, monitor=monitor)
    for run in range(1, 6):
        # The reset may cut a line, so that the next banner stands right behind it.
        guest.read_until(rf"(?s)(?:ringlab \d+\.\d+.*?ringlab: \d+% done, [1-9].*?){{{run}}}")
        monitor("system_reset")
    assert "error" not in guest.text and "warning" not in guest.text, guest.text
