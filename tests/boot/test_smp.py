# SPDX-License-Identifier: BSD-2-Clause
"""Do all CPUs that are there come up, each time, and is one that does not come named?"""
import os
import struct

import pytest

from gdb import symbol
from guest import KERNEL, USAGE, null_disk
from smp import JOB, came_up, cpus, left_out, stop_before_cpus

PARTS = 5  # of the boot loop, so that several run at once
BOOTS = int(os.environ.get("RINGLAB_BOOTS", "50"))  # `make soak-boot` asks for more
MADT_ENTRIES = 44


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.timeout(60 + 5 * BOOTS)
def test_f018_boot_loop(boot, part):
    for number in range(part, BOOTS, PARTS):
        out = boot(JOB, null_disk(), accel=cpus(8), machine=("q35", "pc")[number % 2], json=True)
        assert came_up(out) == 8, f"boot {number}: {out.show()}"
        assert "warning: CPU" not in out.text, out.show()


@pytest.mark.parametrize("number", range(1, 9))
def test_f018_each_number(boot, number):
    """One thread of QEMU for all CPUs in turn: whoever waits must let the others run."""
    out = boot(JOB, null_disk(), accel=cpus(number, "single"), json=True)
    assert came_up(out) == number
    assert "warning: CPU" not in out.text


@pytest.mark.parametrize("smp, number", [
    ("6,sockets=2,cores=3,threads=1", 6), ("10,sockets=2,cores=5,threads=1", 10),
    ("4,maxcpus=8", 4), ("1,maxcpus=8", 1), ("64", 64)])
@pytest.mark.parametrize("machine", ["q35", "pc"])
def test_f014_sparse_ids(boot, smp, number, machine):
    """The ids have holes, or some of those that the MADT lists are not there."""
    out = boot(JOB, null_disk(), accel=cpus(smp), machine=machine, json=True)
    assert came_up(out) == number
    assert "warning: CPU" not in out.text


@pytest.mark.parametrize("mode", ["poll", "irq"])
def test_without_a_local_apic(boot, mode):
    out = boot(f"{JOB} blk.mode={mode}", null_disk(), accel=cpus(4), cpu="qemu64,-apic", json=True)
    assert came_up(out) == 1
    assert out.text.count("warning: CPUs: no local APIC to start the others by") == 1


def madt(debugger) -> int:
    """Where the kernel has found it: one of the pointers in its list."""
    listed = debugger.read(symbol(KERNEL, "acpi_tables"), 8 * 32)
    for at in range(0, len(listed), 8):
        address = int.from_bytes(listed[at:at + 8], "little")
        if address and debugger.read(address, 4) == b"APIC":
            return address
    raise AssertionError("the kernel knows of no MADT")


def entry_of(debugger, apic_id: int) -> tuple[int, bytes]:
    """Where the MADT has this CPU's entry of eight bytes, and what it is."""
    table = madt(debugger)
    entries = debugger.read(table, int.from_bytes(debugger.read(table + 4, 4), "little"))
    at = MADT_ENTRIES
    while (entries[at], entries[at + 3]) != (0, apic_id):
        at += entries[at + 1]
    return table + at, entries[at:at + 8]


def enable_cpu(debugger, apic_id: int) -> None:
    """In the MADT alone: the CPU itself is not plugged in."""
    at, entry = entry_of(debugger, apic_id)
    assert entry[4] & 1 == 0, "enabled already"
    debugger.write(at + 4, b"\1")


def x2apic_entry(apic_id: int, enabled: bool) -> bytes:
    """ACPI 6.4, 5.2.12.12: twice as long as an entry for the local APIC."""
    return struct.pack("<BBHIII", 9, 16, 0, apic_id, enabled, apic_id)


def test_f018_one_is_missing(start, debugger):
    """The MADT has five, the last is not there: it is named, and the others are used."""
    guest = start(JOB, null_disk(), accel=cpus("4,maxcpus=6"), json=True, qemu=debugger.words(),
                  fds=(debugger.theirs.fileno(),))
    stop_before_cpus(debugger)
    enable_cpu(debugger, 4)
    debugger.detach()
    out = guest.finish()
    assert came_up(out) == 4
    assert left_out(out) == ["warning: CPU with APIC id 4: did not start: left out"]


@pytest.mark.parametrize("place, apic_id, enabled, number, said", [
    (1, 1, True, 2, []), (1, 1, False, 1, []),
    (2, 300, True, 2, ["warning: CPU with APIC id 300: needs the x2APIC: left out"])])
def test_f014_f018_x2apic_entries(start, debugger, place, apic_id, enabled, number, said):
    """In the place of two entries of eight bytes, of CPUs of which 1 is plugged in, 2 and 3 are not."""
    guest = start(JOB, null_disk(), accel=cpus("2,maxcpus=4"), json=True, qemu=debugger.words(),
                  fds=(debugger.theirs.fileno(),))
    stop_before_cpus(debugger)
    at, _ = entry_of(debugger, place)
    assert entry_of(debugger, place + 1)[0] == at + 8
    debugger.write(at, x2apic_entry(apic_id, enabled))
    debugger.detach()
    out = guest.finish()
    assert came_up(out) == number
    assert left_out(out) == said


def test_f018_none_comes(start, debugger):
    """They get their start-up IPIs, and do nothing: each wait for one of them ends."""
    guest = start(JOB, null_disk(), accel=cpus(3), json=True, qemu=debugger.words(),
                  fds=(debugger.theirs.fileno(),))
    stop_before_cpus(debugger)
    debugger.write(symbol(KERNEL, "ap_trampoline"), bytes.fromhex("faf4ebfc"))  # cli; hlt
    debugger.detach()
    out = guest.finish()
    assert came_up(out) == 1
    assert left_out(out) == [f"warning: CPU with APIC id {n}: did not start: left out"
                             for n in (1, 2)]


def test_f018_stops_when_it_is_up(start, debugger):
    """It takes what was prepared for it, says that it is up, and is not heard of again."""
    guest = start(JOB, null_disk(), accel=cpus(2), json=True, qemu=debugger.words(),
                  fds=(debugger.theirs.fileno(),))
    stop_before_cpus(debugger)
    debugger.write(symbol(KERNEL, "skew_answer"), bytes.fromhex("faf4ebfc"))
    debugger.detach()
    out = guest.finish()
    assert came_up(out) == 1
    assert left_out(out) == ["warning: CPU with APIC id 1: came up and then stopped: left out"]


@pytest.mark.parametrize("smp, last", [("1,maxcpus=2", 0), ("3", 2)])
def test_no_such_cpu(boot, smp, last):
    out = boot("debug.crash=panic debug.crash_cpu=3", null_disk(), accel=cpus(smp), status=USAGE)
    assert out.errors() == [f"error: debug.crash_cpu=3: CPUs 0 to {last} run"]
    out = boot("debug.crash_cpu=256", null_disk(), accel=cpus(smp), status=USAGE)
    assert out.errors() == ["error: debug.crash_cpu=256: expected 0 to 255"]


def test_f019_no_red_zone_and_no_vector_registers(tool):
    """An interrupt saves neither what is below the stack pointer nor vector registers."""
    code = tool("objdump")("-d", "--no-show-raw-insn", KERNEL)
    assert code.count("\n") > 10000
    assert [line for line in code.splitlines() if "-0x" in line and "(%rsp" in line] == []
    assert [line for line in code.splitlines() if "%xmm" in line or "%st(" in line] == []
