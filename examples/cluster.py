"""A million rows in Parquet files, weights chosen by cross-validation on a cluster of this machine's processes.

python examples/cluster.py                 # some minutes
python examples/cluster.py 20000           # a quick look
"""

import sys
import tempfile
from pathlib import Path

import dask.dataframe as dd
import pandas as pd
from dask.distributed import Client, LocalCluster

from spdpeg import FusedLogisticRegressionCV, datasets


def main(rows: int) -> None:
    names = [f"x{j}" for j in range(20)]
    with tempfile.TemporaryDirectory() as directory:
        X, y, _ = datasets.piecewise_constant(rows, 20)
        table = pd.DataFrame(X, columns=names).assign(clicked=y)
        for part in range(10):
            table[part * rows // 10 : (part + 1) * rows // 10].to_parquet(Path(directory, f"part-{part}.parquet"))
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
            clicks = dd.read_parquet(directory)
            model = FusedLogisticRegressionCV(n_lam1=2, n_lam2=3, cv=3, tol=1e-5)
            model.fit(clicks[names], clicks["clicked"])
            print(f"lam1 {model.lam1_:.3g}, lam2 {model.lam2_:.3g}; {model.certificate_}")
            print("accuracy", model.score(clicks[names], clicks["clicked"]))
            print("predictions, not computed yet:", model.predict(clicks[names]))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
