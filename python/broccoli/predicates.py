"""Which thresholds a tree may compare a dimension with."""

from __future__ import annotations

import builtins
import logging
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from broccoli import _broccoli

logger = logging.getLogger("broccoli")

Range: TypeAlias = tuple[float | None, float | None]
All: TypeAlias = Literal["all"]
Listed: TypeAlias = tuple[float, ...] | All
"""The thresholds of a dimension, or the word for all numbers."""


@dataclass(frozen=True)
class Dimension:
    """One number of an observation: its name, and its range where that is known."""

    name: str
    low: float | None = None
    high: float | None = None
    step: float | None = None
    """The step of the default grid, if there is one."""
    is_closed: bool = True
    """Whether no observation can be outside the range."""


@dataclass(frozen=True)
class Predicates:
    """The predicates `x >= t` of one dimension, made by one of the class methods.

    Ends of the range that are left out are those of the observation space; where that has none, those of
    what random runs show.

    >>> Predicates.grid(0.5, 0, 2).thresholds(Dimension("x"), list)
    (0.5, 1.0, 1.5)
    """

    _kind: str
    _number: float = 0
    _low: float | None = None
    _high: float | None = None
    _values: tuple[float, ...] | None = None

    @classmethod
    def grid(cls, step: float, low: float | None = None, high: float | None = None) -> Predicates:
        """`low + step`, `low + 2*step`, and so on, strictly inside the range."""
        return cls("grid", step, low, high)

    @classmethod
    def count(cls, count: int, low: float | None = None, high: float | None = None) -> Predicates:
        """So many, evenly spaced strictly inside the range."""
        return cls("count", _whole(count), low, high)

    @classmethod
    def list(cls, values: Sequence[float]) -> Predicates:
        """Exactly these."""
        return cls("list", _values=tuple(float(value) for value in values))

    @classmethod
    def quantiles(cls, count: int, data: Sequence[float] | None = None) -> Predicates:
        """So many that split `data` into parts of equal size; without data, what random runs show."""
        return cls("quantiles", _whole(count), _values=None if data is None else tuple(map(float, data)))

    @classmethod
    def all(cls) -> Predicates:
        """All numbers: neither a grid nor a range is needed. The same as the word `"all"`."""
        return cls("all")

    def __repr__(self) -> str:
        if self._kind == "all":
            return "Predicates.all()"
        given = [self._number, self._low, self._high] if self._kind in ("grid", "count") else [self._number]
        if self._values is not None:
            given = [*given[self._kind == "list" :], list(self._values)]
        while given[-1] is None:
            given.pop()
        return f"Predicates.{self._kind}({', '.join(map(repr, given))})"

    def thresholds(self, dimension: Dimension, observed: Callable[[], Sequence[float]]) -> Listed:
        """Return the thresholds for a dimension, or `"all"`; `observed` gives values of it, if needed."""
        if self._kind == "all":
            return "all"
        if self._kind == "list":
            values = self._values or ()
            outside = [t for t in values if _is_outside(t, dimension)]
            if outside and dimension.is_closed:
                msg = (
                    f"dimension {dimension.name!r}: the threshold {outside[0]:g} is outside the range from "
                    f"{dimension.low:g} to {dimension.high:g}, where it would tell nothing apart"
                )
                raise ValueError(msg)
            return values
        if self._number == 0 and self._kind != "grid":
            return ()
        if self._kind == "quantiles":
            return _quantiles(dimension, int(self._number), self._values or tuple(observed()))
        low = dimension.low if self._low is None else self._low
        high = dimension.high if self._high is None else self._high
        if low is None or high is None:
            values = tuple(observed())
            low = min(values, default=0.0) if low is None else low
            high = max(values, default=0.0) if high is None else high
            if not low < high:
                example = f"Predicates.{self._kind}({self._number:g}, low, high)"
                msg = (
                    f"dimension {dimension.name!r} has no range, and is always the same in random runs: "
                    f"give one, as in thresholds={{{dimension.name!r}: {example}}}"
                )
                raise ValueError(msg)
        try:
            if self._kind == "grid":
                return tuple(_broccoli.thresholds(low, high, step=self._number))
            return tuple(_broccoli.thresholds(low, high, count=int(self._number)))
        except ValueError as error:
            msg = f"dimension {dimension.name!r}: {error}"
            raise ValueError(msg) from None


Spec: TypeAlias = int | All | Predicates | Sequence[float] | None
Thresholds: TypeAlias = Spec | Sequence[Spec] | Mapping[str | int, Spec]


def resolve(
    thresholds: Thresholds, dimensions: Sequence[Dimension], observed: Callable[[], Sequence[Sequence[float]]]
) -> builtins.list[tuple[str, Listed]]:
    """Return every dimension's name with its thresholds."""
    columns: builtins.list[tuple[float, ...]] = []

    def column(index: int) -> tuple[float, ...]:
        if not columns:
            columns.extend(zip(*observed(), strict=True))
        return columns[index]

    return [
        (dimension.name, predicates.thresholds(dimension, lambda i=i: column(i)))  # type: ignore[misc]
        for i, (dimension, predicates) in enumerate(
            zip(dimensions, _each(thresholds, dimensions), strict=True)
        )
    ]


def _each(thresholds: Thresholds, dimensions: Sequence[Dimension]) -> builtins.list[Predicates]:
    """One `Predicates` per dimension."""
    if thresholds is None:
        free = [d.name for d in dimensions if d.step is None]
        if free:
            logger.info("no thresholds are given: all numbers are thresholds of %s", ", ".join(free))
        return [Predicates.all() if d.step is None else Predicates.grid(d.step) for d in dimensions]
    if isinstance(thresholds, (int, str, Predicates)):
        return [_predicates(thresholds) for _ in dimensions]
    if isinstance(thresholds, Mapping):
        chosen = [Predicates.list(())] * len(dimensions)
        for key, spec in thresholds.items():
            chosen[_index(key, dimensions)] = _predicates(spec)
        return chosen
    if not isinstance(thresholds, Sequence):
        msg = f'thresholds must be a number, "all", Predicates, or these per dimension, not {thresholds!r}'
        raise TypeError(msg)
    if len(thresholds) != len(dimensions):
        names = ", ".join(d.name for d in dimensions)
        msg = f"thresholds: {len(thresholds)} given for {len(dimensions)} dimensions ({names})"
        raise ValueError(msg)
    return [_predicates(spec) for spec in thresholds]


def _predicates(spec: Spec | float | str) -> Predicates:
    if isinstance(spec, Predicates):
        return spec
    if spec is None:
        return Predicates.list(())
    if isinstance(spec, str) and spec == "all":
        return Predicates.all()
    if isinstance(spec, int):
        return Predicates.count(spec)
    if isinstance(spec, (str, float)):
        msg = f'{spec!r} are no thresholds: give their number, a list of them, "all", or Predicates'
        raise TypeError(msg)
    return Predicates.list(tuple(spec))


def _index(key: str | int, dimensions: Sequence[Dimension]) -> int:
    names = [d.name for d in dimensions]
    if isinstance(key, int) and 0 <= key < len(names):
        return key
    if isinstance(key, str) and key in names:
        return names.index(key)
    msg = f"thresholds: there is no dimension {key!r}; there are: {', '.join(names)}"
    raise ValueError(msg)


def _is_outside(threshold: float, dimension: Dimension) -> bool:
    low, high = dimension.low, dimension.high
    return low is not None and high is not None and not low <= threshold <= high


def _quantiles(dimension: Dimension, count: int, data: Sequence[float]) -> tuple[float, ...]:
    if len(set(data)) < 2:
        msg = f"dimension {dimension.name!r}: quantiles need data with at least two different values"
        raise ValueError(msg)
    least, most = min(data), max(data)
    # One at the least value, or by rounding beyond the most, would tell nothing apart.
    quantiles = statistics.quantiles(data, n=count + 1, method="inclusive")
    return tuple(sorted({q for q in quantiles if least < q <= most}))


def _whole(count: int) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        msg = f"a number of thresholds must be a whole number of at least 0, not {count!r}"
        raise ValueError(msg)
    return count
