# SPDX-License-Identifier: BSD-2-Clause
"""Does a fault on any CPU stop all of them, in one report that says where it was?"""
import re

import pytest

from gdb import extent, symbol
from guest import KERNEL, PANIC, null_disk
from smp import JOB, came_up, cpus, left_out, replace, stop_before_cpus
from traces import count

WHERE = "run_plan"  # a function that each run calls once, when all is set up
APIC_WRITE = re.compile(r"^apic_mem_writel 0x([0-9a-f]+) = ")
APIC_EOI = 0xb0
SPURIOUS, IRQ_7, IRQ_15 = 0xff, 0x27, 0x2f


def check_report(out, title, cpu):
    assert out.status == PANIC, out.show()
    assert out.text.count("panic:") == 1, out.show()
    assert re.search(rf"^panic: {re.escape(title)}.*, CPU {cpu}$", out.text, re.M), out.show()
    assert "does not stop" not in out.text and "not aligned" not in out.text, out.show()
    assert len(re.findall(r"^  #\d+ 0x[0-9a-f]+$", out.text, re.MULTILINE)) >= 1, out.show()
    assert "IOPS" not in out.text


@pytest.mark.parametrize("cpu", [0, 1, 3])
@pytest.mark.parametrize("kind, title, detail", [
    ("read-null", "#PF page fault (vector 14)", "this is page 0: a null pointer"),
    ("stack", "#PF page fault (vector 14)", "guard page of the {} stack: it overflowed"),
    ("undefined", "#UD invalid opcode (vector 6)", "")])
def test_fault_on_each_cpu(boot, cpu, kind, title, detail):
    out = boot(f"debug.crash={kind} debug.crash_cpu={cpu}", null_disk(), accel=cpus(4),
               status=PANIC)
    check_report(out, title, cpu)
    assert detail.format("CPU" if cpu else "boot") in out.text, out.show()


@pytest.mark.parametrize("cpu", [0, 2])
@pytest.mark.parametrize("code, title", [
    # The frame of a divide error has no canonical stack to go to, nor has that of what follows.
    ("48bc0000000000008000" + "31c9f7f1", "#DF double fault (vector 8)"),
    ("cc", "#BP breakpoint (vector 3)"),
    ("4831e4" + "31c08b4008", "#PF page fault (vector 14)"),
], ids=["double-fault", "breakpoint", "no-stack"])
def test_f020_stacks_of_each_cpu(start, debugger, cpu, code, title):
    """NMI, #DF, #MC and #PF have stacks of their own; each handler's is aligned."""
    guest = start(f"debug.crash=panic debug.crash_cpu={cpu}", null_disk(), accel=cpus(3),
                  qemu=debugger.words(), fds=(debugger.theirs.fileno(),))
    stop_before_cpus(debugger)
    replace(debugger, code)
    debugger.detach()
    check_report(guest.finish(), title, cpu)


@pytest.mark.parametrize("cpu", [0, 2])
def test_double_fault_has_its_own_stack(start, debugger, cpu):
    """That of the boot CPU is part of the image, those of the others are not."""
    guest = start(f"debug.crash=panic debug.crash_cpu={cpu}", null_disk(), accel=cpus(3),
                  qemu=debugger.words(), fds=(debugger.theirs.fileno(),))
    stop_before_cpus(debugger)
    replace(debugger, "48bc0000000000008000" + "31c9f7f1")
    debugger.run_to(symbol(KERNEL, "panic_begin"))
    on_boot_cpus = debugger.register("rsp") in extent(KERNEL, "double_fault_stack")
    assert on_boot_cpus == (cpu == 0)
    debugger.detach()
    check_report(guest.finish(), "#DF double fault", cpu)


@pytest.mark.parametrize("cpu", [0, 1, 3])
def test_fault_stops_all_others(start, debugger, monitor, cpu):
    """When the report is done, the others stand where they were led by the NMI."""
    guest = start(f"debug.crash=undefined debug.crash_cpu={cpu}", null_disk(), accel=cpus(4),
                  qemu=debugger.words(), monitor=monitor, fds=(debugger.theirs.fileno(),))
    stop_before_cpus(debugger)
    debugger.run_to(symbol(KERNEL, "machine_exit"))
    state = monitor("human-monitor-command", **{"command-line": "info registers -a"})
    at = [int(rip, 16) for rip in re.findall(r"\bRIP=([0-9a-f]+)", state)]
    assert len(at) == 4
    stopped = [rip in extent(KERNEL, "panic_begin") for rip in at]
    assert stopped == [number != cpu for number in range(4)], state
    debugger.detach()
    check_report(guest.finish(), "#UD invalid opcode", cpu)


COMPARE_APIC_ID, ONLY_ID_2 = b"\x38\x1c\x25", bytes.fromhex("80fb0290909090")  # cmpb $2, %bl; nops


@pytest.mark.parametrize("cpu", [0, 1])
def test_fault_beside_a_cpu_that_was_left_out(start, debugger, cpu):
    """The CPU of APIC id 1 comes when it is not awaited, and halts without a table of traps."""
    guest = start(f"debug.crash=undefined debug.crash_cpu={cpu}", null_disk(), accel=cpus(3),
                  qemu=debugger.words(), fds=(debugger.theirs.fileno(),))
    stop_before_cpus(debugger)
    entry = symbol(KERNEL, "ap_long_mode")
    at = debugger.read(entry, 64).index(COMPARE_APIC_ID)
    debugger.write(entry + at, ONLY_ID_2)
    debugger.detach()
    out = guest.finish()
    assert left_out(out) == ["warning: CPU with APIC id 1: did not start: left out"]
    check_report(out, "#UD invalid opcode", cpu)


def test_memory_is_the_first_cpus(start, debugger):
    """movl $64, %edi; movl %edi, %esi; movabs $dma_alloc, %rax; call *%rax"""
    guest = start("debug.crash=panic debug.crash_cpu=1", null_disk(), accel=cpus(2),
                  qemu=debugger.words(), fds=(debugger.theirs.fileno(),))
    stop_before_cpus(debugger)
    replace(debugger, "bf4000000089fe48b8" + symbol(KERNEL, "dma_alloc").to_bytes(8, "little").hex()
            + "ffd0")
    debugger.detach()
    out = guest.finish()
    assert out.status == PANIC, out.show()
    out.find(r"^panic: dma_alloc on CPU 1: only CPU 0 may, while no job runs$")
    out.find(r"^  on CPU 1$")


@pytest.mark.parametrize("call", ["dma_alloc", "dma_free"])
@pytest.mark.parametrize("device", ["", "vectors=0"], ids=["msix", "intx"])
def test_f079_no_memory_in_a_handler(start, debugger, device, call):
    """What debug.crash= calls, in the place of a handler: subq $8, %rsp; then as above, twice 64."""
    guest = start("blk.mode=irq rw=randread iodepth=1 number_ios=100",
                  null_disk(latency_ns=2000000, device=device), qemu=debugger.words(),
                  fds=(debugger.theirs.fileno(),))
    debugger.run_to(symbol(KERNEL, "queue_interrupt"))
    replace(debugger, "4883ec08" + "bf4000000089fe48b8"
            + symbol(KERNEL, call).to_bytes(8, "little").hex() + "ffd0")
    debugger.set_register("rip", symbol(KERNEL, "provoke_here"))
    debugger.detach()
    out = guest.finish()
    assert out.status == PANIC, out.show()
    out.find(rf"^panic: {call} in the handler of an interrupt$")


def test_f079_memory_between_jobs(boot):
    """Each group of jobs takes and gives back what it needs, after all the interrupts before it."""
    jobs = " ".join(f"name=j{n} stonewall bs={4 << n}k number_ios=20" for n in range(8))
    out = boot(f"blk.mode=irq rw=randread iodepth=8 buffers=scattered {jobs}",
               null_disk(latency_ns=1000000), json=True)
    assert [out.job(n)["read"]["total_ios"] for n in range(8)] == [20] * 8
    assert all(out.job(n)["ringlab"]["interrupts"] > 0 for n in range(8))


@pytest.mark.parametrize("command, title, cpu", [
    ("mce 0 1 0xb200000000000000 0x5 0 0", "#MC machine check (vector 18)", 0),
    ("mce 2 1 0xb200000000000000 0x5 0 0", "#MC machine check (vector 18)", 2),
    ("nmi", "NMI non-maskable interrupt (vector 2)", r"\d")])
def test_machine_check_and_nmi(start, debugger, monitor, command, title, cpu):
    """On a CPU that works and on one that halts; the NMI goes to all, and one of them reports."""
    guest = start(JOB, null_disk(), accel=cpus(3), qemu=debugger.words(), monitor=monitor,
                  fds=(debugger.theirs.fileno(),))
    debugger.run_to(symbol(KERNEL, WHERE))
    monitor("human-monitor-command", **{"command-line": command})
    debugger.detach()
    check_report(guest.finish(), title, cpu)


def test_8259s_are_masked(start, debugger, monitor):
    guest = start(JOB, null_disk(), qemu=debugger.words(), monitor=monitor,
                  fds=(debugger.theirs.fileno(),))
    debugger.run_to(symbol(KERNEL, WHERE))
    state = monitor("human-monitor-command", **{"command-line": "info pic"})
    assert re.findall(r"pic[01]: .* imr=(\w\w)", state) == ["ff", "ff"], state
    debugger.detach()
    guest.finish()


def test_f127_spurious(start, debugger):
    """
    The local APIC's spurious vector, and what would be lines 7 and 15 of the 8259s, with nothing
    in service: counted, told, never acknowledged, and the run goes on where it was.
    """
    guest = start(JOB, null_disk(), accel=cpus(2), json=True, qemu=debugger.words(),
                  fds=(debugger.theirs.fileno(),), trace=("apic_mem_writel",))
    where, place = symbol(KERNEL, WHERE), symbol(KERNEL, "provoke_here")
    debugger.run_to(where)
    code = b"".join(bytes((0xcd, vector)) for vector in (SPURIOUS, IRQ_7, IRQ_15))
    jump = (where - (place + len(code) + 5)).to_bytes(4, "little", signed=True)
    debugger.write(place, code + b"\xe9" + jump)
    debugger.set_register("rip", place)
    debugger.detach()
    out = guest.finish()
    assert came_up(out) == 2
    out.find(r"^warning: CPU 0: interrupts: 1 spurious, 2 that nobody expected, 0 errors of the "
             r"local APIC \(0x0\)$")
    written = [int(match[1], 16) for match in map(APIC_WRITE.match, out.trace) if match]
    assert count(out.trace, "apic_mem_writel") == len(written) > 0
    assert APIC_EOI not in written


def test_f128_each_is_acknowledged(boot):
    """As many ends of interrupts as interrupts, those of the timer included; and none is odd."""
    out = boot("blk.mode=irq rw=randread iodepth=1 number_ios=200",
               null_disk(latency_ns=2000000), accel=cpus(2), json=True,
               trace=("apic_mem_writel",))
    written = [int(match[1], 16) for match in map(APIC_WRITE.match, out.trace) if match]
    assert out.job()["ringlab"]["interrupts"] > 20  # a busy host may be later than the disk
    assert written.count(APIC_EOI) >= out.job()["ringlab"]["interrupts"]
    assert "nobody expected" not in out.text


def test_f020_alignment_of_an_interrupt(start, debugger):
    """At the entry of C the return address has been pushed on an aligned stack."""
    guest = start("blk.mode=irq rw=randread iodepth=1 number_ios=100",
                  null_disk(latency_ns=2000000), qemu=debugger.words(),
                  fds=(debugger.theirs.fileno(),))
    debugger.run_to(symbol(KERNEL, "interrupt_dispatch"))
    assert debugger.register("rsp") % 16 == 8
    debugger.detach()
    assert "IOPS" in guest.finish().text
