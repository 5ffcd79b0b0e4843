"""
A volume with a mask: total variation for brain images
======================================================

Voxels inside a mask are the features, neighbours in space should have equal coefficients, and most should be zero.
The pattern that separates two conditions then comes out as a few regions instead of scattered voxels.
"""

# %%
# Eighty small volumes with smooth noise; in two regions the conditions differ. The mask is a ball, as a head would
# be.

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

from spdpeg import TotalVariationClassifier

rng = np.random.default_rng(0)
side = 9
z, yy, xx = np.indices((side, side, side)) - side // 2
mask = z**2 + yy**2 + xx**2 <= 16
truth = np.where((np.abs(z) <= 1) & (np.abs(yy) <= 1) & (np.abs(xx - 2) <= 1), 1.0, 0.0)
truth -= np.where((np.abs(z) <= 1) & (np.abs(yy + 2) <= 1) & (np.abs(xx + 2) <= 1), 1.0, 0.0)
condition = rng.integers(0, 2, 80)
volumes = gaussian_filter(rng.standard_normal((80, side, side, side)), sigma=(0, 1, 1, 1)) * 4.0
volumes += np.where(condition[:, None, None, None] == 1, 0.5, -0.5) * truth
X = volumes[:, mask]
print(f"{X.shape[0]} volumes, {X.shape[1]} voxels inside the mask")

# %%
# ``mask`` says where the columns of X lie in space: neighbours inside it are joined. lam1 makes voxels zero.

train, test = np.arange(80) < 50, np.arange(80) >= 50
models = {}
for name, lam1, lam2 in (("l1 alone", 0.06, 0.0), ("with total variation", 0.02, 0.04)):
    model = TotalVariationClassifier(mask=mask, lam1=lam1, lam2=lam2).fit(X[train], condition[train])
    models[name] = model
    print(f"{name:>20}: accuracy {model.score(X[test], condition[test]):.2f}, {model.certificate_}")

# %%
# The middle slice, from ``coef_image_``. The l1 norm alone picks single voxels, which is enough to tell the conditions
# apart; with total variation the two regions appear.

figure, panels = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
shown = {"truth": truth, **{name: model.coef_image_ for name, model in models.items()}}
for panel, (name, volume) in zip(panels, shown.items(), strict=True):
    inside = np.where(mask, volume / np.abs(volume).max(), np.nan)
    panel.imshow(inside[side // 2], cmap="RdBu_r", vmin=-1, vmax=1)
    panel.set_title(name, fontsize="medium")
    panel.set_axis_off()

# %%
# With real images
# ----------------
#
# - nilearn's ``NiftiMasker`` gives ``X = masker.fit_transform(images)``; the mask is
#   ``masker.mask_img_.get_fdata() > 0``, and ``masker.inverse_transform(model.coef_)`` makes an image of the
#   coefficients.
# - Scale the voxels (``StandardScaler``) and choose both weights by ``TotalVariationClassifierCV`` with a
#   splitter that keeps the scans of a session together. ``isotropic=True`` treats all directions alike.
# - nilearn's ``SpaceNet`` fits a similar model, with isotropic total variation and without a certificate.
