# SPDX-License-Identifier: BSD-2-Clause
"""Does tools/ringlab build the right commands, and refuse what makes none?"""
import shlex

import pytest

from ringlab_lib import qemu, run


@pytest.fixture
def commands(capsys, launch):
    """The commands that --dry-run prints, as words."""
    def dry_run(*words: str) -> list[list[str]]:
        assert launch("--dry-run", *words) == 0
        text = capsys.readouterr().out.replace("\\\n", " ")
        return [shlex.split(line) for line in text.splitlines()]
    return dry_run


@pytest.fixture
def qemu_words(commands):
    def only_qemu(*words: str) -> list[str]:
        (found,) = [c for c in commands(*words) if c[0] == "qemu-system-x86_64"]
        return found
    return only_qemu


def values(words: list[str], option: str) -> list[str]:
    return [words[i + 1] for i, word in enumerate(words) if word == option]


def disk_devices(words: list[str]) -> list[str]:
    return [v for v in values(words, "-device") if "blk" in v]


@pytest.mark.parametrize("given, option, expected", [
    ([], "-accel", ["tcg,thread=multi"]),
    ([], "-smp", ["1,maxcpus=2"]),
    ([], "-machine", ["q35"]),
    ([], "-m", ["256M"]),
    ([], "-cpu", []),
    ([], "-serial", ["stdio"]),
    ([], "-display", ["none"]),
    ([], "-append", [""]),
    ([], "-blockdev", ["driver=null-co,node-name=d0,size=1073741824,read-zeroes=on"]),
    ([], "-object", ["iothread,id=io0"]),
    ([], "-device", ["isa-debug-exit,iobase=0xf4,iosize=4",
                     "virtio-blk-pci,drive=d0,iothread=io0"]),
    (["--smp", "4"], "-smp", ["4,maxcpus=4"]),
    (["--smp", "255"], "-smp", ["255,maxcpus=255"]),
    (["--smp", "6,sockets=2,cores=3,threads=1"], "-smp", ["6,sockets=2,cores=3,threads=1"]),
    (["--accel", "kvm", "--smp", "2"], "-smp", ["2"]),
    (["--accel", "kvm"], "-accel", ["kvm"]),
    (["--accel", "kvm"], "-cpu", ["host"]),
    (["--accel", "kvm", "--cpu", "max"], "-cpu", ["max"]),
    (["--accel", "tcg,thread=single"], "-accel", ["tcg,thread=single"]),
    (["--icount"], "-accel", ["tcg"]),
    (["--icount"], "-smp", ["1"]),
    (["--icount"], "-icount", ["shift=0,sleep=off"]),
    (["--machine", "pc"], "-machine", ["pc"]),
    (["--machine", "microvm"], "-machine", ["microvm,pcie=on"]),
    (["--machine", "microvm", "--json", "o"], "-serial", ["stdio"]),
    (["--json", "o"], "-serial", ["stdio", "file:o"]),
    (["--json", "o", "--", "bs=4k"], "-append", ["bs=4k output-format=normal,json"]),
    (["--json", "o", "--", "--output-format=json"], "-append", ["--output-format=json"]),
    (["--", "name=a b", "x='"], "-append", ["\"name=a b\" \"x='\""]),
    (["--", "time_based", "bs=4k"], "-append", ["/ringlab time_based bs=4k"]),
    (["--no-iothread"], "-object", []),
    (["--backend", "file"], "-blockdev",
     ["driver=file,node-name=f0,filename=/tmp/ringlab-dry-run/disk0.img,aio=threads",
      "driver=raw,node-name=d0,file=f0"]),
    (["--backend", "null", "--disk", "4k"], "-blockdev",
     ["driver=null-co,node-name=d0,size=4096,read-zeroes=on"]),
    (["--disk", "null:2G,read-zeroes=off"], "-blockdev",
     ["driver=null-co,node-name=d0,size=2147483648,read-zeroes=off"]),
    (["--qemu-arg", "-trace a", "--qemu-arg", "-S"], "-trace", ["a"]),
    (["--backend", "vhost-user", "--mem", "64"], "-machine", ["q35,memory-backend=mem"]),
    (["--backend", "vhost-user", "--mem", "64"], "-object",
     ["memory-backend-memfd,id=mem,share=on,size=67108864"]),
    (["--backend", "vhost-user"], "-chardev",
     ["socket,id=c0,path=/tmp/ringlab-dry-run/disk0.sock"]),
    (["--disk", "none"], "-blockdev", []),
])
def test_dry_run(qemu_words, given, option, expected):
    assert values(qemu_words(*given), option) == expected


def test_dry_run_disk_options(qemu_words):
    words = qemu_words("--disk", "null", "--disk", "null,latency-ns=1000000",
                       "--device", "queue-size=1024", "--device", "event_idx=off")
    assert disk_devices(words) == [
        "virtio-blk-pci,drive=d0,iothread=io0,queue-size=1024,event_idx=off",
        "virtio-blk-pci,drive=d1,iothread=io1,cyls=16,heads=16,secs=63,"
        "queue-size=1024,event_idx=off"]
    assert disk_devices(qemu_words("--disk", "none")) == []
    assert "-S" in qemu_words("--qemu-arg", "-S")


def test_dry_run_file(qemu_words, tmp_path):
    (tmp_path / "a,b.img").write_bytes(bytes(4096))
    blockdevs = values(qemu_words("--disk", "a,b.img"), "-blockdev")
    assert blockdevs == ["driver=file,node-name=f0,filename=a,,b.img,aio=threads",
                         "driver=raw,node-name=d0,file=f0"]
    (tmp_path / "a,b.img").chmod(0o444)
    blockdevs = values(qemu_words("--disk", "a,b.img"), "-blockdev")
    assert [b.endswith(",read-only=on") for b in blockdevs] == [True, True]


@pytest.mark.parametrize("given, export_end", [
    ([], "num-queues=1,iothread=io0"),
    (["--", "rw=randwrite"], "num-queues=1,iothread=io0,writable=on"),
    (["--no-iothread", "--smp", "3", "--", "readwrite=rw"], "num-queues=3,writable=on"),
    (["--smp", "3", "--device", "num-queues=2"], "num-queues=2,iothread=io0"),
])
def test_dry_run_vhost_user(commands, given, export_end):
    found = commands("--backend", "vhost-user", *given)
    assert [c[0] for c in found] == ["mkdir", "qemu-storage-daemon", "qemu-system-x86_64", "kill",
                                     "rm"]
    assert values(found[1], "--export")[0].endswith(f"disk0.sock,{export_end}")
    assert disk_devices(found[2])[0].startswith("vhost-user-blk-pci,chardev=c0,num-queues=")


def test_dry_run_makes_temporary_disk(commands):
    found = commands("--disk", "3M")
    assert found[:2] == [["mkdir", "-p", "/tmp/ringlab-dry-run"],
                         ["truncate", "-s", "3145728", "/tmp/ringlab-dry-run/disk0.img"]]


@pytest.mark.parametrize("given, status, said", [
    (["--disk", "missing.img"], 2, "missing.img: No such file"),
    (["--disk", "."], 2, "neither a file nor a block device"),
    (["--disk", "0"], 2, "0 bytes"),
    (["--disk", "null:x"], 2, "'x' is not a size"),
    (["--disk", "null,latency"], 2, "'latency'"),
    (["--disk", "none", "--disk", "null"], 2, "no disk at all"),
    (["--backend", "file", "--disk", "null"], 2, "--backend file: does not fit --disk null"),
    (["--backend", "null", "--disk", "kernel.elf"], 2, "does not fit --disk kernel.elf"),
    (["--backend", "nbd"], 2, "invalid choice: 'nbd'"),
    (["--smp", "0"], 2, "--smp 0"),
    (["--smp", "two"], 2, "--smp two"),
    (["--mem", "lots"], 2, "--mem lots"),
    (["--mem", "1M"], 2, "--mem 1M: too little"),
    (["--disk", "100000000T"], 5, "--disk 109951162777600000000 bytes: "),
    (["--qemu-arg", "-m '1"], 2, "--qemu-arg -m '1: No closing quotation"),
    (["--icount", "--accel", "kvm"], 2, "--icount"),
    (["--timeout", "-1"], 2, "--timeout"),
    (["--json", "no/such/dir/x"], 2, "--json no/such/dir/x: No such file"),
    (["--frobnicate"], 2, "--frobnicate"),
    (["rw=read"], 2, "job tokens go after --"),
    (["--kernel", "gone.elf"], 5, "no kernel image gone.elf"),
])
def test_bad_input(capsys, fake, given, status, said, launch):
    fake("echo booted; exit 33")
    try:
        got = launch(*given)
    except SystemExit as end:
        got = end.code
    streams = capsys.readouterr()
    assert got == status
    assert said in streams.err and streams.err.count("\n") == 1
    assert "booted" not in streams.out


def test_default_kernel_missing_says_make(capsys, monkeypatch, tmp_path, launch):
    monkeypatch.setattr(qemu, "DEFAULT_KERNEL", str(tmp_path / "build.elf"))
    assert launch("--kernel", str(tmp_path / "build.elf")) == 5
    assert "no kernel image build.elf: run `make` first" in capsys.readouterr().err


def test_qemu_missing_says_setup(capsys, monkeypatch, launch):
    monkeypatch.setenv("RINGLAB_QEMU", "/nonexistent/qemu")
    assert launch() == 5
    assert "cannot run /nonexistent/qemu: No such file or directory: run tools/setup" \
        in capsys.readouterr().err


def test_timeout_default_grows_with_the_jobs():
    assert run.default_timeout_s([]) == 600
    assert run.default_timeout_s(["runtime=5", "--ramp_time=500ms", "runtime=2m"]) == 725.5
    assert run.default_timeout_s(["timeout=0x10", "ramp_time=1H"]) == 4216


@pytest.mark.parametrize("token, quoted", [
    ("bs=4k", "bs=4k"), ("", '""'), ("a b", '"a b"'), ("a\tb", '"a\tb"'), ("it's", '"it\'s"'),
    ('say "x"', '"say "\'"\'"x"\'"\''),
])
def test_quoting_for_the_kernel(token, quoted):
    assert qemu.quote_token(token) == quoted
