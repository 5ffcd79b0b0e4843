"""
An image without its noise
==========================

Total variation keeps edges and flattens what lies between them::

    1/2 * sum of (x - y)^2  +  lam2 * sum of |differences of neighbouring pixels|

It suits images that are made of regions. scikit-image has the same model as ``denoise_tv_chambolle``; here the result
comes with a bound on its distance from the optimum, may have missing pixels and weights, and knows its regions.
"""

# %%
# A drawing of a house, with noise.

import matplotlib.pyplot as plt
import numpy as np

import spdpeg

rng = np.random.default_rng(0)
rows, columns = np.mgrid[:96, :96]
truth = np.full((96, 96), 0.2)
truth[48:88, 24:72] = 0.7
truth[(rows >= 16) & (rows < 48) & (np.abs(columns - 48) <= (rows - 16))] = 1.0
truth[64:88, 42:54] = 0.4
noisy = truth + 0.2 * rng.standard_normal(truth.shape)

found = spdpeg.denoise(noisy, lam2=0.3)
print(found)
found.plot()

# %%
# Isotropic
# ---------
#
# The sum of absolute differences prefers edges along the axes. ``isotropic=True`` takes the lengths of the gradients
# instead, and slanted edges come out smoother.

smooth = spdpeg.denoise(noisy, lam2=0.3, isotropic=True)
for name, one in {"anisotropic": found, "isotropic": smooth}.items():
    error = np.sqrt(np.mean((one.x - truth) ** 2))
    print(f"{name:11}  root mean squared error {error:.3f}  {one.certificate}")

# %%
# Missing pixels
# --------------
#
# NaN is a pixel that was not seen. Its value follows from its neighbours.

holes = noisy[36:68, 10:42].copy()
holes[rng.random(holes.shape) < 0.3] = np.nan
filled = spdpeg.denoise(holes, lam2=0.3)
figure, panels = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
pictures = {"seen": holes, "filled": filled.x, "truth": truth[36:68, 10:42]}
for panel, (title, image) in zip(panels, pictures.items(), strict=True):
    panel.imshow(image, vmin=0.0, vmax=1.2)
    panel.set_title(title)
    panel.set_axis_off()
print(filled)

# %%
# Common pitfalls
# ---------------
#
# - Total variation flattens slopes into stairs. For an image of smooth shades it is the wrong model.
# - lam2 is in the units of the pixels. For uint8 images, scale them to [0, 1] or lam2 by 255.
# - ``lam2="sure"`` chooses the weight, with the degrees of freedom of the anisotropic model.
