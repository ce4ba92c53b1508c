"""Finds, or builds, the program that steps our environments."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from transitions import Transitions

ROOT = Path(__file__).resolve().parents[2]
"""The root of the workspace."""


@pytest.fixture(scope="session")
def ours() -> Transitions:
    """Our environments: the example that BROCCOLI_TRANSITIONS names, or else it is built here."""
    given = os.environ.get("BROCCOLI_TRANSITIONS")
    return Transitions(Path(given) if given else build())


def build() -> Path:
    """Build the example and return its path."""
    cargo = os.environ.get("CARGO", "cargo")
    example = ["--package", "broccoli-environments", "--example", "transitions"]
    subprocess.run([cargo, "build", "--release", *example], cwd=ROOT, check=True)
    metadata = subprocess.check_output([cargo, "metadata", "--no-deps", "--format-version", "1"], cwd=ROOT)
    target = Path(json.loads(metadata)["target_directory"])
    suffix = ".exe" if os.name == "nt" else ""
    return target / "release" / "examples" / f"transitions{suffix}"
