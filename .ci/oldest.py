"""Print the lower bounds of all that users install with the package, as constraints for pip."""

import re
import tomllib
from pathlib import Path

OF_DEVELOPERS = {"bench", "dev", "docs", "lint", "test"}

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
of_users = [items for extra, items in project["optional-dependencies"].items() if extra not in OF_DEVELOPERS]
requirements = set(project["dependencies"]).union(*of_users)
for requirement in sorted(requirements):
    name, version = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", requirement).groups()
    print(f"{name}=={version}")
