# Touch down with both legs of Gymnasium's lunar lander, from two seeds: a system that cannot be put back into a state, so that the search runs its actions again.
# Answer: optimal, value 135, 3 predicates.
"""The answer is that of Gymnasium 1.4 with Box2D: pip install './python[gymnasium]' 'gymnasium[box2d]==1.4.0'."""

import sys
from pathlib import Path

import broccoli


def verdict(observation, reward, terminated, truncated, info):
    """Violated by a crash, satisfied when both legs touch the ground."""
    if terminated and reward < 0:
        return "violated"
    return "satisfied" if observation[6] and observation[7] else "running"


outcome = broccoli.synthesize(
    "LunarLander-v3",
    thresholds={"y_dot": [-0.2], "angle": [-0.1, 0.1]},
    actions=[1, 2, 3],
    seeds=[0, 1],
    objective="reach",
    horizon=400,
    depth=2,
    verdict=verdict,
)

if __name__ == "__main__":
    print(outcome)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(outcome.tree.to_svg(), encoding="utf-8")
