# SPDX-License-Identifier: BSD-2-Clause
"""How are console text and the JSON report told apart, and is that JSON whole?"""
import json

BEGIN, END = b"ringlab-json-begin", b"ringlab-json-end"


class Console:
    """Takes what COM1 says as it comes; gives back what is to be shown at once.

    With cut_json, what stands between the marker lines is collected and not shown. A line is held
    back only while it may still become a marker.
    """

    def __init__(self, cut_json: bool):
        self.cut_json = cut_json
        self.shown = bytearray()
        self.json_text = bytearray()
        self._pending = b""
        self._line_open = False     # the start of this line was shown already
        self._in_json = False

    def feed(self, data: bytes) -> bytes:
        data = self._pending + data
        keep = data.endswith(b"\r")  # half of a line's end, perhaps
        lines = (data[:-1] if keep else data).replace(b"\r\n", b"\n").split(b"\n")
        rest = lines.pop()
        out = b"".join(self._whole_line(line) for line in lines)
        if self._in_json or (self.cut_json and not self._line_open and BEGIN.startswith(rest)):
            self._pending = rest
        else:
            out += rest
            self._line_open |= bool(rest)
            self._pending = b""
        self._pending += b"\r" if keep else b""
        self.shown += out
        return out

    def _whole_line(self, line: bytes) -> bytes:
        starts_here, self._line_open = not self._line_open, False
        if self._in_json:
            self._in_json = line != END
            if self._in_json:
                self.json_text += line + b"\n"
            return b""
        if self.cut_json and starts_here and line == BEGIN:
            self._in_json = True
            return b""
        return line + b"\n"

    def finish(self) -> bytes:
        """What was held back, once there is no more to come."""
        rest, self._pending = self._pending, b""
        if self._in_json:
            self.json_text += rest
            return b""
        self.shown += rest
        return rest

    def last_line(self) -> str:
        lines = [line for line in self.shown.decode(errors="replace").splitlines() if line.strip()]
        return lines[-1].strip() if lines else ""


def parse_report(text: str) -> tuple[dict | None, str]:
    """The report and "", or None and what is wrong. It starts at the first line that is '{'."""
    lines = text.splitlines()
    if not any(line.strip() for line in lines):
        return None, "no JSON arrived"
    starts = [number for number, line in enumerate(lines) if line.rstrip() == "{"]
    if not starts:
        return None, "the JSON is broken: no line is '{' alone"
    try:
        report = json.loads("\n".join(lines[starts[0]:]))
    except json.JSONDecodeError as error:
        line = starts[0] + error.lineno
        at = lines[line - 1].strip() if line <= len(lines) else "the end"
        return None, f"the JSON is broken: line {line}: {error.msg}, at: {at[:60]}"
    if not isinstance(report.get("jobs"), list):
        return None, "the JSON is broken: it has no list 'jobs'"
    return report, ""
