# SPDX-License-Identifier: BSD-2-Clause
"""Does a wait end when it should: halted or spinning, in the gaps, after errors, without answer?"""
import errno
import re
import subprocess

import pytest

from gdb import symbol
from guest import IO_ERROR, KERNEL, OK, Disk, file_disk, null_disk

HELD = 3
HELD_NS = 300_000_000  # longer than it takes from a notification to the wait


def held(start, debugger):
    """A disk whose request is out when the CPU is stopped, and back when it goes on: to stop,
    QEMU waits for its disks."""
    return start(f"blk.mode=irq iodepth=1 number_ios={HELD}",
                 null_disk(latency_ns=HELD_NS, device="ioeventfd=off"), json=True,
                 qemu=debugger.words(), fds=(debugger.theirs.fileno(),))


def finished(guest):
    out = guest.finish()
    assert out.status == OK, out.show()
    own = out.job()["ringlab"]
    assert own["requests"] == HELD and own["rekicks"] == own["timeouts"] == 0
    return own


def test_f084_completion_just_before_arming(start, debugger):
    """Between the last look at the ring and the wish for an interrupt: none comes for it, so that
    the CPU must not halt."""
    guest = held(start, debugger)
    for _ in range(HELD):
        debugger.run_to(symbol(KERNEL, "blk_arm"))
        debugger.run_to(symbol(KERNEL, "blk_poll"))
    debugger.detach()
    own = finished(guest)
    assert own["halted_cycles"] == own["interrupts"] == own["caught_halted"] == 0


def halt_of(function):
    listing = subprocess.run(["objdump", "-d", f"--disassemble={function}", KERNEL], check=True,
                             capture_output=True, text=True).stdout
    return int(re.search(r"^\s*([0-9a-f]+):.*\bhlt\b", listing, re.MULTILINE)[1], 16)


def test_f085_completion_just_before_the_halt(start, debugger):
    """Armed, and the interrupt is there before the CPU halts: it is taken by the halt, no earlier,
    or the CPU would then halt without it."""
    handler, halt = symbol(KERNEL, "interrupt_dispatch"), halt_of("interrupt_wait")
    guest = held(start, debugger)
    for _ in range(HELD):
        debugger.run_to(symbol(KERNEL, "interrupt_wait"))
        # RDI, the deadline: never. The one that was asked for may have passed on a busy host, and
        # there is no halt then.
        debugger.set_register("rdi", 2 ** 64 - 1)
        for address in (handler, halt):
            debugger.ask(f"Z1,{address:x},1")
        debugger.ask("c")
        assert debugger.register("rip") == halt
        debugger.ask(f"z1,{halt:x},1")
        debugger.ask("c")
        assert debugger.register("rip") == handler
        debugger.ask(f"z1,{handler:x},1")
    debugger.detach()
    own = finished(guest)
    assert own["interrupts"] == own["caught_halted"] == HELD


def test_hybrid_halts_for_a_slow_disk(boot):
    """10 ms each, of which a hundredth is spun in one wait of 32."""
    out = boot("blk.mode=hybrid iodepth=1 number_ios=60",
               null_disk(latency_ns=10_000_000, iothread=True), json=True)
    own = out.job()["ringlab"]
    assert own["mode"] == "hybrid" and own["requests"] == 60
    assert own["caught_halted"] > 0 and own["interrupts"] > 0
    assert own["polls_empty"] > 5 * 60, "not one wait spun"
    halted, whole = own["halted_cycles"], own["busy_cycles"] + own["idle_cycles"]
    assert halted / out.json["ringlab"]["tsc_hz"] > 0.9 * 60 * 0.01
    assert halted > 0.8 * own["idle_cycles"]
    assert float(out.own("cpu_halted").rstrip("%")) == pytest.approx(100 * halted / whole, abs=0.01)


def test_hybrid_spins_for_a_fast_disk(boot):
    """Hundreds of waits spin in full whatever was learned; some of them see the disk answer."""
    out = boot("blk.mode=hybrid iodepth=1 number_ios=20000",
               null_disk(device="event_idx=off", iothread=True), json=True)
    own = out.job()["ringlab"]
    assert own["requests"] == 20000
    assert own["caught_awake"] > 0


@pytest.mark.parametrize("mode", ["irq", "hybrid"])
@pytest.mark.conformance("BLK-OP-25")
def test_f113_errors_as_if_polled(boot, stamped, mode):
    disk = Disk(["driver=blkdebug,node-name=d{n},image.driver=file,"
                 f"image.filename={stamped.path},inject-error.0.event=none,inject-error.0.errno=5,"
                 "inject-error.0.iotype=read,inject-error.0.sector=256"],
                "rerror=report,request-merging=off")
    out = boot(f"blk.mode={mode} rw=read bs=4k iodepth=8", disk, status=IO_ERROR, json=True)
    assert out.job()["read"]["total_ios"] == stamped.size // 4096 - 1
    assert out.job()["error"] == errno.EIO
    out.find(r"^  ringlab: errors=1 \(I/O error: 1\), the first at sector 256 of 512 bytes")


@pytest.mark.parametrize("mode, vectors", [("irq", 2), ("irq", 0), ("hybrid", 2)])
@pytest.mark.conformance("CLEAN-02")
def test_f154_disk_that_never_answers(boot, stamped, mode, vectors):
    """No interrupt comes, ever; a halt ends all the same, and the next job on a good disk runs."""
    out = boot(f"blk.mode={mode} blk.timeout_ms=300 iodepth=4 rw=read bs=4k "
               "name=stuck name=good stonewall filename=vdb hash=crc32c",
               null_disk(latency_ns=2_000_000_000, device=f"vectors={vectors}", iothread=False),
               file_disk(stamped.path, f"vectors={vectors}"), status=IO_ERROR, json=True)
    found = re.findall(r"^error: vda 00:\S+: queue 0 tag \d+: read of 4096 bytes at sector (\d+) "
                       r"not answered within 300 ms$", out.text, re.MULTILINE)
    assert sorted(map(int, found)) == [0, 8, 16, 24]
    assert "request timed out; 4 commands in flight fail" in out.text
    stuck = out.job(0)
    assert stuck["error"] == errno.ETIMEDOUT and stuck["read"]["total_ios"] == 0
    assert stuck["ringlab"]["halted_cycles"] > 0
    assert out.crc32c() == stamped.crc()
