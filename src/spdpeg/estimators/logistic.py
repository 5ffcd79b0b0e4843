"""Logistic regression for two classes and more."""

from dataclasses import dataclass

from .classification import Classifier


@dataclass(eq=False, repr=False, kw_only=True)
class LogisticClassifier(Classifier):
    """Base of the logistic models."""
