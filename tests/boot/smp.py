# SPDX-License-Identifier: BSD-2-Clause
"""How does a boot test get several CPUs, and make one of them do what it never would?"""
from gdb import symbol
from guest import KERNEL

JOB = "rw=randread number_ios=100"


def cpus(smp, thread: str = "multi") -> tuple[str, ...]:
    return ("-accel", f"tcg,thread={thread}", "-smp", str(smp))


def came_up(out) -> int:
    """Of a run that was right in all else."""
    assert out.job()["read"]["total_ios"] == 100, out.show()
    assert not out.errors() and "panic" not in out.text, out.show()
    return out.json["ringlab"]["cpus"]


def left_out(out) -> list[str]:
    return [line for line in out.text.splitlines() if line.endswith(": left out")]


def stop_before_cpus(debugger) -> None:
    """All is set up but the other CPUs: ACPI's tables have been checked already."""
    debugger.run_to(symbol(KERNEL, "cpus_start"))


def replace(debugger, code: str) -> None:
    """Puts machine code in the place of what debug.crash= calls on debug.crash_cpu=."""
    debugger.write(symbol(KERNEL, "provoke_here"), bytes.fromhex(code))
