"""Number formats and arithmetic of the NPU: conversion, rounding, matrix multiply, L0C write-back.

Modules: ``formats`` (decode and encode storage), ``rounding``, ``matmul``, ``fma`` (the exact accumulation order) and
``fixpipe`` (accumulator write-back). Everything works on numpy arrays and does not depend on the IR.
"""
