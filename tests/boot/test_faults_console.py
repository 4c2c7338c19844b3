# SPDX-License-Identifier: BSD-2-Clause
"""Does the command line arrive whole, and does the report get out, whatever the console does?"""
import json
import socket
import time

import pytest

from guest import NO_DEVICE, OK, USAGE, file_disk, null_disk

STALL_S = 3.0


@pytest.mark.parametrize("append, options", [
    ("bs=8k name='a b' rw=read", {"bs": "8k", "rw": "read"}),
    ('/boot/ringlab.elf --bs=8k -- name="a b"', {"bs": "8k"}),
    ("./ringlab   bs=8k   'name=a b'  ", {"bs": "8k"}),
    ("name=a' 'b bs=8k percentile_list=50:99.9", {"bs": "8k", "percentile_list": "50:99.9"}),
])
def test_f010_quotes_and_paths(boot, append, options):
    out = boot(append + " number_ios=1", null_disk(), json=True)
    assert out.job()["jobname"] == "a b"
    given = {**out.json.get("global options", {}), **out.job()["job options"]}
    assert options.items() <= given.items()


def test_f010_commas_and_unknown_words(boot):
    out = boot("bs=4k rw=randread,randwrite --x 'a b'", null_disk(), status=USAGE)
    assert out.errors()[0].startswith("error: rw=randread,randwrite: expected read|")
    out = boot("bs=4k --x 'a b'", null_disk(), status=USAGE)
    assert out.errors() == ["error: unknown option 'x'"]


def test_f010_no_command_line(boot):
    out = boot(None, null_disk(size=1 << 20))
    assert "rw=randread bs=4096 iodepth=1" in out.text


def test_f012_no_uart(boot, stamped, tmp_path):
    """The report goes to the debug console, and JSON with it, between lines that mark it."""
    path = tmp_path / "e9"
    out = boot("rw=read hash=crc32c bs=64k output-format=normal,json", file_disk(stamped.path),
               serial="none", qemu=("-debugcon", f"file:{path}"))
    assert out.text == ""
    text = path.read_text()
    assert f"crc32c: 0x{stamped.crc():08x} over {stamped.size} bytes" in text
    report = text.split("ringlab-json-begin\n")[1].split("ringlab-json-end\n")[0]
    assert report.startswith("{\n")
    assert json.loads(report)["jobs"][0]["read"]["io_bytes"] == stamped.size


def test_f012_no_uart_and_nothing_else(boot):
    assert boot("number_ios=1", null_disk(), serial="none").text == ""


def test_f012_microvm_without_uart(boot, tmp_path):
    path = tmp_path / "e9"
    boot("number_ios=1", machine="microvm,pcie=on,isa-serial=off", serial="none",
         qemu=("-debugcon", f"file:{path}"), status=NO_DEVICE)
    assert "error: no virtio-blk device found" in path.read_text()


def test_json_after_text_without_com2(boot):
    out = boot("number_ios=4 output-format=json", null_disk())
    report = out.text.split("ringlab-json-begin\n")[1].split("ringlab-json-end\n")[0]
    assert report.startswith("{\n") and json.loads(report)["jobs"][0]["read"]["total_ios"] == 4


def test_f013_reader_stalls(start):
    """A line that nobody reads costs the window nothing; afterwards all of the report is there."""
    ours, theirs = socket.socketpair()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)  # room for a few bytes only
    guest = start("iodepth=8 runtime=1 time_based eta=always status-interval=20ms", null_disk(iothread=True),
                  json=True, serial="chardev:com",
                  qemu=("-chardev", f"socket,id=com,fd={theirs.fileno()}"),
                  fds=(theirs.fileno(),))
    theirs.close()
    ours.settimeout(60)
    said = b""
    while b"% done" not in said:
        data = ours.recv(4096)
        assert data, said
        said += data
    time.sleep(STALL_S)  # no wait for anything: it is the stall
    while data := ours.recv(4096):
        said += data
    ours.close()
    out = guest.finish()
    assert out.status == OK, said.decode()
    read = out.job()["read"]
    assert read["runtime"] < (STALL_S - 0.5) * 1000, "the window waited for the reader"
    assert read["clat_ns"]["max"] < (STALL_S - 1) * 1e9
    assert b"first I/O" in said and b"  result: ringlab " in said


def test_output_is_whole_lines(boot):
    """No log line falls into the JSON, and all of the text is printable."""
    out = boot("number_ios=4 log=debug", null_disk(), null_disk(), json=True)
    assert out.text.endswith("\n")
    assert all(line.isprintable() for line in out.text.splitlines())
    assert {disk["name"] for disk in out.json["ringlab"]["devices"]} == {"vda", "vdb"}
