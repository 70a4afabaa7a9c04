"""Certificates of proven orders, and their checker, which shares no code with the prover.

Source: docs/reference/order-proof.md, "Certificates".
"""
