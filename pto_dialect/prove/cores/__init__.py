"""Signals and queues between cores, as the prover follows them.

Source: docs/reference/order-proof.md, "Other cores", "Several cores".
"""
