"""Print the lower bounds of all that users install with the package, as constraints for pip."""

import re
import tomllib
from pathlib import Path

EXTRAS = ("frame", "plot", "data", "files", "graph", "report")

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
requirements = set(project["dependencies"]).union(*(project["optional-dependencies"][extra] for extra in EXTRAS))
for requirement in sorted(requirements):
    name, version = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups()
    print(f"{name}=={version}")
