#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Which inputs does fuzzing begin with? `tests/fuzz/seeds.py` writes tests/fuzz/corpus anew."""
import shutil
import struct
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"

OPTIONS = {
    "empty": "",
    "jobs": "ringlab.elf rw=randread bs=4k name=a iodepth=64 runtime=2s time_based "
            "name=b rw=read size=50% offset=1m hash=crc32c",
    "driver": "blk.mode=irq blk.irq_coalesce=4 blk.ring=split blk.indirect=always blk.event_idx=0 "
              "blk.qsize=128 blk.queues=2 blk.poll_queues=1 blk.timeout_ms=500",
    "fio": "--name=x --filename=/dev/vda --ioengine=libaio --direct=1 --iodepth_batch_submit=16 "
           "--iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32 --randseed=7",
    "report": "output-format=normal,json percentile_list=50:99.9:99.99 status-interval=1s "
              "eta=always log=debug",
    "quotes": "name='a b' \"filename=vdb\" rw=randrw rwmixread=70 io_size=1g number_ios=1000",
    "limits": "bs=512 size=3k offset=1k name=b bs=512 size=2048 name=c offset=50% size=9",
    "wrong": "bs=4q", "unclosed": "name='a",
}
LIB = {
    "number": "n18446744073709551615", "size": "n64k", "time": "n500ms", "micro": "n99.999999",
    "tokens": "ta=b 'c d' \"e\" f='g h'", "json": "j\"\\\x01é\n", "format": "f\x80\x02\x10\x04",
    "ranges": "r0\x10\x401\x20\x102\x00\x30",
}


def capability(kind: int, bar: int, offset: int, length: int, following: int, extra=b"") -> bytes:
    return struct.pack("<4B4xII", 9, following, 16 + len(extra), kind, offset, length).replace(
        b"\0\0\0\0", bytes([bar, 0, 0, 0]), 1) + extra


def config_space() -> bytes:
    """A disk with its four structures in BAR 4, then what its registers read as."""
    space = bytearray(256)
    space[0x06] = 0x10
    space[0x34] = 0x40
    at = 0x40
    for kind, offset, extra in ((1, 0, b""), (3, 0x1000, b""), (4, 0x2000, b""),
                                (2, 0x3000, struct.pack("<I", 4))):
        following = 0 if kind == 2 else at + 16
        space[at:at + 16 + len(extra)] = capability(kind, 4, offset, 0x1000, following, extra)
        at += 16
    bars = bytes([0, 0, 0, 0, 3 | 10 << 2, 0])
    features = struct.pack("<II", 0x30000246, 1)
    return bytes(space) + bars + b"\0" + bytes(1) + features + bytes([11]) * 4 + bytes(64)


def disk(features=0, capacity=32768, size_max=1 << 20, seg_max=14, blk_size=512, queues=1,
         queue_size=16, blocks=8) -> bytes:
    limits = struct.pack("<QQQBIIIBHH", features, capacity, capacity, 0, size_max, seg_max, blk_size,
                         1, queues - 1, queues)
    transport = struct.pack("<B4H8BH", 0, *[queue_size] * 4, 52, 0, 4, 0, 0, 2, 0, 0, 0)
    driver = struct.pack("<3BH4B", 0, 0, 2, 0, 0, 0, 0, 0)
    return limits + transport + driver + struct.pack("<BBQ", blocks, 0, 0) * 8


CONFIG = {
    "usual": disk(), "large_blocks": disk(blk_size=4096), "small": disk(capacity=7),
    "queues": disk(features=1 << 12, queues=4), "no_space": disk(size_max=1, features=2),
    "data": disk(features=3 << 38), "many_segments": disk(seg_max=0xffffffff),
    "many_pieces": disk(features=2, size_max=512, seg_max=128, queue_size=8, blocks=32),
}
STEP = {"submit": 0, "poll": 2, "complete": 3, "scribble": 4, "time": 5, "wait": 6, "step": 7}


def steps(shape: int, *words, lies: bytes = b"") -> bytes:
    """Names and the bytes that each takes; by @lies the device decides what it does."""
    script = bytes(STEP[word] if isinstance(word, str) else word for word in words)
    if lies:
        return struct.pack("<HB", shape | 0x80, len(script)) + script + lies
    return struct.pack("<H", shape) + script


IO = ("submit", 7, "step", 0, "complete", 7, "poll", 0)
HOSTILE = {
    "honest": steps(2, *IO), "indirect": steps(0x102, *IO), "threshold": steps(0x202, *IO * 3),
    "adaptive": steps(0x302, *IO * 3), "reverse": steps(6, *IO * 3), "events_off": steps(0x22, *IO),
    "interrupts": steps(0x42, "submit", 3, "step", 0, "complete", 7, "wait", 0, "poll", 0),
    "writes": steps(2, "submit", 31, "complete", 7, "poll", 0),
    "scribbled": steps(2, "submit", 3, "step", 0, "scribble", 0, 0, 255, 255, "poll", 0),
    "used_scribbled": steps(2, "submit", 3, "step", 0, "scribble", 2, 1, 3, 0, "poll", 0),
    "late": steps(2, "submit", 3, "time", 255, "time", 255, "poll", 0),
    "queue_reset": steps(0x802, *("submit", 3, "time", 255, "time", 255, "poll", 0) * 3),
}
for _kind in range(16):
    # What a hostile device may do at a step of its own, with a request or with a used entry.
    HOSTILE[f"lie{_kind}"] = steps(3, *IO * 2, lies=bytes([0, 0x80 + _kind, 5, 7, 0, 0, 3]) * 8)
HOSTILE["lies_early"] = steps(0x1003, *IO, lies=bytes(60) + bytes([0x81, 0, 0, 0, 0, 0x82]) * 9)


def main() -> None:
    shutil.rmtree(CORPUS, ignore_errors=True)
    for target, seeds in (("options", OPTIONS), ("lib", LIB), ("pci", {"disk": config_space()}),
                          ("config", CONFIG), ("split", HOSTILE), ("packed", HOSTILE),
                          ("legacy", HOSTILE)):
        (CORPUS / target).mkdir(parents=True)
        for name, seed in seeds.items():
            data = seed.encode() if isinstance(seed, str) else seed
            (CORPUS / target / name).write_bytes(data)


main()
