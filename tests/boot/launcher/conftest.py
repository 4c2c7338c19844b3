# SPDX-License-Identifier: BSD-2-Clause
"""Where can the launcher be tested without a kernel? In a room where scripts play QEMU."""
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(HERE, "..", "..", "..", "tools")
sys.dont_write_bytecode = True
sys.path.insert(0, TOOLS)

from ringlab_lib import qemu  # noqa: E402
from ringlab_lib.cli import main  # noqa: E402


@pytest.fixture(autouse=True)
def clean_room(tmp_path, monkeypatch):
    """A kernel that is there, no KVM, and a TMPDIR that must be empty again at the end."""
    cores = os.sched_getaffinity(0)
    (tmp_path / "kernel.elf").write_bytes(b"x")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(qemu, "kvm_usable", lambda: False)
    monkeypatch.chdir(tmp_path)
    yield
    os.sched_setaffinity(0, cores)
    assert os.listdir(tmp_path / "tmp") == []


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Puts a shell script in the place of a program; it finds $json and $pidfile in its words."""
    def make(body: str, variable: str = "RINGLAB_QEMU") -> None:
        script = tmp_path / variable.lower()
        script.write_text('#!/bin/sh\nwas=\nfor a; do\n'
                          '\tcase $a in file:*) json=${a#file:};; esac\n'
                          '\t[ "$was" = --pidfile ] && pidfile=$a\n'
                          '\twas=$a\ndone\n' + body + "\n")
        script.chmod(0o755)
        monkeypatch.setenv(variable, str(script))
    return make


@pytest.fixture
def launch():
    """`tools/ringlab run` in this process; returns its exit status."""
    return lambda *words: main(["run", "--kernel", "kernel.elf", *words])
