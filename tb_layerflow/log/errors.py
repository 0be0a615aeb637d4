"""The one exception of reading a log: a sentence for people. Knows nothing of what is read."""

from __future__ import annotations


class LogError(ValueError):
    """Something in a log is damaged, too large or too new. The message is a sentence that says which, and what to do."""
