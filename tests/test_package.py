"""What `import pto_dialect` costs and offers."""

import subprocess
import sys

import pytest

import pto_dialect

HEAVY = ("ml_dtypes", "numpy", "xdsl", "lark", "click")


def test_import_loads_no_dependency() -> None:
    code = f"import pto_dialect, sys; print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_public_functions_are_those_of_the_api() -> None:
    from pto_dialect import api
    from pto_dialect.driver import task_graph
    from pto_dialect.runtime import api as launching
    from pto_dialect.runtime import group_api

    own = ["check", "compile", "compile_cpp", "emit_cpp", "parse", "print_module", "run"]
    assert pto_dialect.__all__ == sorted(["InParts", "PerCore", "TaskGraph", "compile_group", *own])
    for name in pto_dialect.__all__:
        places = (api,) if name in own else (launching, group_api, task_graph)
        assert any(getattr(pto_dialect, name) is getattr(place, name, None) for place in places)
        assert name in dir(pto_dialect)


def test_unknown_attribute() -> None:
    with pytest.raises(AttributeError, match="'pto_dialect' has no attribute 'launch'"):
        _ = pto_dialect.launch
