"""Integrations with other tools: compilers and runtimes as clients, PyTorch, pytest.

`base` is what all of them need: programs from text, memory, launches, events. `function` runs a program from a plain
Python function, `torch_ops` as a custom operation of PyTorch, `pypto` is the platform of PyPTO, `pytest_plugin`
sanitizes the kernels of a test session.
"""
