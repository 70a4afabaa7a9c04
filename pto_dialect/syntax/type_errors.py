"""The error that reading a type raises; the program parser turns it into a diagnostic at the right place."""


class TypeSyntaxError(Exception):
    """A spelling that is no legal type: rule id, message, and the extent inside the spelling."""

    def __init__(self, rule: str, message: str, start: int, end: int, help: str | None = None) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.start = start
        self.end = end
        self.help = help
