"""A live simulation: the mechanism moves in real time, and the page pushes bodies and changes parameters meanwhile."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.assembly.assemble import Assembler
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.compile import compile as compile_quantities
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import float_values, number, parameter_values
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.simulator import Simulator, simulator
from kinegraph.studio.model_text import read_model
from kinegraph.studio.requests import Arguments, Channel
from kinegraph.studio.scene import settings

#: Frames a second, and the frequency and the damping of the spring between the mouse and a body.
RATE = 50.0
_PULL = 2 * np.pi * 0.8
_DAMPED = 0.7


#: Events that a frame carries, the newest ones: frames may be lost. A velocity that changes so many times faster than
#: in the step before has jumped; an event that repeats within SOON seconds is not told again.
_MOST_EVENTS = 50
_JUMP = 30.0
_SOON = 0.02


class _Events:
    """What happens at contacts: they begin, end and bounce. Times are those of the steps."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.watched = bool(mechanism.contacts)
        self._bounce = f"{mechanism.contacts[0].name}: impact" if len(mechanism.contacts) == 1 else "impact"
        self._in_contact: frozenset[str] = frozenset()
        self._velocity: Floats | None = None
        self._change = np.inf
        self._told: deque[tuple[str, float]] = deque(maxlen=_MOST_EVENTS)
        self._count = 0

    def forget(self) -> None:
        """The state was changed from outside: the next change of the velocity is no impact."""
        self._velocity, self._change = None, np.inf

    def after_step(self, sim: Simulator) -> None:
        """Compare with the step before."""
        in_contact = frozenset(" and ".join(filter(None, (one.first, one.second))) for one in sim.contacts)
        new, gone = in_contact - self._in_contact, self._in_contact - in_contact
        change = np.inf if self._velocity is None else float(np.abs(sim.v - self._velocity).max())
        if change > _JUMP * self._change + 1e-9 and not new:
            self._tell(self._bounce, sim.t)
        for name in sorted(new):
            self._tell(f"{name}: contact", sim.t)
        for name in sorted(gone):
            self._tell(f"{name}: release", sim.t)
        self._in_contact, self._velocity, self._change = in_contact, sim.v.copy(), change

    def _tell(self, name: str, time: float) -> None:
        if not any(one == name and time - before < _SOON for one, before in self._told):
            self._told.append((name, time))
            self._count += 1

    def newest(self) -> dict[str, object]:
        """The newest events, and how many there were before them."""
        listed = [{"name": name, "time": time} for name, time in self._told]
        return {"before": self._count - len(listed), "list": listed}


@dataclass
class _Push:
    """A body pulled toward a point of the fixed frame by a spring at a point of the body."""

    body: str
    local: Floats
    target: Floats


class _Live:
    """A simulator with what the page may do to it."""

    def __init__(self, mechanism: Mechanism, arguments: Arguments) -> None:
        self.mechanism = mechanism
        given = settings(mechanism, arguments)
        self.values = float_values(parameter_values(mechanism, given))
        runtime = [one.name for one in mechanism.parameters]
        state = arguments.get("state")
        self.step = float(str(arguments.get("step") or 1e-3))
        known = state if isinstance(state, Mapping) else {}
        self.start = {name: float(known[name]) for name in mechanism.layout.initial if name in known}
        self.simulator = self._simulator(runtime, given)
        self.runtime = runtime
        self.speed = 1.0
        self.playing = True
        self.push: _Push | None = None
        self.events = _Events(mechanism)
        self._kernels: dict[str, tuple[Kernel, Kernel]] = {}
        self._energy = compile_quantities(mechanism, "energy", runtime=runtime, parameters=given)

    def _simulator(self, runtime: Sequence[str], given: Mapping[str, object]) -> Simulator:
        found = simulator(
            self.mechanism, dt=self.step, state=self.start, parameters=given, runtime=runtime,  # type: ignore[arg-type]
            controls=self.mechanism.layout.forces,
        )  # fmt: skip
        assert isinstance(found, Simulator)
        return found

    def advance(self, seconds: float) -> None:
        """Step through some seconds of the motion; forces of the mouse are held meanwhile."""
        left = max(1, round(seconds / self.step))
        while left > 0:
            count = min(left, max(1, round(0.01 / self.step)))
            self.simulator.u[:] = self._forces()
            self._steps(count)
            left -= count

    def _steps(self, count: int) -> None:
        if not self.events.watched:
            self.simulator.step(steps=count)
            return
        for _ in range(count):
            self.simulator.step()
            self.events.after_step(self.simulator)

    def _forces(self) -> Floats:
        """Forces in the joints that are equal to the pull of the mouse."""
        push, sim = self.push, self.simulator
        if push is None:
            return np.zeros(len(sim.u))
        pose, jacobian = self._kinematics(push.body)
        placed, rows = self._at(pose), self._at(jacobian)
        arm = placed[:3, :3] @ push.local
        rows = rows[:3] - _cross(arm) @ rows[3:]
        stiffness = self._mass(push.body) * _PULL**2
        force = stiffness * (push.target - placed[:3, 3] - arm)
        force -= 2 * _DAMPED * stiffness / _PULL * (rows @ sim.v)
        return np.asarray(rows.T @ force)

    def _at(self, kernel: Kernel) -> Floats:
        """A quantity now."""
        sim = self.simulator
        known = {"q": sim.q, "v": sim.v, "z": sim.z, "t": sim.t, "p": sim.parameters}
        given = {one.name: np.asarray(known[one.name], np.float64) for one in kernel.arguments}
        return np.asarray(kernel(**given), np.float64)

    def _kinematics(self, body: str) -> tuple[Kernel, Kernel]:
        if body not in self._kernels:
            found = [
                compile_quantities(self.mechanism, f"{one}:{body}", runtime=self.runtime, parameters=self.values)
                for one in ("pose", "jacobian")
            ]
            self._kernels[body] = (found[0], found[1])
        return self._kernels[body]

    def _mass(self, body: str) -> float:
        own = next(one for one in self.mechanism.bodies if one.name == body)
        values = self.values
        mass = number(own.inertia.mass, values)
        return mass or sum(number(one.inertia.mass, values) for one in self.mechanism.bodies) or 1.0

    def parameters(self) -> dict[str, float]:
        """The values of the parameters now."""
        return dict(zip(self.runtime, self.simulator.parameters.tolist(), strict=True))

    def hear(self, words: Mapping[str, object]) -> bool:
        """Do what the page says; False to end."""
        if words.get("stop"):
            return False
        if "playing" in words:
            self.playing = bool(words["playing"])
        if "speed" in words:
            self.speed = min(max(float(str(words["speed"])), 0.01), 20.0)
        if words.get("restart"):
            self.simulator.reset()
            self.events.forget()
        if "push" in words:
            self.push = self._pushed(words["push"])
        changed = words.get("parameters")
        if isinstance(changed, Mapping):
            self._change(changed)
        return True

    def _pushed(self, given: object) -> _Push | None:
        if not isinstance(given, Mapping) or given.get("body") not in {one.name for one in self.mechanism.bodies}:
            return None
        local, target = (np.array(given[name], float) for name in ("local", "target"))
        if local.shape != (3,) or target.shape != (3,) or not np.isfinite([*local, *target]).all():
            return None
        return _Push(str(given["body"]), local, target)

    def _change(self, changed: Mapping[object, object]) -> None:
        """Change parameters; a mechanism with loops is assembled again at once, near where it is."""
        sim = self.simulator
        self.events.forget()
        for name, value in changed.items():
            if name in self.runtime and isinstance(value, int | float) and np.isfinite(value):
                sim.parameters[self.runtime.index(str(name))] = value
                self.values[str(name)] = float(value)
        if is_constrained(self.mechanism):
            place = Assembler(self.mechanism, self.parameters()).assembled(sim.q.copy(), sim.v.copy())
            now = sim.save()
            state = now.state.copy()
            state[: len(place.q) + len(place.v)] = np.concatenate([place.q, place.v])
            sim.restore(replace(now, state=state))

    def frame(self) -> dict[str, object]:
        """What the page draws: time, state and energies."""
        sim = self.simulator
        kinetic, potential = self._at(self._energy).tolist()
        found = {"t": sim.t, "state": sim.state.tolist(), "kinetic": kinetic, "potential": potential}
        return found | {"events": self.events.newest()} if self.events.watched else found


def live(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """Move the mechanism in real time until the page stops it."""
    channel.progress(0.0, "compiling")
    running = _Live(read_model(arguments), arguments)
    channel.frame({"frame": running.frame(), "names": list(running.mechanism.layout.initial)})
    due = time.monotonic()
    while True:
        while (words := channel.heard(max(due - time.monotonic(), 0.0))) is not None:
            given = words.get("with")
            if words.get("do") == "steer" and isinstance(given, Mapping) and not running.hear(given):
                return {"t": running.simulator.t}
        now = time.monotonic()
        behind, due = now - due, max(due + 1 / RATE, now)
        if running.playing:
            running.advance(running.speed * min(1 / RATE + behind, 0.1))
        channel.frame({"frame": running.frame()})


def _cross(arm: Floats) -> Floats:
    x, y, z = arm
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
