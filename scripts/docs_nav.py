"""A hook of mkdocs: pages that mkdocs.yml does not name stand at the end of the contents, so that none is lost."""

import re
from pathlib import Path


def on_config(config):
    named = set(re.findall(r"'([^']*\.(?:md|ipynb))'", str(config["nav"])))
    folder = Path(config["docs_dir"])
    others = sorted(path.name for path in [*folder.glob("*.md"), *folder.glob("*.ipynb")] if path.name not in named)
    if others:
        config["nav"].append({"More": others})
    return config
