"""MountainCar for Broccoli: a stateless system."""

import math

from broccoli_system import RUNNING, SATISFIED, serve


class MountainCar:
    name = "mountain-car"
    observations = ["position", "velocity"]
    actions = {"left": 0.0, "right": 2.0}
    come_back = "stateless"
    state = 2
    initial = 2
    verdicts = True

    def reset(self, initial):
        return self.reply(initial)

    def step(self, state, action):
        position, velocity = state
        direction = -1.0 if action == 0 else 1.0
        velocity += direction * 0.001 + math.cos(3.0 * position) * -0.0025
        velocity = min(max(velocity, -0.07), 0.07)
        position = min(max(position + velocity, -1.2), 0.6)
        if position == -1.2 and velocity < 0.0:
            velocity = 0.0
        return self.reply([position, velocity])

    def reply(self, state):
        position, velocity = state
        return state, SATISFIED if position >= 0.5 and velocity >= 0.0 else RUNNING, state


serve(MountainCar())
