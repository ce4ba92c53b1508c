"""Trees that act: from what an environment shows to what it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from broccoli._broccoli import Tree


@dataclass(frozen=True, eq=False, repr=False)
class Policy:
    """A tree, with the actions that its environment takes.

    Call it with an observation to get the action. `predict` does the same in the way of Stable-Baselines3,
    so that its `evaluate_policy` and everything like it accept a policy as a model.
    """

    tree: Tree
    """The tree."""
    actions: tuple[Any, ...]
    """What the environment is given, by the index of the action."""
    features: Callable[[Any], Any] | None = None
    """What the tree sees instead of the observation, if anything."""
    ndim: int = field(default=1, kw_only=True)
    """How many axes one observation has; `predict` takes one axis more for a batch."""

    def __call__(self, observation: Any) -> Any:
        """Return the action for an observation."""
        return self.actions[self.index(observation)]

    def index(self, observation: Any) -> int:
        """Return the index of the action for an observation."""
        return self.tree.action(seen(observation, self.features))

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,  # noqa: ARG002
        deterministic: bool = True,  # noqa: ARG002
    ) -> tuple[Any, Any]:
        """Return the action for an observation, or those for a batch of them, and `state` as it is."""
        if getattr(observation, "ndim", self.ndim) == self.ndim:
            return self(observation), state
        import numpy as np

        return np.array([self(row) for row in observation]), state

    def __repr__(self) -> str:
        return f"Policy({self.tree!r})"

    def __str__(self) -> str:
        return str(self.tree)

    def _repr_html_(self) -> str:
        return self.tree._repr_html_()


def seen(observation: Any, features: Callable[[Any], Any] | None) -> Any:
    """Return the numbers that a tree sees of an observation."""
    if features is None:
        return observation
    made = features(observation)
    return tuple(made.values()) if isinstance(made, Mapping) else made
