# SPDX-License-Identifier: BSD-2-Clause
"""How does a test make the kernel do what it never would? Through QEMU's debugger interface."""
import socket
import subprocess

from guest import TIMEOUT_S

# Where a 64-bit x86 keeps them in the "g" packet: 8 bytes each, from rax on.
REGISTERS = {"rsi": 4, "rdi": 5, "rsp": 7, "rip": 16}


def symbol(kernel: str, name: str) -> int:
    listing = subprocess.run(["nm", kernel], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        address, _, found = line.split(maxsplit=2)
        if found == name:
            return int(address, 16)
    raise AssertionError(f"{kernel} has no symbol {name}")


def extent(kernel: str, name: str) -> range:
    """The addresses of a function or an object, as far as the compiler has told its size."""
    listing = subprocess.run(["nm", "-S", kernel], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] == name:
            start = int(words[0], 16)
            return range(start, start + int(words[1], 16))
    raise AssertionError(f"{kernel} has no {name} of a known size")


class Debugger:
    """The remote serial protocol, as far as it is needed here. QEMU has to be started with -S."""

    def __init__(self) -> None:
        self._socket, self.theirs = socket.socketpair()
        self._socket.settimeout(TIMEOUT_S)
        self._seen = b""

    def words(self) -> list[str]:
        return ["-S", "-chardev", f"socket,id=gdb,fd={self.theirs.fileno()}",
                "-gdb", "chardev:gdb"]

    def _send(self, text: str) -> None:
        self._socket.sendall(f"${text}#{sum(text.encode()) & 0xFF:02x}".encode())

    def _receive(self) -> str:
        while b"#" not in self._seen or len(self._seen.split(b"#", 1)[1]) < 2:
            data = self._socket.recv(4096)
            assert data, "QEMU closed its debugger interface"
            self._seen += data
        packet, rest = self._seen.split(b"#", 1)
        self._seen = rest[2:]
        self._socket.sendall(b"+")
        return packet.split(b"$", 1)[1].decode()

    def ask(self, text: str) -> str:
        self._send(text)
        answer = self._receive()
        assert not answer.startswith("E"), f"debugger: {text}: {answer}"
        return answer

    def run_to(self, address: int) -> None:
        self.ask(f"Z1,{address:x},1")
        assert self.ask("c").startswith("T05")
        self.ask(f"z1,{address:x},1")

    def read(self, address: int, length: int) -> bytes:
        return bytes.fromhex(self.ask(f"m{address:x},{length:x}"))

    def write(self, address: int, data: bytes) -> None:
        assert self.ask(f"M{address:x},{len(data):x}:{data.hex()}") == "OK"

    def register(self, name: str) -> int:
        at = REGISTERS[name] * 8
        return int.from_bytes(bytes.fromhex(self.ask("g"))[at:at + 8], "little")

    def set_register(self, name: str, value: int) -> None:
        registers, at = bytearray.fromhex(self.ask("g")), REGISTERS[name] * 8
        registers[at:at + 8] = value.to_bytes(8, "little")
        assert self.ask(f"G{registers.hex()}") == "OK"

    def detach(self) -> None:
        self.ask("D")

    def close(self) -> None:
        self._socket.close()
        self.theirs.close()
