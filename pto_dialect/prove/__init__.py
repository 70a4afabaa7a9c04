"""The order between the pipes of a core, proven or refuted for every trip count and argument.

Source: docs/reference/order-proof.md, "Verdicts".
"""
