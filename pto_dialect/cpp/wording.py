"""Messages about a translated kernel in the spelling of C++: ``TADD`` for ``pto.tadd``, ``set_flag(PIPE_V, …)``.

Source: docs/cpp.md, "What messages say".
"""

from __future__ import annotations

import re

_NAME = r"""\s*[<"]?%?(\w+)[>"]?\s*"""
_FLAG = re.compile(rf"pto\.((?:set|wait)_flag)(?:_dyn)?\[{_NAME},{_NAME},{_NAME}\]")
_BARRIER = re.compile(r"pto\.barrier\s*(?:#pto\.pipe)?<(\w+)>")
_TILE_OPERATION = re.compile(
    r"(?<!!)pto\.(?:comm\.)?((?:t(?!ensor_|ile_|arget_)[a-z]|mgather|mscatter|syncall)\w*(?:\.\w+)*)(?![\w.]*=)"
)
_SIDE = re.compile(r"\b(TPUSH|TPOP|TFREE)_(?:TO|FROM)_AI[CV]\b")
"""An operation of a queue with the core at its other end, which the queue states in C++."""
_OTHERS = {
    "pto.barrier": "pipe_barrier",
    "pto.alloc_tile": "TASSIGN",
    "pto.addptr": "pointer arithmetic",
    "pto.castptr": "a pointer",
    "pto.set_ffts": "set_ffts_base_addr",
    "pto.sync.set": "ffts_cross_core_sync",
    "pto.sync.wait": "wait_flag_dev",
    "pto.load_scalar": "reading an element",
    "pto.store_scalar": "writing an element",
    "pto.local_array_get": "reading an element",
    "pto.local_array_set": "writing an element",
    "pto.tgetval": "GetValue",
    "pto.tsetval": "SetValue",
    "pto.subview": "TSUBVIEW",
    "pto.trap": "trap",
    "pto.make_tensor_view": "GlobalTensor",
    "pto.partition_view": "GlobalTensor",
    "pto.comm.wait_async_event": "Wait",
}
_OTHER = re.compile(rf"(?<!!)\b(?:{'|'.join(map(re.escape, _OTHERS))})\b(?![.=])")
_SIGNAL = re.compile(r"\bpto\.(set_flag|wait_flag|(?:set|wait)_intra_block|dcci|dsb|mem_bar|get_\w+)(?:_dyn)?\b")
_VARIABLE = re.compile(r"%([A-Za-z]\w*?)(?:_\d+)?(?![\w.$\-])")


_MADE = re.compile(r"%?c_?\d+(?:_\w+)? is defined here")


def in_cpp(text: str) -> str:
    """Returns a message with operations, flags and values as a C++ kernel spells them; nothing for one about a constant
    that has no line of its own."""
    if _MADE.fullmatch(text):
        return ""
    text = _FLAG.sub(r"\1(\2, \3, \4)", text)
    text = _BARRIER.sub(r"pipe_barrier(\1)", text)
    text = _OTHER.sub(lambda found: _OTHERS[found[0]], text)
    text = _TILE_OPERATION.sub(lambda found: found[1].upper().replace(".", "_"), text)
    text = _SIDE.sub(r"\1", text)
    return _VARIABLE.sub(r"\1", _SIGNAL.sub(r"\1", text))
