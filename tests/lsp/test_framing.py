"""Streams of bytes that are no messages: what is none is answered, and the next message is read."""

from __future__ import annotations

import json
import random
from io import BytesIO

import pytest
from groups import in_groups

pytest.importorskip("pygls", reason="the language server needs it")

from lsp_session import Session

from pto_dialect.lsp.framing import MOST_BYTES, UNREADABLE, Framing

GOOD = b'{"jsonrpc": "2.0", "method": "good"}'


def framed(body: bytes, line_end: bytes = b"\r\n") -> bytes:
    return b"Content-Length: %d" % len(body) + line_end * 2 + body


def bodies(stream: bytes) -> list[bytes]:
    """What pygls is given: bodies of the lengths that their headers state."""
    framing, found = Framing(BytesIO(stream)), []
    while line := framing.readline():
        assert line.startswith(b"Content-Length: ")
        assert framing.readline() == b"\r\n"
        body = framing.read(int(line.removeprefix(b"Content-Length: ")))
        if not body:
            break
        found.append(b"?" if json.loads(body).get("method") == UNREADABLE else body)
    return found


@in_groups(("stream", "found"), [
        (framed(GOOD), [GOOD]),
        (framed(GOOD, b"\n") * 2, [GOOD, GOOD]),
        (b"\r\n\r\n" + framed(GOOD), [GOOD]),
        (b"content-length:  36  \r\nContent-Type: x; charset=utf-8\r\n\r\n" + GOOD, [GOOD]),
        (b"Content-Length: -5\r\n\r\n" + framed(GOOD), [b"?", GOOD]),
        (b"Content-Length: -5\r\n\r\n{\"a\": 1}" + framed(GOOD), [b"?", GOOD]),
        (b"Content-Length: 5 6\r\n\r\n{}\n\n{}\r\n" + framed(GOOD), [b"?", GOOD]),
        (b"Content-Length: +5\r\n\r\nhello" + framed(GOOD), [b"?", GOOD]),
        (b"Content-Length: 0x5\r\n\r\nhello" + framed(GOOD), [b"?", GOOD]),
        (b"Content-Length:\r\n\r\nhello" + framed(GOOD), [b"?", GOOD]),
        (b"Content-Length: %d\r\n\r\n{}" % (MOST_BYTES + 1) + framed(GOOD), [b"?", GOOD]),
        (b"Content-Length: %s\r\n\r\n{}" % (b"9" * 5000) + framed(GOOD), [b"?", GOOD]),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} " + framed(GOOD), [b"?", GOOD]),
        (b"Content-Length: 0\r\n\r\n" + framed(GOOD), [b"?", GOOD]),
        (b"X-Other: 1\r\n\r\n{}" + framed(GOOD), [b"?", GOOD]),
        (b"GET / HTTP/1.1\r\nHost: here\r\n\r\n" + framed(GOOD), [b"?", GOOD]),
        (b"x" * 100_000 + b"\r\n\r\n" + framed(GOOD), [b"?", GOOD]),
        (b"Content-Length: 50\r\n\r\n" + GOOD, []),
        (b"Content-Length: 50", []),
        (b"", []),
    ])  # fmt: skip
def test_messages_and_what_is_none(stream: bytes, found: list[bytes]) -> None:
    assert bodies(stream) == found


def test_a_message_after_any_bytes_is_read() -> None:
    numbers = random.Random(1)
    parts = [b"\r\n", b"\n", b"Content-Length: ", b"content-length:", b"-1", b"12", b"{}", b"[[", b"\0", b"\xff", b"x:"]
    for _ in range(500):
        noise = b"".join(numbers.choices(parts, k=numbers.randrange(20)))
        # Bytes may be the beginning of a longer message, which then ends with the stream.
        found = bodies(noise.replace(b"12", b"-2") + b"\r\n\r\n" + framed(GOOD) * 2)
        assert found[-1:] == [GOOD]


@pytest.fixture(scope="module")
def session():
    running = Session()
    yield running
    assert running.end() == 0


DEEP = 200_000


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        (b"Content-Length: -5\r\n\r\n", -32700),
        (framed(b"[" * DEEP + b"]" * DEEP), -32700),
        (framed(b'{"jsonrpc":"2.0","id":77,"method":"x","params":' + b"[" * DEEP + b"]" * DEEP + b"}"), -32700),
        (framed(b'{"jsonrpc":"2.0","method":"x","params":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}"), -32700),
        (framed(b"{"), -32700),
        (framed(b"\xff"), -32700),
        (framed(b"5"), -32600),
        (framed(b"[1, 2]"), -32600),
        (framed(b'{"id": 3, "method": "shutdown"}'), -32600),
        (framed(b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "shutdown"}'), -32600),
        (framed(b'{"jsonrpc": "2.0", "id": 1, "method": 5}'), -32602),
        (framed(b'{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"a":1}}'), -32602),
    ],
)  # fmt: skip
def test_the_server_answers_and_continues(session: Session, stream: bytes, code: int) -> None:
    assert session.process.stdin is not None
    session.process.stdin.write(stream)
    session.process.stdin.flush()
    while "error" not in (answer := session.receive()):
        continue
    assert answer["error"]["code"] == code
    assert "result" in session.request("textDocument/foldingRange", {"textDocument": {"uri": "file:///t/a.pto"}})
