"""CartPole for Broccoli: an object that can only be reset. The problem file says when it has failed."""

import math

from broccoli_system import RUNNING, serve


class CartPole:
    name = "cartpole"
    observations = ["x", "x_dot", "theta", "theta_dot"]
    actions = {"left": 0.0, "right": 1.0}
    come_back = "reset"
    initial = 4
    verdicts = False

    def reset(self, initial):
        self.state = initial
        return self.state, RUNNING

    def step(self, action):
        x, x_dot, theta, theta_dot = self.state
        force = 10.0 if action == 1 else -10.0
        sin, cos = math.sin(theta), math.cos(theta)
        temp = (force + 0.05 * (theta_dot * theta_dot) * sin) / 1.1
        theta_acc = (9.8 * sin - cos * temp) / (0.5 * (4.0 / 3.0 - 0.1 * (cos * cos) / 1.1))
        x_acc = temp - 0.05 * theta_acc * cos / 1.1
        self.state = [
            x + 0.02 * x_dot,
            x_dot + 0.02 * x_acc,
            theta + 0.02 * theta_dot,
            theta_dot + 0.02 * theta_acc,
        ]
        return self.state, RUNNING


serve(CartPole())
