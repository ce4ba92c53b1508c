"""The notebooks run from top to bottom."""

from __future__ import annotations

from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    """One per task."""
    assert {path.stem for path in NOTEBOOKS} >= {"cartpole", "mountain_car", "pendulum", "own_system"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path, tmp_path: Path) -> None:
    """No cell fails, and something is shown; elsewhere, so that the package is the one installed."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert all(not cell.get("outputs") for cell in notebook.cells)  # stored without what they show
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    assert any(output.get("data") for cell in notebook.cells for output in cell.get("outputs", ()))
