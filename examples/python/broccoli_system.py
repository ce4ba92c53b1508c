"""Serve a simulator to Broccoli over standard input and output. Needs nothing but Python 3.

Copy this file next to your simulator, give it a class with the attributes and methods of `System`, and
end your program with `serve(MySystem())`. docs/protocol.md describes what goes over the wire. Standard
output belongs to the protocol: from the import of this file on, whatever is printed goes to standard error,
also by libraries in other languages.
"""

import json
import os
import struct
import sys

RUNNING, SATISFIED, VIOLATED = "running", "satisfied", "violated"
_VERDICTS = (RUNNING, SATISFIED, VIOLATED)
_RESET, _STEPS, _SAVE, _RESTORE = 1, 2, 3, 4
_REPLIES, _SNAPSHOT, _RESTORED, _ERROR = 129, 130, 131, 255


def _take_output():
    """Keep standard output for the protocol, and send to standard error what anybody prints."""
    sys.stdout.flush()
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return output


_OUTPUT = _take_output()


class System:
    """What `serve` asks for. Floats in, floats out; the same calls must always give the same results."""

    name = "my-system"
    observations = ["position", "velocity"]  # the names of the observed values
    actions = {"left": -1.0, "right": 1.0}  # names and values, at least two

    # How Broccoli comes back to an earlier state.
    #   "stateless": step(state, action) is a function of a state, a list of `state` floats.
    #   "snapshot":  step(action) changes the object; save() and restore(text) copy its state.
    #   "reset":     step(action) changes the object; Broccoli resets it and repeats the actions.
    come_back = "stateless"
    state = 2  # values of a state; only for "stateless"
    initial = None  # values of an initial state, if the number is fixed
    verdicts = True  # False if the problem file says when a run is satisfied or violated
    rewards = False  # True if a step returns a reward, too, for kind = "return" in the problem file

    def reset(self, initial):
        """Return (observation, verdict), or (observation, verdict, state) if stateless."""
        raise NotImplementedError

    def step(self, *state_and_action):
        """Take (state, action) if stateless, else (action); return what reset returns, and last the reward
        if there are rewards."""
        raise NotImplementedError


def serve(system):
    """Answer messages until standard input ends."""
    hello = json.loads(sys.stdin.buffer.readline() or "{}")
    if hello.get("type") != "hello" or hello.get("protocol") != 1:
        sys.exit(f"expected a hello of protocol 1, not {hello}")
    binary = "binary" in hello["formats"]
    answer = {
        "type": "hello",
        "protocol": 1,
        "name": system.name,
        "observations": system.observations,
        "actions": [{"name": name, "value": value} for name, value in system.actions.items()],
        "come_back": system.come_back,
        "verdicts": system.verdicts,
        "rewards": _has_rewards(system),
        "format": "binary" if binary else "json",
    }
    if system.come_back == "stateless":
        answer["state"] = system.state
    if system.initial is not None:
        answer["initial"] = system.initial
    _write_line(answer)
    if binary:
        _serve_binary(system)
    else:
        _serve_json(system)


def _serve_json(system):
    for line in sys.stdin.buffer:
        message = json.loads(line)
        kind = message["type"]
        try:
            if kind == "reset":
                reply = _reply(system, system.reset(message["initial"]))
            elif kind == "step":
                reply = _step_json(system, message)
            elif kind == "steps":
                reply = {"replies": [_step_json(system, step) for step in message["steps"]]}
            elif kind == "save":
                reply = {"snapshot": system.save()}
            elif kind == "restore":
                system.restore(message["snapshot"])
                reply = {"restored": True}
            else:
                reply = {"error": f"there is no message {kind!r}"}
        except Exception as error:  # whatever the simulator raises is the answer
            reply = {"error": f"{type(error).__name__}: {error}"}
        _write_line(reply)


def _step_json(system, step):
    arguments = (step["state"], step["action"]) if system.come_back == "stateless" else (step["action"],)
    result = system.step(*arguments)
    reply = _reply(system, result)
    if _has_rewards(system):
        reply["reward"] = _reward(system, result)
    return reply


def _has_rewards(system):
    return bool(getattr(system, "rewards", False))


def _reward(system, result):
    values = 4 if system.come_back == "stateless" else 3
    if len(result) != values:
        raise ValueError(f"a step returns {values} values, the last one its reward, not {len(result)}")
    return result[-1]


def _reply(system, result):
    reply = {"observation": result[0]}
    if system.verdicts:
        reply["verdict"] = result[1]
    if system.come_back == "stateless":
        reply["state"] = result[2]
    return reply


def _write_line(value):
    _OUTPUT.write(json.dumps(value, allow_nan=False).encode() + b"\n")
    _OUTPUT.flush()


def _serve_binary(system):
    stateless = system.come_back == "stateless"
    size = system.state if stateless else 0
    step = struct.Struct(f"<Q{size}d")
    observed = len(system.observations)
    rewards = _has_rewards(system)
    reply = struct.Struct(f"<Q{rewards + observed + size}d")

    def pack(result, reward=0.0):
        state = result[2] if stateless else ()
        verdict = _VERDICTS.index(result[1]) if system.verdicts else 0
        reward = [reward] if rewards else []  # that of a reset does not count
        return reply.pack(verdict, *reward, *result[0], *state)

    while header := sys.stdin.buffer.read(8):
        length, kind = struct.unpack("<IB3x", header)
        body = sys.stdin.buffer.read(length)
        try:
            if kind == _RESET:
                answer = _REPLIES, pack(system.reset(list(struct.unpack(f"<{length // 8}d", body))))
            elif kind == _STEPS:
                replies = []
                for action, *state in step.iter_unpack(body):
                    result = system.step(state, action) if stateless else system.step(action)
                    replies.append(pack(result, _reward(system, result) if rewards else 0.0))
                answer = _REPLIES, b"".join(replies)
            elif kind == _SAVE:
                answer = _SNAPSHOT, system.save().encode()
            elif kind == _RESTORE:
                system.restore(body.decode())
                answer = _RESTORED, b""
            else:
                answer = _ERROR, f"there is no message {kind}".encode()
        except Exception as error:  # whatever the simulator raises is the answer
            answer = _ERROR, f"{type(error).__name__}: {error}".encode()
        kind, body = answer
        _OUTPUT.write(struct.pack("<IB3x", len(body), kind) + body)
        _OUTPUT.flush()
