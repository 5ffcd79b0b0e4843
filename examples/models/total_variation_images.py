"""
Total-variation regularised models for images
=============================================

If each row is an image or a volume, so are the coefficients. Total variation makes them piecewise constant:
regions with a common value and sharp borders, instead of a cloud of single pixels::

    mean loss  +  lam1 * sum of |x_j|  +  lam2 * sum over neighbouring pixels (j, k) of |x_j - x_k|

Use it for brain maps, satellite images or any sensor on a grid, if you want to see *where* the information lies.
"""

# %%
# Two regions of the image count, one up and one down. There are fewer images than pixels.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LassoCV
from sklearn.model_selection import train_test_split

from spdpeg import TotalVariationClassifier, TotalVariationRegressor

rng = np.random.default_rng(0)
truth = np.zeros((20, 20))
truth[4:10, 4:10], truth[11:17, 9:17] = 1.0, -1.0
X = rng.standard_normal((300, truth.size))
y = X @ truth.ravel() + 4.0 * rng.standard_normal(300)
model = TotalVariationRegressor(truth.shape, lam1=0.01, lam2=0.3, random_state=0).fit(X, y)
lasso = LassoCV(cv=3).fit(X, y)

figure, panels = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for panel, coef, title in zip(panels, (truth, model.coef_, lasso.coef_), ("truth", "TV + l1", "lasso"), strict=True):
    panel.imshow(np.reshape(coef, truth.shape), cmap="RdBu_r", vmin=-1, vmax=1)
    panel.set(title=title, xticks=[], yticks=[])

# %%
# Classes of images
# -----------------
#
# Digits below 5 against the others. ``plot_coefficients`` knows the shape.

digits = load_digits()
images, images_test, high, high_test = train_test_split(digits.data / 16.0, digits.target >= 5, random_state=0)
classifier = TotalVariationClassifier((8, 8), lam1=0.001, lam2=0.003, random_state=0).fit(images, high)
print(f"accuracy on images held out: {classifier.score(images_test, high_test):.3f}")
classifier.plot_coefficients()

# %%
# Parameters and pitfalls
# -----------------------
#
# - ``shape`` is that of an image, two or three numbers; its pixels are in C order, as ``images.reshape(n, -1)``
#   has them.
# - ``lam2`` makes regions larger, ``lam1`` empties what is left. ``path`` and ``lam_max`` find their range.
# - All pixels share a unit: divide by a common number (255, or 16 here), do not standardise each. A pixel that
#   is constant in all images gets no information from the data, and the value of its neighbours.
# - Neighbours are counted along the axes (anisotropic total variation), so borders along the axes are cheapest.
# - For pixels in a mask of any form, give the edges to ``GraphGuidedRegressor`` or ``GraphGuidedLogisticRegression``.
#
# Elsewhere
# ---------
#
# nilearn's SpaceNet does this for brain images, mask and cross-validation included. For denoising of a single image use
# scikit-image.
