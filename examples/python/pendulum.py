"""Pendulum for Broccoli: an object that changes, with snapshots. The problem file has the goal."""

import json
import math

from broccoli_system import RUNNING, serve


class Pendulum:
    name = "pendulum"
    observations = ["angle", "velocity"]
    actions = {"-2": -2.0, "+2": 2.0}
    come_back = "snapshot"
    initial = 2
    verdicts = False

    def reset(self, initial):
        self.angle, self.velocity = initial
        return [self.angle, self.velocity], RUNNING

    def step(self, action):
        torque = -2.0 if action == 0 else 2.0
        acceleration = 3.0 * 10.0 / 2.0 * math.sin(self.angle) + 3.0 * torque
        self.velocity = min(max(self.velocity + acceleration * 0.05, -8.0), 8.0)
        self.angle += self.velocity * 0.05
        return [self.angle, self.velocity], RUNNING

    def save(self):
        return json.dumps([self.angle, self.velocity])

    def restore(self, snapshot):
        self.angle, self.velocity = json.loads(snapshot)


serve(Pendulum())
