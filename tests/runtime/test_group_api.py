"""Functions that start together: where they run, what each of them takes, what cannot start together."""

from __future__ import annotations

import numpy as np
import pytest
from group_programs import cube, module, vector
from queue_programs import CubeToVector

import pto_dialect
from pto_dialect import PerCore
from pto_dialect.api import VerifyError
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.group_api import compile_group


def parts(*texts: str) -> list[pto_dialect.api.Module]:
    return [pto_dialect.parse(module(text)) for text in texts]


def run(members, blocks: int = 2, jobs: int = 1) -> list[int]:
    group = compile_group(members)
    between, out = np.zeros(blocks, np.int32), np.zeros(2 * blocks, np.int32)
    group([between, PerCore("block"), PerCore("block + 7")], {"arg0": between, "arg1": out}, blocks=blocks, jobs=jobs)
    assert between.tolist() == [7 + block for block in range(blocks)]
    return out.tolist()


@pytest.mark.parametrize("jobs", [1, 2])
def test_functions_of_several_modules(jobs: int) -> None:
    one, other = parts(cube(), vector())
    assert run([(one, "produce"), (other, "consume")], 3, jobs) == [70, 70, 80, 80, 90, 90]


def test_functions_of_one_module() -> None:
    (both,) = parts(cube() + vector())
    assert run([(both, "produce"), (both, "consume")]) == [70, 70, 80, 80]


def test_equal_names_of_functions() -> None:
    one, other = parts(cube(name="k"), vector(name="k"))
    group = compile_group([(one, "k"), (other, "k")])
    assert group.functions == ["k", "k_1"]
    assert group.arguments[0] == ["arg0", "arg1", "arg2"]
    assert "def f_k" in group.source


def test_functions_that_do_not_say_where_they_run() -> None:
    one, other = parts(cube(kind=False), vector(kind=False))
    assert run([(one, "produce", "cube"), (other, "consume", "vector")]) == [70, 70, 80, 80]


def test_the_first_vector_core_alone() -> None:
    # The signal of the cube core reaches the one vector core that there is; sub-block 1 has nothing to do.
    one, other = parts(cube(), vector())
    assert run([(one, "produce"), (other, "consume", "vector0")]) == [70, 0, 80, 0]


def test_each_vector_core_has_a_function_of_its_own() -> None:
    first, second = parts(vector(wait=False), vector(wait=False, name="other"))
    second_out, first_out = np.zeros(2, np.int32), np.zeros(2, np.int32)
    group = compile_group([(first, "consume", "vector0"), (second, "other", "vector1")])
    group([np.array([3], np.int32), first_out], [np.array([5], np.int32), second_out])
    assert first_out.tolist() == [30, 0]
    assert second_out.tolist() == [0, 50]


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
def test_queues_lead_from_one_module_to_the_other(arch: str) -> None:
    text = CubeToVector(arch=arch).text()
    start = text.index("  func.func @vector")
    head = text[: text.index("  func.func @cube")]
    one, other = pto_dialect.parse(text[:start] + "}\n"), pto_dialect.parse(head + text[start:])
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((16, 16), np.float32), rng.standard_normal((48, 32), np.float32)
    out, slots = np.zeros((4096, 64), np.float32), np.zeros(8192, np.float32)
    compile_group([(one, "cube"), (other, "vector")])(
        {"gm_a": a, "gm_b": b, "gm_slots": slots}, {"gm_out": out, "gm_slots": slots}
    )
    wanted = np.concatenate([a @ b[i * 16 : i * 16 + 16] for i in range(3)])
    np.testing.assert_allclose(out[:48, :32], wanted, rtol=1e-5, atol=1e-5)
    whole = pto_dialect.parse(text)
    again = np.zeros_like(out)
    pto_dialect.run(whole, {"gm_a": a, "gm_b": b, "gm_out": again, "gm_slots": slots})
    assert out.tobytes() == again.tobytes()


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([], "a group has at least one function"),
        ([("c", "produce"), ("c", "produce")], "@produce and @produce_1 of one group both run on the cube core"),
        ([("v", "consume"), ("v", "consume", "vector1")], "both run on the second vector core"),
        ([("v", "consume", "vector1")], "@consume runs on the second vector core, and nothing runs on the first one"),
        ([("c", "produce", "vector")], "@produce is a cube kernel, which does not run on 'vector'"),
        ([("c", "produce", "aic")], "functions run on cube, vector, vector0, vector1, not on 'aic'"),
        ([("n", "consume")], '@consume does not say where it runs; give core = "cube" or "vector"'),
        ([("c", "produce"), ("five", "consume")], "@consume is for a5, but @produce, which starts with it, for a2a3"),
    ],
)
def test_what_cannot_start_together(members, message: str) -> None:
    one, other, without = parts(cube(), vector(), vector(kind=False))
    modules = {"c": one, "v": other, "n": without, "five": pto_dialect.parse(module(vector(), "a5"))}
    with pytest.raises(BindingError) as caught:
        compile_group([(modules[name], *rest) for name, *rest in members], verify=False)
    assert message in str(caught.value)


def test_a_function_that_is_not_there() -> None:
    with pytest.raises(ProgramError, match="no function @prduce; did you mean produce"):
        compile_group([(parts(cube())[0], "prduce")])


def test_modules_are_verified_together() -> None:
    text = CubeToVector().text()
    alone = pto_dialect.parse(text[: text.index("  func.func @vector")] + "}\n")
    with pytest.raises(VerifyError, match="there is no function @vector"):
        compile_group([(alone, "cube")])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "the group has 2 functions, found arguments for 1"),
        (([1], {}), "@produce takes 3 arguments, found 1: arg0 : !pto.ptr<i32, gm>, arg1 : index, arg2 : i32"),
        (
            ([1, 2, 3], {"arg0": 1}),
            "no value for argument arg1; @consume takes "
            "arg0 : !pto.ptr<i32, gm>, arg1 : !pto.ptr<i32, gm>, "
            "__pypto_spmd_block_idx : i32, __pypto_spmd_subblock_idx : i32",
        ),
        (([1, 2, 3], {"arg0": 1, "1": 2, "x": 3}), "@consume has no arguments called x"),
    ],
)
def test_arguments_that_do_not_fit(arguments, message: str) -> None:
    one, other = parts(cube(), vector())
    with pytest.raises(BindingError) as caught:
        compile_group([(one, "produce"), (other, "consume")])(*arguments)
    assert str(caught.value) == message
