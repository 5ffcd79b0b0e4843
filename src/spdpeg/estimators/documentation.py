"""Docstrings that say everything: the sections of a class are completed by those of its bases."""

import inspect
import re

_SECTIONS = ("Parameters", "Attributes")


def complete(cls: type) -> None:
    """Add what the direct bases document about parameters and attributes to the docstring of `cls`.

    Parameters that all estimators share are described once and still shown by `help` of each.
    """
    own = inspect.cleandoc(cls.__doc__ or "")
    summary, sections = _split(own)
    for name in _SECTIONS:
        inherited = (_split(inspect.cleandoc(base.__doc__ or ""))[1].get(name, "") for base in cls.__bases__)
        items = _first_of_each("\n".join(filter(None, (sections.get(name, ""), *inherited))))
        if items:
            sections[name] = items
    rest = [name for name in sections if name not in _SECTIONS]
    order = [name for name in _SECTIONS if name in sections] + rest
    cls.__doc__ = "\n\n".join([summary, *(f"{name}\n{'-' * len(name)}\n{sections[name]}" for name in order)])


def _first_of_each(section: str) -> str:
    """The section without items whose names an earlier one has: a class may give its bases' names another meaning."""
    known: set[str] = set()
    kept = []
    for item in re.split(r"\n(?=\S)", section):
        names = set(re.split(r",\s*", item.split(" :")[0]))
        if not names <= known:
            kept.append(item)
        known |= names
    return "\n".join(kept)


def _split(text: str) -> tuple[str, dict[str, str]]:
    """What comes before the first section, and the sections by name."""
    pieces = re.split(r"\n+(\w+)\n-{3,}\n", text)
    return pieces[0], dict(zip(pieces[1::2], pieces[2::2], strict=True))
