# SPDX-License-Identifier: BSD-2-Clause
"""Does each interface read the same bytes, whatever ring, size and registers the device has?

All of split and packed x queue-size x event_idx x indirect_desc x queue_reset x modern-pio-notify x
page-per-vq; each other one of these on a transitional device, so that any seven of the eight meet
in each way; and all of legacy x queue-size x event_idx x indirect_desc. Sixteen disks share a boot,
each with a job of its own on the first or the second of its queues, whose checksum is that of the
image.
"""
import itertools

import pytest

from guest import file_disk
from images import Image
from smp import cpus

SECTORS = 515  # 256 KiB and three sectors: no block size but 512 divides it
QUEUE_SIZES = (4, 8, 128, 1024)
SWITCH = ("on", "off")
DISKS = list(itertools.product(QUEUE_SIZES, SWITCH, SWITCH))
SHAPES = list(itertools.product(("4k", "64k", "2k", "192k", "16k"), (1, 3, 64),
                                ("contiguous", "scattered")))
POLICIES = ("always", "threshold", "threshold:auto", "never", "threshold:3", "auto")
MODES = ("poll", "irq", "hybrid")
INTERFACES = ("disable-legacy=on", "disable-legacy=off")
BOOTS = list(itertools.product(("split", "packed"), SWITCH, SWITCH, SWITCH))
LEGACY = [("disable-modern=on", "auto"), ("disable-modern=off", "legacy")]
FILE = "file.locking=off,read-only=on"


@pytest.fixture(scope="module")
def stamped(tmp_path_factory):
    image = Image(tmp_path_factory.mktemp("images") / "small.img", SECTORS)
    yield image
    assert image.unchanged()


def disks_of(stamped, device):
    """Eight functions of one slot each, so that a bus has room for more than its 32 slots."""
    place = "num-queues=2,multifunction=on,addr="
    return [file_disk(stamped.path, f"{text},{place}{1 + n // 8:#x}.{n % 8}", FILE)
            for n, text in enumerate(device)]


def parity(*numbers):
    """Of the bits that are 1: another one when any of what the numbers stand for is another."""
    return sum(number.bit_count() for number in numbers) % 2


def jobs_of(first):
    """A job for each disk; which shape it has moves on from one boot to the next."""
    words = []
    for n in range(len(DISKS)):
        bs, depth, buffers = SHAPES[(first + 7 * n) % len(SHAPES)]
        words.append(f"name=d{n} filename=vd{chr(ord('a') + n)} stonewall bs={bs} iodepth={depth} "
                     f"buffers={buffers} cpus_allowed={parity(n)}")
    return " ".join(words)


def whole(out, stamped):
    """What each disk said of itself, after its bytes were seen to be those of the image."""
    disks = out.json["ringlab"]["devices"]
    for said, job, (size, *_) in zip(disks, out.json["jobs"], DISKS, strict=True):
        own = job["ringlab"]
        assert [queue["size"] for queue in said["queue_map"]] == [size] * 2
        assert own["queue"] == own["cpu"] == int(job["job options"]["cpus_allowed"])
        assert int(own["crc32c"], 16) == stamped.crc(), (job["jobname"], own)
        assert own["crc32c_valid"] and job["read"]["io_bytes"] == stamped.size
        assert own["timeouts"] == own["wakeups_missed"] == 0
    return zip(disks, out.json["jobs"], DISKS, strict=True)


def accepted(device, name):
    return device["features"].get(name) == "accepted"


@pytest.mark.parametrize("number", range(len(BOOTS)), ids=["-".join(b) for b in BOOTS])
@pytest.mark.conformance("FEAT-06", "CONF-02", "CONF-04", "RSVD-01", "PCI-CAP-01")
def test_every_combination(boot, stamped, number):
    ring, event_idx, indirect, reset = BOOTS[number]
    policy = POLICIES[number // 2 % len(POLICIES)] if indirect == "on" else "auto"
    mode = MODES[number % len(MODES)]
    common = (f"packed={'on' if ring == 'packed' else 'off'},event_idx={event_idx},"
              f"indirect_desc={indirect},queue_reset={reset}")
    device = [f"{INTERFACES[parity(n, number)]},{common},queue-size={size},modern-pio-notify={pio},"
              f"page-per-vq={page}" for n, (size, pio, page) in enumerate(DISKS)]
    out = boot(f"rw=read hash=crc32c blk.indirect={policy} blk.mode={mode} {jobs_of(16 * number)}",
               *disks_of(stamped, device), json=True, accel=cpus(2))
    for said, job, _ in whole(out, stamped):
        assert said["transport"] == "modern"
        own = job["ringlab"]
        assert (own["ring"], own["mode"]) == (ring, mode)
        for name, switch in (("event_idx", event_idx), ("indirect_desc", indirect),
                             ("ring_reset", reset)):
            assert accepted(said, name) == (switch == "on"), (name, said)
        assert accepted(said, "ring_packed") == (ring == "packed")


@pytest.mark.parametrize("device, transport", LEGACY, ids=["legacy", "transitional"])
@pytest.mark.parametrize("indirect, policy, mode", [("on", "always", "poll"),
                                                    ("off", "auto", "irq")])
@pytest.mark.conformance("LEG-02", "LEG-04", "LEG-05", "LEG-11", "LEG-12", "LEG-13", "LEG-15",
                         "CONF-02", "CONF-03")
def test_f065_legacy(boot, stamped, device, transport, indirect, policy, mode):
    """In legacy use: what only the modern interface has is there, and plays no part."""
    disks = [f"{device},queue-size={size},event_idx={event_idx},indirect_desc={indirect},"
             f"packed={packed},modern-pio-notify={SWITCH[parity(n)]},page-per-vq={SWITCH[n // 4 % 2]}"
             for n, (size, event_idx, packed) in enumerate(DISKS)]
    out = boot(f"rw=read hash=crc32c virtio.transport={transport} blk.indirect={policy} "
               f"blk.mode={mode} {jobs_of(7)}", *disks_of(stamped, disks), json=True, accel=cpus(2))
    for said, job, (_, event_idx, _) in whole(out, stamped):
        assert said["transport"] == "legacy"
        own = job["ringlab"]
        assert (own["ring"], own["mode"]) == ("split", mode)
        assert accepted(said, "event_idx") == (event_idx == "on")
        assert accepted(said, "indirect_desc") == (indirect == "on")
