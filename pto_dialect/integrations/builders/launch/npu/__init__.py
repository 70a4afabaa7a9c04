"""A stand-in for `torch_npu`, PyTorch's extension for Ascend devices, on the memory of the host.

The device `npu` exists, and its tensors are CPU tensors: `device` has PyTorch create and copy them there, `runtime` has
streams, events and properties, `module` is `torch_npu` itself. See docs/ptodsl.md, "PyTorch".
"""
