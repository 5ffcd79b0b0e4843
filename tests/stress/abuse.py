"""Bad input to everything public: an error of `spdpeg.errors` on one line, or a result; nothing else."""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from spdpeg.errors import SpdpegError

from .fuzz import where
from .junk import JUNK
from .outcome import Outcome, Verdict
from .recipes import recipes


def run(seed: int) -> Outcome:
    """Call something with one or two arguments replaced by what does not belong there."""
    rng = np.random.default_rng([5, seed])
    name, function, sound = recipes()[int(rng.integers(len(recipes())))]
    bad = [
        str(key) for key in rng.choice(list(sound), size=min(len(sound), 1 + int(rng.random() < 0.2)), replace=False)
    ]
    arguments = {key: value() if callable(value) else value for key, value in sound.items()}
    for key in bad:
        arguments[key] = JUNK[int(rng.integers(len(JUNK)))]()
    shown = ", ".join(f"{key}={_short(arguments[key])}" for key in bad)
    outcome = Outcome(seed, Verdict.PASSED, case=f"seed {seed}: {name}({shown})", kinds={"function": name})
    begun = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(**arguments)
    except SpdpegError as error:
        outcome.verdict, outcome.reason = Verdict.REFUSED, str(error)
        if "\n" in str(error) or not str(error):
            outcome.verdict = Verdict.RAW
    except (NotFittedError, OSError) as error:  # scikit-learn's own, and what the system says of a path
        outcome.verdict, outcome.reason = Verdict.REFUSED, str(error)
    except Exception as error:
        outcome.verdict, outcome.reason = Verdict.RAW, where(error)
    outcome.seconds = time.perf_counter() - begun
    return outcome


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    shape = f" {np.shape(value)}" if isinstance(value, np.ndarray) else ""
    return text[:70] + shape
