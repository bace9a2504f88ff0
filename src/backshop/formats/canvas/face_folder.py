"""Where the bundled faces lie; the pages of the web app show drawn documents in them too."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def faces_folder() -> Path:
    """Return where the files of the faces lie."""
    return Path(str(resources.files(__package__) / "faces"))
