"""A token on a line of cells, whose program does what it should not do at step N: `faulty.py MODE N`.

Written without the helper of examples/python, so that it can break every rule of the protocol.
"""

import json
import os
import signal
import struct
import subprocess
import sys
import time

mode, fault_at = sys.argv[1], int(sys.argv[2])
steps = 0
out = sys.stdout.buffer
log = open("pids.txt", "a")
print(os.getpid(), file=log, flush=True)
if mode.startswith("forks"):
    child = subprocess.Popen(["sleep", "1000"])
    print(child.pid, file=log, flush=True)


if mode == "leaks":
    # Somewhere else: in a program that this one has started.
    script = "leaked = bytearray(b'x') * 300_000_000; input()"
    child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, start_new_session=False)
    print(child.pid, file=log, flush=True)


def line(value):
    out.write(json.dumps(value).encode() + b"\n")
    out.flush()


def hello():
    sys.stdin.readline()
    if mode == "silent":
        time.sleep(1000)
    if mode == "quits":
        sys.exit("no licence found")
    answer = {
        "type": "hello",
        "protocol": 2 if mode == "future" else 1,
        "name": "token",
        "observations": ["cell"],
        "actions": [{"name": "left", "value": -1}, {"name": "right", "value": 1}],
        "come_back": "reset",
        "verdicts": True,
        "format": "binary" if mode.endswith("binary") else "json",
    }
    if mode == "no-actions":
        del answer["actions"]
    if mode == "one-action":
        del answer["actions"][1]
    if mode == "unknown-key":
        answer["verdict"] = True
    if mode == "different" and os.path.exists("second"):
        answer["observations"] = ["room"]
    open("second", "w").close()
    line(answer)


def reply(cell):
    return {"observation": [cell], "verdict": "satisfied" if cell == 5 else "running"}


def fault():
    """The faulty answer to this step; returning None answers as usual."""
    print("boom", file=sys.stderr, flush=True)
    if mode == "crash" or mode == "forks-crash":
        os._exit(3)
    if mode == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    if mode == "hang":
        time.sleep(1000)
    if mode == "late":
        time.sleep(2)
    if mode == "truncated":
        out.write(b'{"observation":[1')
        out.flush()
        os._exit(0)
    if mode == "unfinished":
        out.write(b'{"observation":[1')
        out.flush()
        time.sleep(1000)
    if mode == "closes":
        os.close(1)
        time.sleep(1000)
    return {
        "garbage": b"%&/ \xff\n",
        "oversized": b"9" * (17 << 20),
        "dimension": b'{"observation":[1,2],"verdict":"running"}\n',
        "nan": b'{"observation":[NaN],"verdict":"running"}\n',
        "verdict": b'{"observation":[1],"verdict":"done"}\n',
        "no-verdict": b'{"observation":[1]}\n',
        "twice": 2 * b'{"observation":[1],"verdict":"running"}\n',
        "error": b'{"error":"the tank is empty"}\n',
        "prints": b'I am here\n{"observation":[1],"verdict":"running"}\n',
        "prints-binary": b"I am here\n" + struct.pack("<IB3xQd", 16, 129, 0, 1.0),
        "few-binary": b"I\0\0\0",
        "nan-binary": struct.pack("<IB3xQd", 16, 129, 0, float("nan")),
    }.get(mode)


def serve_json():
    global steps
    cell = 0
    for text in sys.stdin:
        message = json.loads(text)
        if mode == "leaks":
            time.sleep(0.01)
        if mode == "chatty":
            sys.stderr.write("x" * 300_000)
        if message["type"] == "reset":
            cell = message["initial"][0]
        else:
            steps += 1
            answer = fault() if steps == fault_at else None
            if answer:
                out.write(answer)
                out.flush()
                continue
            cell += -1 if message["action"] == 0 else 1
            if mode == "random" and steps > fault_at:
                cell += os.getpid() % 2 + steps % 2
        line(reply(cell))


def serve_binary():
    global steps
    cell = 0.0
    while header := sys.stdin.buffer.read(8):
        length, kind = struct.unpack("<IB3x", header)
        body = sys.stdin.buffer.read(length)
        if kind == 1:
            (cell,) = struct.unpack("<d", body)
        else:
            steps += 1
            cell += -1 if struct.unpack("<Q", body)[0] == 0 else 1
        answer = fault() if steps == fault_at else None
        out.write(answer or struct.pack("<IB3xQd", 16, 129, int(cell == 5), cell))
        out.flush()


hello()
if mode.endswith("binary"):
    serve_binary()
else:
    serve_json()
