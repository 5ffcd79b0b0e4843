"""All methods by the name in tables, and which of them can run here."""

import importlib.metadata

import peer_ours
import peer_sparse
import peer_structured
from peer_runs import Method

METHODS: dict[str, Method] = {**peer_ours.METHODS, **peer_structured.METHODS, **peer_sparse.METHODS}
PEERS = tuple(name for name in METHODS if name not in peer_ours.METHODS)


def version(package: str) -> str | None:
    """Of an installed package, R's glmnet among them; None if it is not installed."""
    if package == "glmnet":
        return peer_sparse.glmnet_version()
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
