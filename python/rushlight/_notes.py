"""Notes on what is accepted and does nothing; each is shown once."""

import warnings

_shown = set()


def note(text):
    """Warns of it, the first time."""
    if text not in _shown:
        _shown.add(text)
        warnings.warn(text, UserWarning, stacklevel=3)
