"""Two sentences that say what came out, made from the duels."""

from .claims import CONDITIONS, MOSTLY, Duel, Tally, tally
from .methods import AUTHORS, ONE_TUNED, PRINTED, TUNED
from .values import Table


def conclude(table: Table, found: list[Duel]) -> list[str]:
    """The counts under the conditions that matter, and whose ranking holds; nothing if a side is missing."""
    counts = {(c.ours, c.rivals): _both(table, found, number) for number, c in enumerate(CONDITIONS)}
    theirs, printed = counts[AUTHORS, AUTHORS], counts[PRINTED, TUNED]
    tuned, one = counts[TUNED, TUNED], counts[ONE_TUNED, TUNED]
    if not (theirs.total and printed.total and tuned.total and one.total):
        return []
    first = (
        f"With the authors' program and parameters SPDPEG is ahead of all rivals in {theirs.ahead} of {theirs.total} "
        f"comparisons at equal passes and behind one of them beyond chance in {theirs.behind}{_where(table)}; with the "
        f"rivals tuned, "
        f"Algorithm 1 as printed is ahead in {printed.ahead} of {printed.total}, tuned like them in {tuned.ahead} of "
        f"{tuned.total}, and the authors' one-sample program tuned in {one.ahead} of {one.total}."
    )
    fair = max((tuned, one), key=lambda counts: counts.ahead / counts.total)
    second = (
        f"So the paper's ranking {_verdict(theirs)} under the authors' own settings, {_verdict(printed)} for the "
        f"printed algorithm against tuned rivals, and {_verdict(fair)} where all methods are tuned alike."
    )
    return [first, second]


def _where(table: Table) -> str:
    """Which sets the authors' parameters are compared on, if not on all."""
    some = any(len(table.sets(task, AUTHORS)) < len(table.sets(task)) for task in table.methods)
    return " on the sets that they have parameters for" if some else ""


def _both(table: Table, found: list[Duel], condition: int) -> Tally:
    tallies = [tally(found, condition, task, "passes") for task in table.methods]
    return Tally(*(sum(column) for column in zip(*tallies, strict=True)))


def _verdict(counts: Tally) -> str:
    words = {
        "supported": "holds in most comparisons",
        "not supported": "is not supported",
        "contradicted": "is contradicted",
    }
    return words[counts.outcome(MOSTLY)]
