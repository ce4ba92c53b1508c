"""The files of the gallery that are written in Python give the answers that they record, and the pictures."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

GALLERY = Path(__file__).parent.parent.parent / "gallery"
FILES = sorted(GALLERY.glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_answer(path: Path) -> None:
    """The answer is in a comment, the picture in a file of the same name."""
    outcome = runpy.run_path(str(path))["outcome"]
    answer = f"# Answer: {outcome.status}, value {outcome.value}, {outcome.size} predicates."
    assert answer in path.read_text(encoding="utf-8").splitlines()
    picture = GALLERY / "trees" / f"{path.stem}.svg"
    assert picture.read_text(encoding="utf-8") == outcome.tree.to_svg(), f"python {path} {picture} writes it"


def test_there_are_files() -> None:
    """The lunar lander, at least."""
    assert "lunar-lander" in [path.stem for path in FILES]
