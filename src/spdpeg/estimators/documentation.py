"""Complete docstrings: the sections of a class are extended by those of its bases."""

import inspect
import re
from dataclasses import fields, is_dataclass

_SECTIONS = ("Parameters", "Attributes")


def complete(cls: type) -> None:
    """Add what the direct bases document about parameters and attributes to the docstring of `cls`.

    Parameters that all estimators share are described once and still shown by `help` of each.
    """
    own = inspect.cleandoc(cls.__doc__ or "")
    summary, sections = _split(own)
    for name in _SECTIONS:
        inherited = (_split(inspect.cleandoc(base.__doc__ or ""))[1].get(name, "") for base in _told_by(cls))
        items = _first_of_each("\n".join(filter(None, (sections.get(name, ""), *inherited))))
        if items:
            sections[name] = _in_order(items, _arguments(cls)) if name == "Parameters" else items
    rest = [name for name in sections if name not in _SECTIONS]
    order = [name for name in _SECTIONS if name in sections] + rest
    cls.__doc__ = "\n\n".join([summary, *(f"{name}\n{'-' * len(name)}\n{sections[name]}" for name in order)])


def _told_by(cls: type) -> list[type]:
    """The direct bases, and the bases of those that are not completed themselves."""
    found: list[type] = []
    for base in cls.__bases__:
        if base is not object:
            found += [base] if hasattr(base, "fit") else [base, *_told_by(base)]
    return found


def _arguments(cls: type) -> list[str]:
    """Names of the arguments of a class that is about to become a dataclass, in their order: keywords come last."""
    bases = [base for base in reversed(cls.__mro__) if is_dataclass(base)]
    keyword_only = {field.name: bool(field.kw_only) for base in bases for field in fields(base)}
    keyword_only.update(dict.fromkeys(inspect.get_annotations(cls), False))
    return sorted(keyword_only, key=keyword_only.__getitem__)


def _in_order(section: str, names: list[str]) -> str:
    """The items of a section in the order of these names."""
    items = re.split(r"\n(?=\S)", section)
    return "\n".join(sorted(items, key=lambda item: names.index(re.split(r"[ ,]", item)[0])))


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
    """The text before the first section, and the sections by name."""
    pieces = re.split(r"\n+([\w ]+)\n-{3,}\n", text)
    return pieces[0], dict(zip(pieces[1::2], pieces[2::2], strict=True))
