"""A signal that many know: the Nile."""

from typing import NamedTuple

import numpy as np

_FLOW = (
    "1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140 1100 1210 1150 1250 "
    "1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969 831 726 456 824 702 1120 1100 832 764 821 "
    "768 845 864 862 698 845 744 796 1040 759 781 865 845 944 984 897 822 1010 771 676 649 846 812 742 801 1040 860 "
    "874 848 890 744 749 838 1050 918 986 797 923 975 815 1020 906 901 1170 912 746 919 718 714 740"
)


class Nile(NamedTuple):
    """Years and flow; unpacks as `years, flow`.

    See Also
    --------
    nile : Returns it.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> datasets.nile().flow[:3].tolist()
    [1120.0, 1160.0, 963.0]
    """

    years: np.ndarray
    flow: np.ndarray


def nile() -> Nile:
    """Annual flow of the Nile at Aswan from 1871 to 1970, in 10^8 cubic metres.

    It fell around 1898, when work on the first dam at Aswan began and the climate of its sources changed.

    Returns
    -------
    Nile
        `years` and `flow`, a hundred of each.

    See Also
    --------
    spdpeg.denoise : Finds the year in which the flow fell.

    References
    ----------
    Cobb: The problem of the Nile: conditional solution to a changepoint problem. Biometrika 65 (1978).

    Examples
    --------
    >>> from spdpeg import datasets
    >>> years, flow = datasets.nile()
    >>> int(years[0]), int(years[-1]), float(flow.mean())
    (1871, 1970, 919.35)
    """
    flow = np.array(_FLOW.split(), dtype=float)
    return Nile(1871 + np.arange(flow.size), flow)
