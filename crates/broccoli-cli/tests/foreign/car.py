"""A car in a valley. Its constants are in a file that nobody names on the command line."""

import json
import math
import sys

force, gravity, slope = json.load(open("constants.json"))
state = [0.0, 0.0]


def line(value):
    print(json.dumps(value), flush=True)


sys.stdin.readline()
line(
    {
        "type": "hello",
        "protocol": 1,
        "name": "car",
        "observations": ["position", "velocity"],
        "actions": [{"name": "left", "value": -1}, {"name": "right", "value": 1}],
        "come_back": "reset",
        "verdicts": False,
        "format": "json",
    }
)
for text in sys.stdin:
    message = json.loads(text)
    if message["type"] == "reset":
        state = message["initial"]
    else:
        push = -force if message["action"] == 0 else force
        velocity = min(max(state[1] + push - gravity * math.cos(slope * state[0]), -0.07), 0.07)
        state = [max(state[0] + velocity, -1.2), velocity]
    line({"observation": state})
