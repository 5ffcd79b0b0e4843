"""How results look in a notebook: a sentence, and a table below it."""

import html
from typing import Any

_CELL = "text-align:left;padding:.15em 1.2em .15em 0;vertical-align:top"


def card(sentence: str, facts: dict[str, Any]) -> str:
    """HTML with everything escaped; floats with six digits."""
    rows = "".join(
        f'<tr><th style="{_CELL};font-weight:normal;opacity:.7">{html.escape(name)}</th>'
        f'<td style="{_CELL}">{html.escape(_readable(value))}</td></tr>'
        for name, value in facts.items()
    )
    return f"<div><p><strong>{html.escape(sentence)}</strong></p><table>{rows}</table></div>"


def _readable(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
