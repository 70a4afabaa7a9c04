"""A copy of the server becomes the process of a call: its streams, folder, environment, arguments and signals."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress

from . import endpoint
from .caller import Caller, Refused
from .endpoint import FORWARDED

_OF_SIGNALS = 128
"""Codes from here on name a signal; its sender may count on the end of the process."""

_STREAMS = (("stdin", "rb"), ("stdout", "wb"), ("stderr", "wb"))


class Call:
    """A request that was understood; ``descriptors`` are closed where it is refused. ``blocked`` are the signals that
    its process does not listen to once its command can take the others, ``caller`` who waits for its end."""

    def __init__(self, request: bytes, descriptors: list[int], identity: str) -> None:
        self.descriptors = descriptors
        self.blocked: set[int] = set()
        self.caller: Caller | None = None
        fields = request.split(b"\0")
        try:
            own, mask, ignored, count = (os.fsdecode(field) for field in fields[:4])
            self.mask, number = int(mask), int(count)
            self.ignored = ignored.split()
            words = fields[4:]
            self.arguments = [os.fsdecode(word) for word in words[:number]]
            self.variables = dict(word.split(b"=", 1) for word in words[number:])
            # A negative number would take the arguments from the end.
            right = own == identity and len(descriptors) == endpoint.DESCRIPTORS and 0 < number <= len(words)
        except ValueError:
            right = False
        if not right:
            self.close()
            raise Refused

    def close(self) -> None:
        """Lets go of the files of the call."""
        for number in self.descriptors:
            os.close(number)

    def restore_signals(self) -> None:
        """Signals do what they do in a process that has just begun, or nothing where the caller ignores them."""
        for name in (*FORWARDED, "SIGCHLD"):
            number = getattr(signal, name)
            usual = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
            signal.signal(number, signal.SIG_IGN if name in self.ignored else usual)


class _Carried:
    """What this process carries out."""

    call: Call | None = None


def listen() -> None:
    """Lets the signals through that have waited while this process became that of a call."""
    if _Carried.call is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, _Carried.call.blocked)


def become(call: Call) -> None:
    """Makes this process that of a call; it takes signals from :func:`listen` on."""
    _Carried.call = call
    for number, own in zip(range(3), call.descriptors, strict=False):
        os.dup2(own, number)
    os.fchdir(call.descriptors[3])
    call.close()
    os.umask(call.mask)
    os.environb.clear()
    os.environb.update(call.variables)
    sys.argv[:] = call.arguments
    for number, (name, mode) in enumerate(_STREAMS):
        stream = _stream(number, mode, getattr(sys, f"__{name}__"))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _stream(number: int, mode: str, old: io.TextIOWrapper) -> io.TextIOWrapper:
    """A standard stream as Python makes it at its start; encoding and errors depend on the identity of the server."""
    # PYTHONUNBUFFERED leaves out the buffer.
    binary = open(number, mode, 0 if isinstance(old.buffer, io.RawIOBase) else -1, closefd=False)  # noqa: SIM115
    interactive = os.isatty(number) or number == 2
    return io.TextIOWrapper(
        binary,
        old.encoding,
        old.errors,
        "\n",
        line_buffering=interactive,
        write_through=old.write_through,
    )


def finish(end: SystemExit) -> None:
    """Ends the process of a call with a code. Where standard output cannot be written, Python's own end says so."""
    code = end.code
    if code is None:
        code = 0
    if not isinstance(code, int):
        return
    with suppress(Exception):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        if _Carried.call is not None and _Carried.call.caller is not None and 0 <= code < _OF_SIGNALS:
            # Everything is written. The server could only report it when the memory of this process is released as
            # well.
            _Carried.call.caller.say(endpoint.EXITED + bytes((code,)))
        os._exit(code & 0xFF)
