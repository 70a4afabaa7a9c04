"""Random functions of scalars: what the translated program stores equals what Python computes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from random_functions import STORES, evaluate, random_body, to_llvm

import pto_dialect
from pto_dialect.cpp.translate import translate_module

ARGUMENTS = ((0, 0, 0), (3, -7, 12), (-1, 100, 5), (2**31 - 1, -(2**31), 6))
BATCHES = 6
FUNCTIONS = 40


@pytest.mark.parametrize("batch", range(BATCHES))
def test_translated_functions_store_what_python_computes(batch: int) -> None:
    for seed in range(batch * FUNCTIONS, (batch + 1) * FUNCTIONS):
        body = random_body(random.Random(seed))
        text = translate_module([("", to_llvm(body, 3))], entry="k")
        kernel = pto_dialect.compile(pto_dialect.parse(text), "k")
        for arguments in ARGUMENTS:
            out = np.zeros(STORES, np.int32)
            kernel(out, *arguments)
            assert out.tolist() == evaluate(body, list(arguments)), f"seed {seed}, arguments {arguments}\n{text}"
