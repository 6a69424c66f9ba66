"""Algorithms 1.1 to 1.3 of Rackovic's dissertation line by line, in NumPy: a second program for H, C, h^G and B.

Each name in `printed` leaves one of the misprints in; without any, the algorithms are right.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field

import numpy as np

#: The misprints, by name.
LOOP = "for (j = 1; j <= N; i++)"
ASSIGNED = "h = ..., H = ..., C = ... for +="
SIGN = "h^G without its minus"
MATRIX_A = "(1.31): A with a minus"


class EndlessError(Exception):
    """A loop never ends."""


@dataclass
class Chains:
    """The inputs: N series of K joints in MS, the first new joint I of each, and the vectors by their indices."""

    table: dict
    printed: frozenset[str] = frozenset()
    parent: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.links = dict(enumerate(self.table["link"], 1))
        self.parent = {int(j): k for k, row in self.links.items() for j in row["r"] if int(j) != k}
        tips = [k for k in self.links if k not in self.parent.values()]
        self.MS = [self.path(tip) for tip in tips]
        self.I = []
        for number, series in enumerate(self.MS):
            before = set().union(*self.MS[:number])
            self.I.append(next(place for place, joint in enumerate(series, 1) if joint not in before))
        self.G = np.array(self.table.get("gravity", [0, 0, -9.81]), float)

    def path(self, link: int) -> list[int]:
        return [*self.path(self.parent[link]), link] if link in self.parent else [link]

    def r(self, i: int, j: int) -> np.ndarray:
        """From joint j to the center of link i, in the axes of link i; of link 0 to the origin."""
        row = self.table.get("ground", {"r": {}}) if i == 0 else self.links[i]
        return np.array(row["r"].get(str(j), [0, 0, 0]), float)

    def series(self):
        """`for (j = 1; j <= N; j++)`, or as printed."""
        j, rounds = 0, 0
        while j < len(self.MS):
            rounds += 1
            if rounds > 100:
                raise EndlessError
            yield j
            j += LOOP not in self.printed


def unit(a):
    return a / np.linalg.norm(a)


def across(axis, vector):
    """ort(e x (r x e)); a vector along the axis is turned first."""
    for one in (vector, vector[[1, 2, 0]]):
        part = np.cross(axis, np.cross(one, axis))
        if np.linalg.norm(part) > 1e-12:
            return unit(part)
    raise ValueError(vector)


def model(toml: str, q: list[float], printed: frozenset[str] = frozenset()) -> dict[str, np.ndarray]:
    """H, C, h^G, the axes Q and e, and the vectors r, as the algorithm computes them."""
    chains = Chains(tomllib.loads(toml), printed)
    count = len(chains.links)
    Q0, Q, e, r = {0: np.eye(3)}, {0: np.eye(3)}, {}, {}

    for j in chains.series():  # the zero pose
        for i in chains.MS[j]:
            if i in Q0:
                continue
            row, k = chains.links[i], chains.parent.get(i, 0)
            axis = unit(np.array(row["axis"], float))
            before = unit(np.array(row.get("axis_before", row["axis"]), float))
            if k == 0 and not chains.r(0, i).any():
                Q0[i] = np.eye(3)
                continue
            a, a0 = across(axis, chains.r(i, i)), Q0[k] @ -across(before, chains.r(k, i))
            e0 = Q0[k] @ before
            Q0[i] = np.column_stack([a0, e0, np.cross(e0, a0)]) @ np.column_stack([a, axis, np.cross(axis, a)]).T

    for j in chains.series():  # the position: every joint turns all links beyond it
        for i in chains.MS[j]:
            if i in e:
                continue
            k = chains.parent.get(i, 0)
            start = Q[k] @ Q0[k].T @ Q0[i]
            e[i] = start @ unit(np.array(chains.links[i]["axis"], float))
            cosine, sine = np.cos(q[i - 1]), np.sin(q[i - 1])
            columns = [
                one * cosine + (1 - cosine) * (e[i] @ one) * e[i] + np.cross(e[i], one) * sine for one in start.T
            ]
            Q[i] = np.column_stack(columns)

    for j in chains.series():  # the vectors r
        for place, s in enumerate(chains.MS[j]):
            r[s, s] = Q[s] @ chains.r(s, s)
            for i in chains.MS[j][:place]:
                t = chains.MS[j][place - 1]
                r[s, i] = r[t, i] - Q[t] @ chains.r(t, s) + r[s, s]

    h, H, C = np.zeros(count), np.zeros((count, count)), np.zeros((count, count, count))
    sign = 1 if SIGN in printed else -1

    def add(array, index, value):
        array[index] = value if ASSIGNED in printed else array[index] + value

    for j in chains.series():
        for i in chains.MS[j][chains.I[j] - 1 :]:
            mass, J = chains.links[i].get("mass", 0), chains.links[i].get("moments", [0, 0, 0])
            beyond = chains.MS[j][: chains.MS[j].index(i) + 1]
            for m, t in enumerate(beyond):
                add(h, t - 1, sign * mass * np.cross(e[t], r[i, t]) @ chains.G)
                for s in beyond[m:]:
                    value = mass * np.cross(e[t], r[i, t]) @ np.cross(e[s], r[i, s])
                    value += sum((e[t] @ Q[i][:, v]) * (e[s] @ Q[i][:, v]) * J[v] for v in range(3))
                    add(H, (t - 1, s - 1), value)
                for p, s in enumerate(beyond):
                    for u in beyond[: p + 1]:
                        value = mass * np.cross(e[t], r[i, t]) @ np.cross(e[u], np.cross(e[s], r[i, s]))
                        for v in range(3):
                            axis = Q[i][:, v]
                            three = (e[t] @ axis) * np.cross(e[u], e[s]) + (e[s] @ axis) * np.cross(e[t], e[u])
                            value += (three + (e[u] @ axis) * np.cross(e[t], e[s])) @ axis * J[v] / 2
                        add(C, (t - 1, s - 1, u - 1), value)
    H = np.triu(H) + np.triu(H, 1).T
    C = np.array([np.tril(one) + np.tril(one, -1).T for one in C])
    return {"H": H, "C": C, "gravity": h, "Q": Q, "e": e, "r": r}


def closing(toml: str, q: list[float], printed: frozenset[str] = frozenset()) -> tuple[np.ndarray, np.ndarray]:
    """A (of the joints that are not basic) and B (of those that are) of the first closing: (1.30), Algorithm 1.3."""
    table = tomllib.loads(toml)
    found, row = model(toml, q), table["closing"][0]
    chains = Chains(table)
    end, axes = found["Q"][row["link"]] @ np.array(row["r"], float), np.array(row["axes"], float)
    A, B = np.zeros((6, len(chains.links))), np.zeros((6, len(chains.links)))
    for i in chains.path(row["link"]):
        arm, basic = found["r"][row["link"], i] + end, i in row["basic"]
        moved = np.concatenate([axes @ np.cross(found["e"][i], arm), axes @ found["e"][i]])
        if basic:
            B[:, i - 1] = -moved
        else:
            A[:, i - 1] = moved
            A[:3, i - 1] *= -1 if MATRIX_A in printed else 1
    return A, B
