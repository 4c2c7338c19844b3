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
         queue_size=16, blocks=8, face=0, transport=0) -> bytes:
    limits = struct.pack("<QQQBIIIBHH", features, capacity, capacity, 0, size_max, seg_max, blk_size,
                         1, queues - 1, queues)
    registers = struct.pack("<B4H8BH", face, *[queue_size] * 4, 52, 0, 4, 0, 0, 2, 0, 0, 0)
    driver = struct.pack("<3BH5B", 0, 0, 2, 0, 0, 0, 0, 0, transport)
    return limits + registers + driver + struct.pack("<BBQ", blocks, 0, 0) * 8


CONFIG = {
    "usual": disk(), "large_blocks": disk(blk_size=4096), "small": disk(capacity=7),
    "queues": disk(features=1 << 12, queues=4), "no_space": disk(size_max=1, features=2),
    "data": disk(features=3 << 38), "many_segments": disk(seg_max=0xffffffff),
    "legacy": disk(face=0x40), "legacy_no_power_of_two": disk(face=0x40, queue_size=33),
    "transitional": disk(face=0x20), "transitional_as_legacy": disk(face=0x20, transport=1),
    "in_order": disk(features=1 << 35, queue_size=4), "no_queue": disk(queue_size=0),
    "many_pieces": disk(features=2, size_max=512, seg_max=128, queue_size=8, blocks=32),
}
# The first 64 bits of what a hostile disk is played by: names and widths, as in hostile_shape.c.
SHAPE = {
    "lies": 1, "early": 1, "size": 2, "odd_queue": 2, "qsize": 2, "order": 2, "indirect": 3, "mode": 2,
    "no_event_idx": 1, "recover_queue": 1, "in_order": 1, "notification_data": 1,
    "notif_config_data": 1, "ring_reset": 1, "no_indirect": 1, "device_no_event_idx": 1,
    "large_blocks": 1, "queues": 2, "ports": 2, "poll_queue": 1, "used_batch": 3, "seg_max": 2,
    "face": 2, "vectors": 3, "irq": 2, "coalesce": 2, "refuse_mapping": 2, "no_ioapic": 1, "junk": 1,
    "polling": 1, "event_fixed": 1, "no_multiplier": 1, "reset_never": 2, "queue_reset_never": 2,
    "slow_reset": 1, "abandon": 1, "helps": 1, "high_memory": 1, "fail_alloc": 4, "scarce": 2,
}
STEP = {"submit": 0, "prepared": 0x40, "again": 0x80, "long": 2, "odd": 3, "poll": 4, "complete": 6,
        "scribble": 8, "time": 9, "wait": 10, "halt": 11, "resize": 12, "habit": 13, "step": 14}
PORT = 0x10  # added to a step: by the next port


def shape(**fields: int) -> bytes:
    word = at = 0
    for name, width in SHAPE.items():
        word |= fields.pop(name, 0) << at
        at += width
    assert at <= 64 and not fields
    return struct.pack("<Q", word)


def steps(*words, lies: bytes = b"", **fields: int) -> bytes:
    """Names and the bytes that each takes; by @lies the device decides what it does."""
    script = bytes(STEP[word] if isinstance(word, str) else word for word in words)
    if lies:
        return shape(lies=1, **fields) + struct.pack("<H", len(script)) + script + lies
    return shape(**fields) + script


def on_ports(*pairs: int) -> tuple:
    """Steps of two bytes each, once for each of three ports."""
    return tuple(byte + PORT * port * (i % 2 == 0)
                 for port in range(3) for i, byte in enumerate(pairs))


IO = ("submit", 7, "step", 0, "complete", 7, "poll", 0)
AGAIN = ("prepared", 7, "complete", 7, "poll", 0) + ("again", 0x27, "complete", 7, "poll", 0) * 3
DONE = ("complete", 15, "poll", 0)
LONG = ("long", 30, "odd", 0, "odd", 1, *DONE, "long", 47, *DONE)
ODD = tuple(word for kind in range(8) for word in ("odd", kind)) + ("complete", 7, "poll", 0)
WAIT = ("submit", 3, "wait", 0x83, "poll", 0)
LATE = ("submit", 3, "time", 255, "time", 255, "poll", 0)
SHARED = on_ports(0, 7, 2, 20) + on_ports(6, 15) + on_ports(10, 0x83, 4, 0) + on_ports(9, 9, 4, 0)
HALTED = ("submit", 3, PORT, 3, "halt", 0, 11 + PORT, 3, "complete", 15, 4 + 2 * PORT, 0, "poll", 0) * 2
HOSTILE = {
    "honest": steps(*IO, size=2),
    "prepared": steps(*AGAIN, size=1),
    "long": steps(*LONG * 2, size=3, seg_max=3),
    "pieces": steps(*LONG * 2, size=2, seg_max=2), "odd": steps(*ODD, size=2),
    "large_blocks": steps(*IO, *LONG, *ODD, size=2, large_blocks=1),
    "reverse": steps(*IO * 3, size=2, order=1),
    "event_idx_off": steps(*IO, *WAIT, size=2, no_event_idx=1, mode=1, vectors=4),
    "no_event_idx": steps(*IO, *WAIT, size=2, device_no_event_idx=1, mode=1, vectors=4),
    "interrupts": steps(*WAIT * 3, size=2, mode=1, vectors=4, coalesce=1),
    "intx": steps(*WAIT * 3, "resize", 9, *WAIT, size=2, mode=1),
    "shared_vector": steps(*SHARED, size=3, mode=1, vectors=2, queues=3, ports=2),
    "refused_vector": steps(*WAIT, size=2, mode=2, vectors=4, refuse_mapping=2),
    "no_interrupt": steps(*WAIT, size=2, mode=1, no_ioapic=1),
    "writes": steps("submit", 31, "complete", 7, "poll", 0, size=2),
    "scribbled": steps("submit", 3, "step", 0, "scribble", 0, 0, 0, 255, 255, "poll", 0, size=2),
    "used_scribbled": steps("submit", 3, "step", 0, "scribble", 0, 2, 1, 3, 0, "poll", 0, size=2),
    "late": steps(*LATE, size=2), "late_shared": steps(*SHARED, *LATE, size=3, ports=2, queues=2),
    "queue_reset": steps(*LATE * 3, *IO, size=2, ring_reset=1, recover_queue=1, slow_reset=1, helps=1),
    "queue_reset_never": steps(*LATE * 2, size=2, ring_reset=1, recover_queue=1, queue_reset_never=3),
    "reset_never": steps(*IO, *LATE, size=2, reset_never=3),
    "resize": steps("resize", 200, *AGAIN, "resize", 0, *IO, *ODD, size=2, helps=1),
    "shared": steps(*SHARED * 2, size=3, ports=2, mode=1, vectors=4),
    "halted": steps(*HALTED, size=3, ports=2, mode=1, vectors=4),
    "halted_no_event_idx": steps(*HALTED, *LATE, size=3, ports=2, mode=1, vectors=4, no_event_idx=1),
    "queues": steps(*SHARED * 2, size=3, ports=2, queues=3, mode=1, vectors=4, poll_queue=1, helps=1),
    "abandoned": steps("submit", 7, "long", 30, "odd", 0, size=2, abandon=1),
    "deaf": steps("habit", 5, *IO, "habit", 14, *WAIT, "habit", 7, *IO, size=2, mode=1, vectors=4),
    "notification_data": steps(*IO * 3, size=1, notification_data=1),
    "notif_config_data": steps(*SHARED, size=1, queues=3, ports=2, notif_config_data=1),
    "both_notif_data": steps(*SHARED, size=1, queues=3, ports=2, notification_data=1,
                             notif_config_data=1, no_multiplier=1),
    "junk": steps(*IO * 3, *LONG, size=2, junk=1), "polling": steps(*IO * 3, size=2, polling=1),
    "event_fixed": steps(*IO * 3, size=2, event_fixed=1),
    "io_ports": steps(*IO, size=2, face=2),
    "transitional": steps(*IO, *WAIT, size=2, face=1, mode=1, vectors=4),
    "face3": steps(*IO, *LONG, size=2, face=3), "high_memory": steps(*IO, size=2, high_memory=1),
    "short_queue": steps(*IO, size=3, qsize=2), "odd_qsize": steps(*IO, size=3, qsize=3),
}
for _policy in range(8):
    HOSTILE[f"indirect{_policy}"] = steps(*IO, *AGAIN, *LONG, *IO, size=3, indirect=_policy, helps=1)
for _size in range(4):
    HOSTILE[f"odd_queue{_size}"] = steps(*IO, size=_size, odd_queue=1)
    HOSTILE[f"odd_second_queue{_size}"] = steps(*SHARED, size=_size, odd_queue=2, queues=3, ports=2)
for _batch in range(3):
    HOSTILE[f"in_order{_batch}"] = steps(*IO * 2, *AGAIN, *LONG, *WAIT * 2, size=_batch + 1, in_order=1,
                                         used_batch=3 * _batch, mode=1, vectors=4, helps=1)
for _nth in range(1, 16):
    HOSTILE[f"no_memory{_nth}"] = steps(*IO, scarce=3, fail_alloc=_nth, size=2, queues=1)
for _kind in range(16):
    # What a hostile device may do at a step of its own, with a request or with a used entry.
    _lies = bytes([0, 0x80 + _kind, 5, 7, 0, 0, 3]) * 8
    HOSTILE[f"lie{_kind}"] = steps(*IO * 2, size=3, lies=_lies)
    HOSTILE[f"in_order_lie{_kind}"] = steps(*IO * 2, *AGAIN, size=3, in_order=1, used_batch=_kind % 4,
                                            lies=bytes([0, 0, 0x80 + _kind, _kind % 5, 0, 0, 0]) * 20)
    HOSTILE[f"awake_lie{_kind}"] = steps(*WAIT, "time", 9, *HALTED, "time", 9, size=3, mode=1, vectors=4,
                                         ports=2, lies=bytes([0, 0, 0, 0x80 + _kind, 0, 7]) * 20)
HOSTILE["lies_early"] = steps(*IO, size=3, early=1,
                              lies=bytes(60) + bytes([0x81, 0, 0, 0, 0, 0x82]) * 9)
HOSTILE["status_lies"] = steps(*IO, size=3, early=1,
                               lies=bytes([0x82] * 40) + bytes(20) + bytes([0x82] * 99))


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
