"""A second checker of certificates, as naive as can be, written from docs/certificates.md alone.

    python3 checker.py CERTIFICATE...

It needs nothing but Python, and prints a line for each certificate: verified, refuted or unreadable, and why.
Full certificates are checked without the system. For light ones the system is a table in JSON, in a file
with the name of the certificate and .table behind it: {"states": [...]}, each with its observation, its
verdict ('.' running, '+' satisfied, '-' violated) and, for every action, the next state. An initial state is
the index of a state. A number of an observation may be in quotes, as JSON has no infinity: "inf".
"""

from __future__ import annotations

import json
import math
import struct
import sys
import zlib
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNNING, SATISFIED, VIOLATED = range(3)
LABEL, BACK, START, END, REPLY = range(5)
MOST_DEPTH = 16
MOST_CONTENT = 64 << 20
"""The most bytes that a block may have when it is decompressed; a sixteenth of it for JSON."""
MOST_WORK = 1_000_000_000
"""The most events, answers and labels that are looked at."""

Cell = tuple[float, ...]
Thresholds = list[float] | None
"""Those of a dimension; none if all numbers are."""
Labels = dict[Cell, int]


class UnreadableError(Exception):
    """It is no certificate, or a damaged one."""


class RefutedError(Exception):
    """What is claimed does not follow."""


class Reply(NamedTuple):
    """What the system answered."""

    verdict: int
    observation: tuple[float, ...]


class Action(NamedTuple):
    """What was applied next, in the traces of the tree."""

    label: int


Known = dict[int, tuple[Reply, "Known"]]
"""The answer to every action that was applied, and what came then."""


class Work:
    """Counts what is looked at, in all certificates of a run alike."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.done = 0

    def add(self, count: int) -> None:
        """Count, and give up where it is too much."""
        self.done += count
        if self.done > MOST_WORK:
            raise UnreadableError("it takes too much work")


@dataclass
class Node:
    """A behaviour: what happened in it, what ended it, and those with one label more."""

    items: list[int | Action | Reply] = field(default_factory=list)
    end: int | None = None
    children: dict[int, Node] = field(default_factory=dict)


class Certificate:
    """What is in a file."""

    def __init__(self, data: bytes) -> None:
        """Read it, or raise what is wrong."""
        magic = b"broccoli certificate\n"
        if not data.startswith(magic):
            raise UnreadableError("not a certificate")
        self.work = Work()
        if data[len(magic) : len(magic) + 4] != struct.pack("<I", 3):
            raise UnreadableError("another version, or cut short")
        blocks = list(read_blocks(data, len(magic) + 4))
        kinds = b"".join(kind for kind, _, _ in blocks)
        if not kinds.endswith(b"C"):
            raise UnreadableError("cut short")
        evidence = blocks[1:-1]
        self.traces = Node()
        has_traces = kinds[-2:-1] == b"T"
        others = [blocks[0], blocks[-1], *blocks[-2:-1][: int(has_traces)]]
        traces = evidence.pop()[2] if has_traces else b""
        if not kinds.startswith(b"P") or any(kind not in b"EL" for kind, _, _ in evidence):
            raise UnreadableError("a block is out of place")
        if any(task != 0 for _, task, _ in others):
            raise UnreadableError("a block that is no evidence has a task")

        header, self.claim = read_json(blocks[0][2]), read_json(blocks[-1][2])
        if set(header) != {"form", "identity", "problem"} or header["form"] not in ("light", "full"):
            raise UnreadableError("no such form")
        if not set(header["problem"]) <= PROBLEM_KEYS or not set(self.claim) <= CLAIM_KEYS:
            raise UnreadableError("something is said that has no meaning")
        self.is_full = header["form"] == "full"
        if has_traces != (self.is_full and self.claim.get("tree") is not None):
            raise UnreadableError("traces of a tree are missing, or there where they do not belong")
        self.problem = header["problem"]
        self.thresholds = [read_thresholds(d["thresholds"]) for d in self.problem["dimensions"]]
        self.objective = self.problem["objective"]
        counts = [len(self.problem[key]) for key in ("dimensions", "actions", "initial_states")]
        is_empty = counts < [1] or counts[1] < 2 or counts[2] < 1 or self.problem["horizon"] < 1
        if self.problem.get("over", "worst") != "worst":
            raise UnreadableError("it is not the worst initial state that counts")
        if self.objective not in ("reach", "survive") or is_empty or self.problem["depth"] > MOST_DEPTH:
            raise UnreadableError("no such problem")

        complete: set[int] = set()
        for kind, task, _ in evidence:
            if task in complete:
                raise UnreadableError("a task goes on after its end")
            if kind == b"L":
                complete.add(task)
        self.root = Node()
        for _, task, events in evidence:
            if task in complete:
                self.read_events(self.root, events)
        self.read_events(self.traces, traces, are_traces=True)

    def read_events(self, root: Node, events: bytes, *, are_traces: bool = False) -> None:
        """Add the events of a block to the tree of behaviours, or those of the tree's own traces."""
        path = [root]
        at = 0

        def number() -> int:
            nonlocal at
            value = shift = 0
            while True:
                byte = events[at]
                at += 1
                value |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    if value >= 1 << 64:
                        raise UnreadableError("a number is too large")
                    return value

        while at < len(events):
            argument, kind = divmod(number(), 8)
            node = path[-1]
            self.work.add(1)
            if are_traces and kind in (BACK, END):
                raise UnreadableError("an event of the tree's traces makes no sense")
            if are_traces and kind == LABEL and argument < len(self.problem["actions"]):
                node.items.append(Action(argument))
            elif kind == LABEL and argument < len(self.problem["actions"]):
                path.append(node.children.setdefault(argument, Node()))
            elif kind == BACK and argument < len(path):
                del path[len(path) - argument :]
            elif kind == START and argument < len(self.problem["initial_states"]):
                node.items.append(argument)
            elif kind == END and argument <= 2:
                node.end = argument
            elif kind == REPLY and argument <= VIOLATED and self.is_full:
                count = len(self.thresholds)
                observation = struct.unpack_from(f"<{count}d", events, at)
                at += 8 * count
                length = number()
                at += length  # the state is of no use without the system
                if at > len(events) or any(math.isnan(value) for value in observation):
                    raise UnreadableError("an answer makes no sense")
                node.items.append(Reply(argument, observation))
            else:
                raise UnreadableError("an event makes no sense")

    def cell(self, observation: tuple[float, ...]) -> Cell:
        """Return the rank in every dimension."""
        return tuple(rank(t, value) for t, value in zip(self.thresholds, observation, strict=True))

    def is_better(self, a: int, b: int) -> bool:
        """Tell whether value a is strictly better than value b."""
        return a < b if self.objective == "reach" else a > b

    def allowance(self, value: int) -> int:
        """Return how many predicates a tree of this value may have to contradict the claim; -1 for none."""
        claim = self.claim["claim"]
        nodes: int = self.problem["nodes"]
        if claim == "infeasible":
            return nodes
        if claim == "optimal" and value == self.claim["value"]:
            return int(min(self.claim["size"] - 1, nodes))
        return nodes if self.is_better(value, self.claim["value" if claim == "optimal" else "bound"]) else -1


PROBLEM_KEYS = {
    "system",
    "dimensions",
    "actions",
    "initial_states",
    "objective",
    "over",
    "horizon",
    "depth",
    "nodes",
}
CLAIM_KEYS = {"claim", "bound", "value", "size", "depth", "tree"}


def read_json(text: bytes) -> dict[str, Any]:
    """Read a JSON object in which no key comes twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise UnreadableError("a key comes twice")
        return found

    if len(text) > MOST_CONTENT // 16:
        raise UnreadableError("it is too large")
    found = json.loads(text, object_pairs_hook=unique)
    if not isinstance(found, dict):
        raise UnreadableError("it is no object")
    return found


def rank(thresholds: Thresholds, value: float) -> float:
    """Return how many thresholds are at most a value; or, where all numbers are, what has the same order."""
    if thresholds is None:
        # No number that is a threshold tells infinity from the greatest one. Both zeros are equal anyhow.
        return min(value, sys.float_info.max)
    return bisect_right(thresholds, value)


def read_thresholds(found: object) -> Thresholds:
    """Read the thresholds of a dimension: a list, or the word for all numbers."""
    if found == "all":
        return None
    if not isinstance(found, list):
        raise UnreadableError("thresholds are neither a list nor all numbers")
    thresholds = [finite(number) for number in found]
    if thresholds != sorted(set(thresholds)):
        raise UnreadableError("thresholds out of order")
    return thresholds


def finite(number: object) -> float:
    """Return a number of JSON as a double."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise UnreadableError("not a number")
    if not math.isfinite(float(number)):
        raise UnreadableError("not a finite number")
    return float(number)


def is_whole(value: object) -> bool:
    """Tell whether it is a whole number of at least 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def read_blocks(data: bytes, at: int) -> Iterator[tuple[bytes, int, bytes]]:
    """Yield the kind, the task and the content of each block."""
    checksum = 0
    while at < len(data):
        try:
            kind, task, length, stored = struct.unpack_from("<cQII", data, at)
            end = at + 17 + stored
            (expected,) = struct.unpack_from("<I", data, end)
        except struct.error:
            raise UnreadableError("cut short") from None
        checksum = zlib.crc32(data[at:end], checksum)
        if checksum != expected:
            raise UnreadableError("a checksum is wrong")
        if length > MOST_CONTENT:
            raise UnreadableError("it is too large")
        decoder = zlib.decompressobj()
        content = decoder.decompress(data[at + 17 : end], length + 1)
        if len(content) != length or not decoder.eof or decoder.unused_data:
            raise UnreadableError("a block is not as long as it says")
        yield kind, task, content
        at = end + 4


def size_of(labels: Labels, depth: int, work: Work) -> float:
    """Return the fewest predicates of a tree that gives each cell its label."""
    work.add(len(labels))
    kinds = set(labels.values())
    if len(kinds) <= 1:
        return 0
    dimensions = range(len(next(iter(labels))))
    if depth == 1:
        # One predicate tells two labels apart: in some dimension all cells of one are above all others.
        ranks = [[[cell[i] for cell in labels if labels[cell] == kind] for kind in kinds] for i in dimensions]
        is_enough = len(kinds) == 2 and any(min(a) > max(b) or min(b) > max(a) for a, b in ranks)
        return 1 if is_enough else math.inf
    best = math.inf
    if depth > 0:
        for dimension in dimensions:
            # Between neighbouring ranks there is a threshold, also where all numbers are: the greater one.
            for least in sorted({cell[dimension] for cell in labels})[:-1]:
                yes = {cell: label for cell, label in labels.items() if cell[dimension] > least}
                no = {cell: label for cell, label in labels.items() if cell[dimension] <= least}
                best = min(best, 1 + size_of(yes, depth - 1, work) + size_of(no, depth - 1, work))
    return best


class Table:
    """A system given by a table, for light certificates."""

    def __init__(self, states: list[dict[str, Any]], initial: list[list[float]]) -> None:
        """Take the states, and where the runs start."""
        self.states, self.initial = states, [int(values[0]) for values in initial]

    def run(self, initial: int, actions: tuple[int, ...]) -> Reply:
        """Return what the system answers after these actions."""
        state = self.states[self.initial[initial]]
        for action in actions:
            state = self.states[state["next"][action]]
        return Reply(".+-".index(state["verdict"]), tuple(map(float, state["observation"])))


@dataclass
class Way:
    """A way through the tree of behaviours."""

    node: Node
    items: int
    labels: Labels
    started: tuple[int, ...]
    actions: tuple[int, ...]
    worst: int
    size: float
    known: Known


class Checker:
    """Checks one certificate."""

    def __init__(self, certificate: Certificate, states: list[dict[str, Any]] | None) -> None:
        """Take the certificate, and the states of the table if there is one."""
        self.certificate = certificate
        problem = certificate.problem
        self.horizon, self.depth, self.nodes = problem["horizon"], problem["depth"], problem["nodes"]
        self.initial_count = len(problem["initial_states"])
        self.is_reach = certificate.objective == "reach"
        self.table = Table(states, problem["initial_states"]) if states is not None else None
        # What was answered to every way of acting, from every initial state.
        self.known: list[tuple[list[Reply], Known]] = [([], {}) for _ in range(self.initial_count)]
        if not certificate.is_full and self.table is None:
            raise UnreadableError("a light certificate needs a table")

    def check(self) -> None:
        """Raise RefutedError unless the claim follows."""
        claim = self.certificate.claim
        kind, bound = claim["claim"], claim.get("bound")
        of_tree = [claim.get(key) for key in ("value", "size", "depth")]
        has_tree = claim.get("tree") is not None
        if not all(is_whole(number) if has_tree else number is None for number in of_tree):
            raise UnreadableError("of tree, value, size and depth some are there and some are not")
        if kind not in ("optimal", "infeasible", "bound") or is_whole(bound) != (kind != "infeasible"):
            raise UnreadableError("the claim has no bound, or one that means nothing")
        if (kind == "optimal" and not has_tree) or (kind == "infeasible" and (has_tree or bound is not None)):
            raise UnreadableError("the claim says more, or less, than one of its kind")
        if kind == "optimal" and bound != claim["value"]:
            raise UnreadableError("the bound of an optimal tree is not its value")
        if has_tree and bound is not None and self.certificate.is_better(claim["value"], bound):
            raise UnreadableError("the tree is better than the bound")
        if has_tree:
            self.check_tree()
        worst = 0 if self.is_reach else self.horizon
        ways = [Way(self.certificate.root, 0, {}, (), (), worst, 0, {})]
        while ways and self.certificate.allowance(worst) >= 0:
            way = ways.pop()
            # Either a label has been given and its action is to be taken, or it is the very first start.
            reply = self.reply(way) if way.started else self.start(way)
            ways.extend(self.follow(way, reply))

    def take(self, way: Way) -> int | Action | Reply:
        """Return the next item of the behaviour."""
        for item in islice(way.node.items, way.items, None):
            way.items += 1
            return item
        raise RefutedError("something is not recorded")

    def reply(self, way: Way) -> Reply:
        """Return what the system answers next."""
        if not self.certificate.is_full and self.table is not None:
            return self.table.run(way.started[-1], way.actions)
        item = self.take(way)
        if not isinstance(item, Reply):
            raise RefutedError("an answer is not recorded")
        # A system does the same again: what is recorded twice must be recorded alike.
        if way.actions:
            before, way.known = way.known.setdefault(way.actions[-1], (item, {}))
        else:
            resets, way.known = self.known[way.started[-1]]
            resets.append(item)
            before = resets[0]
        if bits(before) != bits(item):
            raise RefutedError("the same actions have another answer elsewhere")
        return item

    def start(self, way: Way) -> Reply:
        """Start the next trace."""
        initial = self.take(way)
        if not isinstance(initial, int) or initial in way.started:
            raise RefutedError("which trace is run next is not recorded, or it was run before")
        way.started, way.actions = (*way.started, initial), ()
        return self.reply(way)

    def follow(self, way: Way, reply: Reply) -> list[Way]:
        """Go on to where the way ends, or branches into others."""
        allowance = self.certificate.allowance
        while True:
            steps = len(way.actions)
            self.certificate.work.add(1)
            if reply.verdict == RUNNING and (self.is_reach or steps < way.worst):
                if self.is_reach and steps == self.horizon:
                    return []
                most = allowance(max(way.worst, steps + 1) if self.is_reach else way.worst)
                if way.size > most:
                    return []
                cell = self.certificate.cell(reply.observation)
                if cell not in way.labels:
                    return list(self.branch(way, cell, most))
                way.actions = (*way.actions, way.labels[cell])
                reply = self.reply(way)
                continue
            if reply.verdict == VIOLATED and self.is_reach:
                if way.node.end != 0:
                    raise RefutedError("a violation is not recorded")
                return []
            if self.is_reach:
                way.worst = max(way.worst, steps)
            elif reply.verdict == VIOLATED:
                way.worst = min(way.worst, steps)
            if way.size > allowance(way.worst):
                return []
            if len(way.started) == self.initial_count:
                raise RefutedError(f"a tree of {way.size} predicates has the value {way.worst}")
            reply = self.start(way)

    def branch(self, way: Way, cell: Cell, most: int) -> Iterator[Way]:
        """Yield the ways with each label that some tree can give the cell."""
        for action in range(len(self.certificate.problem["actions"])):
            labels = {**way.labels, cell: action}
            size = size_of(labels, self.depth, self.certificate.work)
            if size <= most:
                if action not in way.node.children:
                    raise RefutedError(f"action {action} is not looked into, {len(way.labels)} labels deep")
                child = way.node.children[action]
                yield Way(child, 0, labels, way.started, (*way.actions, action), way.worst, size, way.known)

    def check_tree(self) -> None:
        """Check that the tree of the claim is one, and has the value that is claimed."""
        certificate, claim = self.certificate, self.certificate.claim
        size, depth = self.measure(claim["tree"])
        if (size, depth) != (claim["size"], claim["depth"]) or size > self.nodes or depth > self.depth:
            raise RefutedError("the tree is not as large as it is claimed, or too large")
        values = []
        way = Way(certificate.traces, 0, {}, (), (), 0, 0, {})
        for initial in range(self.initial_count):
            if certificate.is_full:
                reply = self.start(way)
            else:
                way.started, way.actions = (*way.started, initial), ()
                reply = self.reply(way)
            if way.started[-1] != initial:
                raise RefutedError("the traces of the tree are out of order")
            while reply.verdict == RUNNING and len(way.actions) < self.horizon:
                tree = claim["tree"]
                while "action" not in tree:
                    is_true = reply.observation[tree["feature"]] >= float(tree["threshold"])
                    tree = tree["true" if is_true else "false"]
                self.certificate.work.add(1)
                if certificate.is_full and self.take(way) != Action(tree["action"]):
                    raise RefutedError("another action is recorded than the tree's")
                way.actions = (*way.actions, tree["action"])
                reply = self.reply(way)
            if self.is_reach and reply.verdict != SATISFIED:
                raise RefutedError("the tree fails")
            is_short = self.is_reach or reply.verdict == VIOLATED
            values.append(len(way.actions) if is_short else self.horizon)
        if way.items != len(way.node.items):
            raise RefutedError("the traces of the tree go on after their end")
        if claim["value"] != (max(values) if self.is_reach else min(values)):
            raise RefutedError("the tree has another value")

    def measure(self, tree: dict[str, Any]) -> tuple[int, int]:
        """Return size and depth of a tree."""
        keys = set(tree) - {"name"}
        if keys == {"action"}:
            if not is_whole(tree["action"]) or tree["action"] >= len(self.certificate.problem["actions"]):
                raise UnreadableError("no such action")
            return 0, 0
        if keys != {"feature", "threshold", "true", "false"} or not is_whole(tree["feature"]):
            raise UnreadableError("neither an action nor a predicate")
        threshold, thresholds = finite(tree["threshold"]), self.certificate.thresholds[tree["feature"]]
        if thresholds is not None and threshold not in thresholds:
            raise UnreadableError("no such threshold")
        sizes, depths = zip(self.measure(tree["true"]), self.measure(tree["false"]), strict=True)
        return 1 + sum(sizes), 1 + max(depths)


def bits(reply: Reply) -> bytes:
    """Return an answer as bytes: 0.0 and -0.0 differ."""
    return bytes([reply.verdict]) + struct.pack(f"<{len(reply.observation)}d", *reply.observation)


UNREADABLE = (
    UnreadableError,
    zlib.error,
    struct.error,
    AttributeError,
    KeyError,
    IndexError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)


def verdict(path: Path) -> str:
    """Check a file, and tell what came of it."""
    table = path.with_name(path.name + ".table")
    states = json.loads(table.read_text())["states"] if table.exists() else None
    try:
        Checker(Certificate(path.read_bytes()), states).check()
    except RefutedError as error:
        return f"refuted: {error}"
    except UNREADABLE as error:
        return f"unreadable: {error!r}"
    return "verified"


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(verdict(Path(argument)), flush=True)
