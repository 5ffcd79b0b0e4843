"""
Text with a graph of words
==========================

Most words are rare, and a rare word tells a classifier little. If a graph says which words mean nearly the same,
those that were seen often lend their coefficient to those that were not::

    mean logistic loss  +  lam1 * |x|^2 / 2  +  lam2 * sum over joined words (j, k) of |x_j - x_k|
"""

# %%
# Short reviews, made by a generator so that the page needs no download: each sentence takes one word of praise or
# blame, and some words that say nothing. Forty reviews to learn from are few for some thirty words.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from spdpeg import GraphGuidedLogisticRegression

PRAISE = ["good", "great", "fine", "lovely", "superb", "splendid", "excellent", "charming"]
BLAME = ["bad", "poor", "awful", "dreadful", "dull", "tedious", "feeble", "clumsy"]
OTHER = ["film", "actor", "scene", "music", "story", "camera", "light", "voice", "street", "evening", "plot"]


def reviews(count, seed):
    """Texts, and whether they praise."""
    rng = np.random.default_rng(seed)
    liked = rng.integers(0, 2, count).astype(bool)
    often = np.array([8, 4, 2, 1, 1, 1, 1, 1]) / 19
    words = [[*rng.choice(PRAISE if like else BLAME, 2, p=often), *rng.choice(OTHER, 6)] for like in liked]
    return [" ".join(line) for line in words], liked


# %%
# The graph joins words of one meaning, as a thesaurus or the nearest neighbours of word vectors would. Its nodes are
# the words; words that it does not know stay alone.

vectorizer = CountVectorizer(vocabulary=[*PRAISE, *BLAME, *OTHER])
columns = {word: number for number, word in enumerate(vectorizer.vocabulary)}
synonyms = nx.union(nx.cycle_graph(PRAISE), nx.cycle_graph(BLAME))
edges = [(columns[a], columns[b]) for a, b in synonyms.edges]

texts, liked = reviews(40, seed=0)
unseen, liked_unseen = reviews(2000, seed=1)
models = {}
for lam2 in (0.0, 0.05):
    classifier = GraphGuidedLogisticRegression(edges, lam1=0.05, lam2=lam2)
    models[lam2] = make_pipeline(vectorizer, classifier).fit(texts, liked)
    print(f"lam2 = {lam2:<4}: accuracy {models[lam2].score(unseen, liked_unseen):.3f} on new reviews")

# %%
# Without the graph, words that the forty reviews never used have the coefficient zero. With it they have that of
# their neighbours.

counts = np.asarray(vectorizer.transform(texts).sum(axis=0)).ravel()
figure, panel = plt.subplots(figsize=(9, 3.8), layout="constrained")
words = [*PRAISE, *BLAME]
for shift, (lam2, model) in zip((-0.2, 0.2), models.items(), strict=True):
    panel.bar(np.arange(len(words)) + shift, model[-1].coef_[0, : len(words)], width=0.4, label=f"lam2 = {lam2}")
panel.axhline(0.0, color="0.5", linewidth=0.8)
panel.set_xticks(range(len(words)), [f"{w} ({counts[columns[w]]})" for w in words], rotation=60, ha="right")
panel.set_ylabel("coefficient")
panel.legend(title="in brackets: times seen")

# %%
# Where a graph of words comes from
# ---------------------------------
#
# - A thesaurus such as WordNet, or the nearest neighbours of word vectors: pairs ``(i, j)`` of columns, or a
#   networkx graph over the names of the columns.
# - ``structure="knn"`` joins columns that occur in the same texts, ``structure="sics"`` those that depend on each
#   other given all others. Both are learned from the texts.
# - Words of opposite meaning must not be joined: the charge is for differences.
# - Sparse counts from ``CountVectorizer`` and ``TfidfVectorizer`` go in as they are.
