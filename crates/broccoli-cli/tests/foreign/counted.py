"""A car in a valley that takes down every step that it makes: the initial state and the actions so far."""

import json
import math
import os
import sys
import time

back = os.environ["COME_BACK"]
gravity = float(os.environ.get("GRAVITY", "0.0025"))
pause = float(os.environ.get("PAUSE", "0"))
rewards = "REWARDS" in os.environ
made = open(os.environ["MADE"], "a", buffering=1)
state, path = [0.0, 0.0], []


def answer(value):
    if back == "stateless":
        value["state"] = [*state, *path, *[9.0] * (LONGEST - len(path))]
    print(json.dumps(value), flush=True)


LONGEST = 240
hello = {
    "type": "hello",
    "protocol": 1,
    "name": "car",
    "observations": ["position", "velocity"],
    "actions": [{"name": "left", "value": -1}, {"name": "right", "value": 1}],
    "come_back": back,
    "verdicts": False,
    "rewards": rewards,
    "format": "json",
}
if back == "stateless":
    hello["state"] = 2 + LONGEST
sys.stdin.readline()
print(json.dumps(hello), flush=True)
for text in sys.stdin:
    message = json.loads(text)
    kind = message["type"]
    if kind == "save":
        print(json.dumps({"snapshot": json.dumps([state, path])}), flush=True)
    elif kind == "restore":
        state, path = json.loads(message["snapshot"])
        print('{"restored":true}', flush=True)
    elif kind == "reset":
        state = message["initial"]
        path = [100.0 * state[0]]
        answer({"observation": state})
    else:
        if back == "stateless":
            known = message["state"]
            state, path = known[:2], [value for value in known[2:] if value != 9.0]
        push = -0.001 if message["action"] == 0 else 0.001
        velocity = min(max(state[1] + push - gravity * math.cos(3 * state[0]), -0.07), 0.07)
        state = [max(state[0] + velocity, -1.2), velocity]
        path = [*path, float(message["action"])]
        made.write(json.dumps(path) + "\n")
        time.sleep(pause)
        answer({"observation": state, **({"reward": -1.0} if rewards else {})})
