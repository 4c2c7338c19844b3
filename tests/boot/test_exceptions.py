# SPDX-License-Identifier: BSD-2-Clause
"""Does each fault end in a report that names it, and in the panic status?"""
import os
import re
import subprocess
import sys

import pytest

from gdb import symbol
from guest import KERNEL, PANIC, ROOT, USAGE, null_disk

REGISTERS = ("RIP", "RSP", "RFL", "CS", "SS", "RAX", "RBX", "RCX", "RDX", "RSI", "RDI", "RBP",
             "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", "CR0", "CR2", "CR3", "CR4")
WHERE = "run_plan"  # a function that each run calls once, when all is set up


def symbolized(text: str) -> str:
    """The report as tools/symbolize tells it."""
    return subprocess.run([sys.executable, str(ROOT / "tools" / "symbolize"), "--elf", KERNEL],
                          input=text, check=True, capture_output=True, text=True,
                          timeout=60, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}).stdout


def check_report(out, title):
    assert out.status == PANIC, out.show()
    assert out.text.count("panic:") == 1, out.show()
    assert f"panic: {title}" in out.text, out.show()
    assert len(re.findall(r"^  #\d+ 0x[0-9a-f]+$", out.text, re.MULTILINE)) >= 2, out.show()
    assert "IOPS" not in out.text


def check_registers(out):
    for name in REGISTERS:
        out.find(rf"\b{name} +0x[0-9a-f]{{16}}\b")


@pytest.mark.parametrize("code, title, detail, cr2", [
    ("0f0b", "#UD invalid opcode (vector 6), error code 0x0, CPU 0", "", None),
    ("31c9f7f1", "#DE divide error (vector 0)", "", None),
    ("cc", "#BP breakpoint (vector 3)", "", None),
    ("31c08b4008", "#PF page fault (vector 14), error code 0x0",
     "read from 0x8, a page that is not mapped\n  this is page 0: a null pointer", 8),
    ("31c0ffe0", "#PF page fault (vector 14), error code 0x10",
     "execution of 0x0, a page that is not mapped", 0),
    ("c605f9ffffff00", "#PF page fault (vector 14), error code 0x3",
     "a page that forbids it", None),
    ("ffe4", "#PF page fault (vector 14), error code 0x11", "a page that forbids it", None),
    ("48b80000000000008000" + "8b00", "#GP general protection (vector 13), error code 0x0", "",
     None),
    ("e8fbffffff", "#PF page fault (vector 14), error code 0x2",
     "this is the guard page of the boot stack: it overflowed", None),
    ("4831e4" + "50", "#PF page fault (vector 14), error code 0x2",
     "write to 0xfffffffffffffff8, a page that is not mapped", None),
], ids=["undefined", "divide", "breakpoint", "null-read", "null-call", "write-text", "run-stack",
        "non-canonical", "stack-overflow", "no-stack"])
def test_exception(start, debugger, code, title, detail, cr2):
    """The code is put in the place of a function, just before it is called."""
    guest = start("number_ios=1", null_disk(), qemu=debugger.words(),
                  fds=(debugger.theirs.fileno(),))
    address = symbol(KERNEL, WHERE)
    debugger.run_to(address)
    debugger.write(address, bytes.fromhex(code))
    debugger.detach()
    out = guest.finish()
    check_report(out, title)
    check_registers(out)
    assert detail in out.text, out.show()
    if cr2 is not None:
        out.find(rf"CR2 +0x{cr2:016x}")


@pytest.mark.parametrize("kind, title, detail", [
    ("read-null", "#PF page fault", "this is page 0: a null pointer"),
    ("stack", "#PF page fault", "guard page of the boot stack: it overflowed"),
    ("write-text", "#PF page fault", "that forbids it"),
    ("run-data", "#PF page fault", "execution of"),
    ("undefined", "#UD invalid opcode", ""),
    ("panic", "debug.crash=panic", ""),
])
def test_crash_on_request(boot, kind, title, detail):
    out = boot(f"debug.crash={kind}", null_disk(), status=PANIC)
    check_report(out, title)
    assert detail in out.text
    assert "crash" in symbolized(out.text)
    assert re.search(r"kernel_main.*main\.c:\d+", symbolized(out.text)) or kind == "stack"


def test_crash_is_no_for_nobody(boot):
    boot("debug.crash=no number_ios=1", null_disk())
    out = boot("debug.crash=yes", null_disk(), status=USAGE)
    assert out.errors()[0].startswith("error: debug.crash=yes: expected ")
