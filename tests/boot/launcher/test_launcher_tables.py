# SPDX-License-Identifier: BSD-2-Clause
"""Do bench, rival and insns make the right tables of what the kernel reports?"""
import json
import os

from ringlab_lib import insns, measure
from ringlab_lib.cli import main


def job(iops: int) -> dict:
    return {"read": {"iops": iops, "bw_bytes": iops * 4096,
                     "clat_ns": {"mean": 12345, "percentile": {"50.000000": 900,
                                                               "99.000000": 4560000}}},
            "ringlab": {"kicks_per_io": 0.25, "busy_cycles_per_io": 250.0}}


def reporting(tmp_path, jobs: list[dict], hz: int = 1_000_000_000) -> str:
    """A script that hands in a report with these jobs."""
    text = json.dumps({"jobs": jobs, "ringlab": {"tsc_hz": hz}}, indent=1)
    (tmp_path / "report.txt").write_text(text)
    return 'cat report.txt >"$json"; exit 33'


def command(*words: str) -> int:
    return main([words[0], "--kernel", "kernel.elf", *words[1:]])


def test_bench_table(capsys, fake, monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "ROOT", str(tmp_path))
    monkeypatch.setattr(measure, "IMAGE_BYTES", 2 << 20)
    fake('[ "$1" = --version ] && { echo QEMU emulator version 9.9.9; exit; }\n'
         'echo "$*" >words\n'
         + reporting(tmp_path, [job(5), job(100000), job(7), job(8)]))
    assert command("bench", "--quick", "--json", "b.json") == 0
    before_jobs = (tmp_path / "words").read_text().partition(" name=")[0]
    assert " stonewall " in before_jobs, "the depths would be measured at the same time"
    head, columns, *rows = capsys.readouterr().out.splitlines()
    assert "accel=tcg machine=q35 QEMU 9.9.9" in head
    assert len({len(line) for line in [columns, *rows]}) == 1
    assert rows[1].split() == ["null", "8", "100000", "390.6", "12.3", "us", "900", "ns", "4.56",
                               "ms", "0.250"]
    assert [row.split()[:2] for row in rows] == [[d, n] for d in ("null", "file")
                                                 for n in ("1", "8", "32", "64")]
    with open("b.json", encoding="utf-8") as file:
        assert [b["disk"] for b in json.load(file)["bench"]] == ["null", "file"]
    assert os.path.getsize(tmp_path / "build" / "bench.img") == 2 << 20


def test_bench_shows_what_failed(capsys, fake, monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "ROOT", str(tmp_path))
    monkeypatch.setattr(measure, "IMAGE_BYTES", 1 << 20)
    fake("echo panic: oops; exit 41")
    assert command("bench", "--quick") == 4
    err = capsys.readouterr().err
    assert "panic: oops" in err and "a measuring run failed: kernel panic" in err
    fake(reporting(tmp_path, [job(5)]))
    assert command("bench", "--quick") == 5
    assert "no number at jobs[1].read.iops" in capsys.readouterr().err


def test_insns(capfd, fake, monkeypatch, tmp_path):
    host = tmp_path / "host-count"
    host.write_text("#!/bin/sh\necho insns/io host 1\n")
    host.chmod(0o755)
    monkeypatch.setattr(insns, "HOST_COUNT", str(host))
    monkeypatch.setattr(insns, "HOST_PROGRAM", str(host))
    fake(reporting(tmp_path, [job(1000000)]))
    assert command("insns") == 0
    lines = [line.split() for line in capfd.readouterr().out.splitlines()
             if line.startswith("insns/io")]
    assert ["insns/io", "direct+event_idx", "250.0"] in lines and len(lines) >= 5
    assert lines[-1] == ["insns/io", "host", "1"]
    changing = reporting(tmp_path, [job(1000000)]).replace(
        "cat", 'sed "s/: 250.0/: $(wc -l <runs)00.0/"')
    fake("echo >>runs; " + changing)
    assert command("insns") == 1
    assert "more than 2 %" in capfd.readouterr().out
    fake(reporting(tmp_path, [job(1000000)], hz=2_100_000_000))
    assert command("insns") == 5
    assert "does not count instructions" in capfd.readouterr().err


def test_rival_ratios(capsys, fake, monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "ROOT", str(tmp_path))
    monkeypatch.setattr(measure, "IMAGE_BYTES", 1 << 20)
    fake("echo Run completed in 2.000 seconds.", "RINGLAB_QEMU_IMG")
    fake('echo 1 >"$pidfile"; exec sleep 1000', "RINGLAB_QSD")
    fake(reporting(tmp_path, [job(600000)]))
    assert command("rival", "--runs", "1") == 0
    text = capsys.readouterr().out
    rows = {line.split("  ")[0]: line.split() for line in text.splitlines()}
    assert rows["null, depth 64"][-3:] == ["2.00", ">=", "1.2"]
    assert rows["file, depth 64"][-3:] == ["20.00", ">=", "0.95"]
    assert rows["null, depth 1"][-3:] == ["18.2-46.2", ">=", "5"]
    fake("echo broken >&2; exit 1", "RINGLAB_QEMU_IMG")
    assert command("rival", "--runs", "1") == 5
    assert "failed: broken" in capsys.readouterr().err
