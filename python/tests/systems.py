"""Systems that the tests share."""

from __future__ import annotations

from typing import Any

from broccoli import Verdict

State = tuple[float, float]

CART: dict[str, Any] = {
    "dimensions": {"position": (0, 10), "speed": (-1, 1)},
    "thresholds": {"position": 9, "speed": [-0.5, -0.25, 0.0, 0.25, 0.5]},
    "actions": {"back": -0.1, "forth": 0.1},
    "initial": [0.0, 9.0],
    "objective": "reach",
    "horizon": 1000,
}
"""The problem of bringing a cart to 5, slowly."""


def judge(state: State) -> Verdict:
    """Tell whether the cart is there."""
    is_there = abs(state[0] - 5) <= 0.5 and abs(state[1]) <= 0.1
    return Verdict.SATISFIED if is_there else Verdict.RUNNING


class Cart:
    """A function of its state."""

    def reset(self, initial: float) -> tuple[State, State, Verdict]:
        """Start at rest."""
        state = (float(initial), 0.0)
        return state, state, judge(state)

    def step(self, state: State, action: float) -> tuple[State, State, Verdict]:
        """Accelerate."""
        speed = state[1] + action
        state = (state[0] + speed, speed)
        return state, state, judge(state)


class StatefulCart:
    """The same, but it can only be reset."""

    def reset(self, initial: float) -> tuple[State, Verdict]:
        """Start at rest."""
        self.state = (float(initial), 0.0)
        return self.state, judge(self.state)

    def step(self, action: float) -> tuple[State, Verdict]:
        """Accelerate."""
        self.state, _, verdict = Cart().step(self.state, action)
        return self.state, verdict


class SnapshotCart(StatefulCart):
    """The same, and it can come back to a state."""

    def snapshot(self) -> dict[str, float]:
        """Save: as a dict, which has to be pickled."""
        return {"position": self.state[0], "speed": self.state[1]}

    def restore(self, state: dict[str, float]) -> None:
        """Come back."""
        self.state = (state["position"], state["speed"])
