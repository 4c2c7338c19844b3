# SPDX-License-Identifier: BSD-2-Clause
"""Does each run end with the right status, its JSON, and no process left? Scripts play QEMU."""
import json
import os
import shutil
import signal
import subprocess
import time

import pytest

from ringlab_lib import console
from ringlab_lib.qemu import ROOT

LAUNCHER = os.path.join(ROOT, "tools", "ringlab")
REPORT = '{\n  "fio version": "x",\n  "jobs": []\n}\n'


@pytest.mark.parametrize("script, status, name, said", [
    ("exit 33", 0, "success", ""),
    ("exit 35", 1, "I/O or verify errors", ""),
    ("exit 37", 2, "usage", ""),
    ("exit 39", 3, "no usable device", ""),
    ("exit 41", 4, "kernel panic", ""),
    ("echo bad option >&2; exit 1", 5, "no result", "did not start: exit status 1"),
    ("exit 0", 5, "no result", "reset or powered off"),
    ("echo hello; exit 3", 5, "no result", "none of the kernel's"),
    ("kill -9 $$", 5, "no result", "killed by signal 9"),
])
def test_exit_status(capfd, fake, script, status, name, said, launch):
    fake(script)
    assert launch("--accel", "tcg") == status
    streams = capfd.readouterr()
    last = streams.out.splitlines()[-1]
    assert last.startswith(f"ringlab: accel=tcg machine=q35 exit={status} ({name}) wall=")
    assert said in streams.err
    assert ("bad option" in script) == ("bad option" in streams.err)


def test_console_is_passed_on(capfd, fake, launch):
    fake("printf 'one\\r\\ntwo'; exit 33")
    assert launch() == 0
    assert capfd.readouterr().out.startswith("one\ntwo\nringlab: accel=tcg")
    fake("printf 'one\\r\\nringlab-'; exit 35")  # held back, for it might have been a marker
    assert launch("--json", "out.json") == 1
    assert capfd.readouterr().out.startswith("one\nringlab-\nringlab: accel=tcg")


def test_temporary_disk_is_there(capfd, fake, launch):
    fake('for a; do case $a in *filename=*) f=${a#*filename=}; stat -c %s "${f%%,*}";; esac; done;'
         'exit 33')
    assert launch("--disk", "3M") == 0
    assert capfd.readouterr().out.startswith("3145728\n")


def test_read_only_file_is_named(capfd, fake, tmp_path, launch):
    fake("exit 33")
    (tmp_path / "ro.img").write_bytes(bytes(512))
    (tmp_path / "ro.img").chmod(0o444)
    assert launch("--disk", "ro.img") == 0
    assert "ro.img may not be written: opened read-only" in capfd.readouterr().err


@pytest.mark.parametrize("said, waited_for", [
    ("echo; echo half way", 'last console line: "half way"'),
    ("", "the kernel's first line"),
])
def test_timeout(capfd, fake, said, waited_for, launch):
    fake(said + "\nexec sleep 1000")
    started = time.monotonic()
    assert launch("--timeout", "0.2") == 124
    assert time.monotonic() - started < 5
    streams = capfd.readouterr()
    assert "timeout after 0.2 s" in streams.err and waited_for in streams.err
    assert "exit=124 (timeout)" in streams.out


def test_json_of_several_jobs(fake, launch):
    """Copies, groups and queues pass through as the kernel wrote them."""
    report = {"jobs": [{"jobname": "a", "groupid": group, "ringlab": {"cpu": cpu, "queue": cpu}}
                       for group, cpu in ((0, 0), (0, 1), (1, 0))],
              "ringlab": {"cpus": 2, "groups": [{"jobs": 2, "iops": 1.5}, {"jobs": 1}]}}
    fake(f"cat >\"$json\" <<'E'\n{json.dumps(report, indent=1)}\nE\nexit 33")
    assert launch("--smp", "2", "--json", "out.json", "--", "name=a", "numjobs=2", "name=a",
                  "stonewall") == 0
    with open("out.json", encoding="utf-8") as file:
        assert json.load(file) == report


@pytest.mark.parametrize("machine, script", [
    ("q35", f"cat >\"$json\" <<'E'\n{REPORT}E\nexit 33"),
    ("microvm", f"cat <<'E'\nbefore\nringlab-json-begin\n{REPORT}ringlab-json-end\nafter\nE\n"
                "exit 33"),
])
def test_json_is_written(capfd, fake, machine, script, launch):
    fake(script)
    assert launch("--machine", machine, "--json", "out.json") == 0
    with open("out.json", encoding="utf-8") as file:
        assert json.load(file) == json.loads(REPORT)
    out = capfd.readouterr().out
    assert "jobs" not in out and "ringlab-json" not in out
    assert out.startswith("before\nafter\n") == (machine == "microvm")


@pytest.mark.parametrize("options", [["--disk", "disk.img"], []], ids=["disk", "kernel"])
def test_json_does_not_overwrite_what_is_read(capfd, fake, tmp_path, options, launch):
    fake("echo booted; exit 33")
    read = tmp_path / (options[-1] if options else "kernel.elf")
    read.write_text("data")
    os.link(read, tmp_path / "report.json")
    assert launch("--json", "report.json", *options) == 2
    assert read.read_text() == "data"
    streams = capfd.readouterr()
    assert streams.err == f"ringlab: --json report.json: this is {read.name}, which the run reads\n"
    assert "booted" not in streams.out


def test_json_that_cannot_be_written(capfd, fake, launch):
    """What was measured is on the console all the same; 1 would be the disk's errors."""
    fake(f"cat >\"$json\" <<'E'\n{REPORT}E\necho measured; exit 33")
    assert launch("--json", "/dev/full") == 5
    streams = capfd.readouterr()
    assert streams.err == "ringlab: --json /dev/full: No space left on device\n"
    assert streams.out.startswith("measured\n") and " exit=5 (no result) " in streams.out


def test_no_room_for_temporary_files(capfd, fake, monkeypatch, launch):
    fake("echo booted; exit 33")
    def refused(**_):
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("tempfile.mkdtemp", refused)
    assert launch() == 5
    streams = capfd.readouterr()
    assert "No usable temporary directory" in streams.err and streams.err.count("\n") == 1
    assert "booted" not in streams.out


@pytest.mark.parametrize("script, status, said", [
    ("exit 33", 5, "no JSON arrived"),
    ("echo x >\"$json\"; exit 33", 5, "no line is '{' alone"),
    ("printf '{\\n \"jobs\": [\\n' >\"$json\"; exit 33", 5, "JSON is broken: line 2"),
    ("printf '{\\n}\\n' >\"$json\"; exit 33", 5, "no list 'jobs'"),
    ("exit 35", 1, "no JSON arrived"),
    ("exit 37", 2, ""),
])
def test_json_missing_or_broken(capfd, fake, tmp_path, script, status, said, launch):
    fake(script)
    (tmp_path / "out.json").write_text("of the last run")
    assert launch("--json", "out.json") == status
    err = capfd.readouterr().err
    assert said in err if said else err == ""
    assert (tmp_path / "out.json").read_text() == ""


def test_console_in_any_pieces():
    text = b"ring\r\nringlab-json-begin\r\n{\r\n}\r\nringlab-json-end\r\nringlab-js 50%\rtail"
    for size in (1, 2, 3, 7, len(text)):
        taken = console.Console(cut_json=True)
        shown = b"".join(taken.feed(text[i:i + size]) for i in range(0, len(text), size))
        assert shown + taken.finish() == b"ring\nringlab-js 50%\rtail"
        assert taken.json_text == b"{\n}\n"


def test_console_shows_at_once():
    taken = console.Console(cut_json=True)
    assert taken.feed(b"50 % done") == b"50 % done"
    assert taken.feed(b"ringlab-json-begin\n") == b"ringlab-json-begin\n"
    assert taken.feed(b"ringlab-") == b""
    assert taken.feed(b"x") == b"ringlab-x"
    plain = console.Console(cut_json=False)
    assert plain.feed(b"ringlab-json-begin\n{\n") == b"ringlab-json-begin\n{\n"


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pids: list[int]) -> list[int]:
    deadline = time.monotonic() + 20
    while [pid for pid in pids if alive(pid)] and time.monotonic() < deadline:
        time.sleep(0.01)
    return [pid for pid in pids if alive(pid)]


SPAWNING = "sleep 1000 & echo $! $$; wait; wait; wait"


def start_and_read_pids(*words: str) -> tuple[subprocess.Popen, list[int]]:
    launcher = subprocess.Popen([LAUNCHER, "run", "--kernel", "kernel.elf", *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return launcher, [int(word) for word in launcher.stdout.readline().split()]


@pytest.mark.parametrize("number, status, script", [
    (signal.SIGINT, 130, SPAWNING),
    (signal.SIGTERM, 143, SPAWNING),
    (signal.SIGHUP, 129, SPAWNING),
    (signal.SIGINT, 130, "trap '' TERM; " + SPAWNING),  # deaf to SIGTERM
])
def test_signal_leaves_nothing(fake, number, status, script):
    fake(script)
    launcher, pids = start_and_read_pids()
    assert len(pids) == 2
    launcher.send_signal(number)
    out, _ = launcher.communicate(timeout=10)
    assert launcher.returncode == status
    assert f"exit={status} (interrupted)" in out
    assert wait_until_gone(pids) == []


def test_qemu_may_end_in_good_order(fake, tmp_path):
    fake("trap 'echo >saved; exit 0' TERM; sleep 1000 & echo $! $$; wait")
    launcher, pids = start_and_read_pids()
    launcher.send_signal(signal.SIGINT)
    launcher.communicate(timeout=10)
    assert wait_until_gone(pids) == [] and (tmp_path / "saved").exists()


def test_leftover_of_qemu_is_ended(capfd, fake, launch):
    fake("sleep 1000 & echo $!; exit 33")
    assert launch() == 0
    assert wait_until_gone([int(capfd.readouterr().out.split()[0])]) == []


def test_killed_launcher_takes_qemu_along(fake, tmp_path):
    fake("echo $$; exec sleep 1000")
    launcher, pids = start_and_read_pids()
    launcher.kill()
    launcher.communicate(timeout=10)
    assert len(pids) == 1 and wait_until_gone(pids) == []
    for left in os.listdir(tmp_path / "tmp"):  # nobody was there to remove it
        shutil.rmtree(tmp_path / "tmp" / left)


def test_closed_stdout_ends_the_run(fake):
    fake("echo $$; while echo x; do :; done")
    launcher, pids = start_and_read_pids()
    launcher.stdout.close()
    assert launcher.wait(timeout=10) == 141
    launcher.stderr.close()
    assert wait_until_gone(pids) == []


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_started_with_closed_files(fake, closed):
    fake("echo booted; exit 39")
    done = subprocess.run(["sh", "-c", f'exec "$0" run --kernel kernel.elf {closed}', LAUNCHER],
                          capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 3, done.stderr


def test_storage_daemon_is_waited_for_and_ended(capfd, fake, launch):
    fake('sleep 0.1; echo 1 >"$pidfile"; echo $$ >qsd.pid; exec sleep 1000', "RINGLAB_QSD")
    fake("cat qsd.pid; exit 33")
    assert launch("--backend", "vhost-user") == 0
    assert wait_until_gone([int(capfd.readouterr().out.split()[0])]) == []


@pytest.mark.parametrize("script, said", [
    ("echo no such option >&2; exit 1", "ended"),
    ('echo 1 >"$pidfile"; exec sleep 0.2', "ended while the guest ran"),
])
def test_storage_daemon_fails(capfd, fake, script, said, launch):
    fake(script, "RINGLAB_QSD")
    fake("exec sleep 1000")
    assert launch("--backend", "vhost-user") == 5
    err = capfd.readouterr().err
    assert said in err
    assert ("no such option" in script) == ("no such option" in err)


@pytest.mark.skipif(not shutil.which("qemu-storage-daemon"), reason="no qemu-storage-daemon")
def test_real_storage_daemon(capfd, fake, tmp_path, launch):
    (tmp_path / "d.img").write_bytes(bytes(1 << 20))
    fake('for a; do case $a in socket,*) test -S "${a#*path=}" && echo socket;; esac; done\n'
         'exit 33')
    assert launch("--backend", "vhost-user", "--disk", "null", "--disk", "d.img") == 0
    assert capfd.readouterr().out.startswith("socket\nsocket\n")
