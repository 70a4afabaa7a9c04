"""Diagnostics of C++ kernels: when they are opened, and when they are saved."""

from pathlib import Path

from lsp_session import Session

KERNEL = """#include <pto/pto-inst.hpp>
using namespace pto;
__global__ AICORE void k(__gm__ float *x) {
  Tile<TileType::Vec, float, 1, 64> t;
  TASSIGN(t, 0);
  GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 64, 1>> g(x);
  TLOAD(t, g);
}
"""


def test_kernel_is_checked_when_it_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "a k.cpp"
    path.write_text(KERNEL, encoding="utf-8")
    uri = f"file://{tmp_path}/a%20k.cpp"
    session = Session()
    session.open(uri, KERNEL)
    assert session.diagnostics(uri, None) == []
    path.write_text(KERNEL.replace("TLOAD(t, g)", "TLOAD(t, h)"), encoding="utf-8")
    session.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    [found] = session.diagnostics(uri, None)
    assert found["range"] == {"start": {"line": 6, "character": 11}, "end": {"line": 6, "character": 12}}
    assert (found["code"], found["message"]) == ("cpp-compile", "use of undeclared identifier 'h'")
    path.write_text(KERNEL.replace("TASSIGN(t, 0)", "TASSIGN(t, 1)"), encoding="utf-8")
    session.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    found, *_ = session.diagnostics(uri, None)
    assert found["range"]["start"] == {"line": 4, "character": 2}
    assert session.end() == 0


def test_host_code_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text("int main() { return missing; }\n", encoding="utf-8")
    uri = f"file://{tmp_path}/main.cpp"
    session = Session()
    session.open(uri, "int main() { return missing; }\n")
    assert session.diagnostics(uri, None) == []
    assert session.end() == 0
