"""Reads the observations that the drivers are given: a line each, every number as its bits."""

from __future__ import annotations

import struct
import sys


def observations() -> list[list[float]]:
    """Return all observations on standard input."""
    return [[number(word) for word in line.split()] for line in sys.stdin]


def number(bits: str) -> float:
    """Return the number with these bits."""
    value: float = struct.unpack(">d", bytes.fromhex(bits))[0]
    return value
