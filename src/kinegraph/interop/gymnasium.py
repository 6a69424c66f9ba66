"""Environments of Gymnasium on simulators: one mechanism, or many rows of it that are stepped together.

`environment(model, reward=...)` is a `gymnasium.Env`, `environment(model, count=64, reward=...)` a `VectorEnv`. Row k
of the second, seeded with s, is the first seeded with s + k.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.arrays import Floats, Integers
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.derive.dynamics.state_rate import input_symbol
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.errors import SolveError
from kinegraph.extras import extra
from kinegraph.model.evaluate import Value, number, parameter_values
from kinegraph.model.expressions import Name, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.robot_data import ActuatorData, JointLimits
from kinegraph.simulate.simulator import Simulators, simulator
from kinegraph.studies.sampling import Distribution, DistributionLike, read_distributions

try:
    from gymnasium import Env, spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError:
    extra("gymnasium", "an environment of Gymnasium")
    raise

#: A formula, or a function of the arrays q, v and u, whose last axis are the joints.
Measure: TypeAlias = "Scalar | Callable[..., ArrayLike]"
Bools: TypeAlias = NDArray[np.bool_]
Info: TypeAlias = dict[str, Any]


def environment(
    model: MechanismSource,
    *,
    reward: Measure,
    terminated: Measure | None = None,
    observation: Sequence[str] | Callable[..., ArrayLike] | None = None,
    duration: float | None = None,
    dt: float = 1e-3,
    steps: int = 1,
    vary: Mapping[str, DistributionLike] | None = None,
    state: Mapping[str, Scalar] | ArrayLike | None = None,
    controls: Sequence[str] | None = None,
    limits: float | Mapping[str, float | tuple[float, float]] | None = None,
    count: int | None = None,
    autoreset: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    **options: Any,
) -> Environment | VectorEnvironment:
    """An environment of Gymnasium; with `count` a vector environment.

    reward: a formula of the state after the step, the inputs and `t` since the start of the episode, or a function of
        the arrays (q, v, u). Functions must work on rows: `q[..., 0]` is the first coordinate of every row.
    terminated: a formula that is positive where an episode ends, or a function that says so. An episode also ends
        where a step fails, in the state before it; `info["failed"]` says so.
    observation: formulas, or a function of (q, v, u); by default q and v.
    duration: seconds until an episode is truncated. dt: of a step of the simulator. steps: how many of them an action
        holds.
    vary: distributions by name of an initial value or parameter, drawn at every reset: {"q1": "uniform(-1, 1)"}.
    state: where episodes start; else as the model says. controls: what actions act on, see `kg.simulator`.
    limits: of the actions: a magnitude, or magnitudes or (low, high) by name; else those of the model's file. Actions
        are clipped.
    autoreset: of a vector environment: "NextStep", "SameStep" or "Disabled", as in Gymnasium.
    options: further arguments of `kg.simulator`: inputs, contacts, parameters, runtime, threads, native.
    """
    core = _Core(
        model, reward, terminated, observation, duration, dt, steps, vary or {}, state, controls,
        {} if limits is None else limits, 1 if count is None else count, options,
    )  # fmt: skip
    return Environment(core) if count is None else VectorEnvironment(core, AutoresetMode(autoreset))


class Environment(Env[Any, Any]):
    """One mechanism as a `gymnasium.Env`. `sim` is its simulator, with one row."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  as Gymnasium declares it

    def __init__(self, core: _Core) -> None:
        self._core, self.sim = core, core.sim
        self.observation_space, self.action_space = core.observation_space, core.action_space

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Floats, Info]:
        """Start an episode; `options={"state": ...}` says where, without what is drawn."""
        super().reset(seed=seed)
        self._core.begin(np.zeros(1, dtype=np.int64), [self.np_random], options)
        return self._core.observe()[0], {}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, Info]:
        """Hold an action."""
        rewards, ended, truncated, failed = self._core.act(np.asarray(action)[None])
        info = {"failed": True} if failed[0] else {}
        return self._core.observe()[0], float(rewards[0]), bool(ended[0]), bool(truncated[0]), info


class VectorEnvironment(VectorEnv[Floats, Floats, Any]):
    """Many rows of one mechanism as a `gymnasium.vector.VectorEnv`. `sim` is their simulator."""

    def __init__(self, core: _Core, autoreset: AutoresetMode) -> None:
        self._core, self.sim, self.num_envs = core, core.sim, core.sim.count
        self.metadata = {"render_modes": [], "autoreset_mode": autoreset}
        self.single_observation_space, self.single_action_space = core.observation_space, core.action_space
        self.observation_space = batch_space(core.observation_space, self.num_envs)
        self.action_space = batch_space(core.action_space, self.num_envs)
        self._mode = autoreset
        self._generators = [np.random.default_rng() for _ in range(self.num_envs)]
        self._over: Bools = np.ones(self.num_envs, dtype=bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Info | None = None
    ) -> tuple[Floats, Info]:
        """Start episodes in all rows, or with `options={"reset_mask": mask}` in some; row k has the seed s + k."""
        given = dict(options or {})
        mask = given.pop("reset_mask", np.ones(self.num_envs, dtype=bool))
        if np.shape(mask) != (self.num_envs,) or np.asarray(mask).dtype != np.bool_:
            raise SolveError(f"reset_mask has shape {np.shape(mask)}: give {self.num_envs} truth values")
        seeds = [seed + k for k in range(self.num_envs)] if isinstance(seed, int) else seed or [None] * self.num_envs
        if len(seeds) != self.num_envs:
            raise SolveError(f"{len(seeds)} seeds were given: give {self.num_envs}, or one number")
        for row, one in enumerate(seeds):
            if one is not None and mask[row]:
                self._generators[row] = np.random.default_rng(one)
        self._restart(np.flatnonzero(mask), given)
        return self._core.observe(), {}

    def step(self, actions: Floats) -> tuple[Floats, Floats, Bools, Bools, Info]:
        """Hold an action in every row. Rows whose episode is over start again as the autoreset mode says."""
        again = self._over.copy()
        if self._mode is AutoresetMode.DISABLED and again.any():
            raise SolveError(
                f"the episodes of rows {np.flatnonzero(again)[:5].tolist()} are over: reset them with "
                'reset(options={"reset_mask": mask}), or choose another autoreset mode'
            )
        rewards, ended, truncated, failed = self._core.act(actions, ~again)
        info: Info = {"failed": failed, "_failed": failed} if failed.any() else {}
        if again.any():
            self._restart(np.flatnonzero(again), {})
        self._over = ended | truncated
        found = self._core.observe()
        if self._mode is AutoresetMode.SAME_STEP and self._over.any():
            final = np.full(self.num_envs, None, dtype=object)
            for row in np.flatnonzero(self._over):
                final[row] = found[row].copy()
            info |= {"final_obs": final, "_final_obs": self._over.copy()}
            self._restart(np.flatnonzero(self._over), {})
            found = self._core.observe()
        return found, rewards, ended, truncated, info

    def _restart(self, rows: Integers, options: Info) -> None:
        self._core.begin(rows, [self._generators[row] for row in rows], options)
        self._over[rows] = False


@dataclass(frozen=True)
class _Drawn:
    """What is drawn at a reset: the names, their distribution."""

    names: tuple[str, ...]
    distribution: Distribution

    def values(self, generator: np.random.Generator) -> dict[str, float]:
        width = len(self.names)
        cube = generator.random((1, self.distribution.dimensions(width)))
        return dict(zip(self.names, self.distribution.values(cube, width)[0].tolist(), strict=True))


class _Core:
    """Rows of a mechanism, their actions, observations, rewards and endings."""

    def __init__(
        self, model: MechanismSource, reward: Measure, terminated: Measure | None,
        observation: Sequence[str] | Callable[..., ArrayLike] | None, duration: float | None, dt: float, steps: int,
        vary: Mapping[str, DistributionLike], state: Mapping[str, Scalar] | ArrayLike | None,
        controls: Sequence[str] | None, limits: float | Mapping[str, float | tuple[float, float]], count: int,
        options: Mapping[str, Any],
    ) -> None:  # fmt: skip
        mechanism = mechanism_of(model)
        if depends_on_time(mechanism) and count > 1:
            raise SolveError(
                f"{mechanism.name} depends on time, but rows of an environment begin at different times: omit count"
            )
        self._drawn = [_Drawn(names, one) for names, one in read_distributions(vary).items()]
        names = [name for one in self._drawn for name in one.names]
        known = {one.name for one in mechanism.parameters}
        at_run_time = options.get("runtime", ())
        runtime = [*([at_run_time] if isinstance(at_run_time, str) else at_run_time)]
        runtime += [name for name in names if name in known]
        if unknown := [name for name in names if name not in known and name not in mechanism.layout.initial]:
            raise SolveError(f"vary: {mechanism.name} has no initial value or parameter {unknown[0]!r}")
        given = {**options, "runtime": runtime}
        made = simulator(mechanism, dt=dt, state=state, controls=controls, count=count, **given)
        assert isinstance(made, Simulators)
        self.sim = made
        self._state, self._steps, self._period = state, steps, steps * dt
        self._last = np.inf if duration is None else duration * (1 - 1e-9)
        self._elapsed = np.zeros(count)
        self.action_space = _actions(mechanism, made.controls, limits, given.get("parameters"))
        self._reward = self._measured([reward], "reward")
        self._ends = None if terminated is None else self._measured([terminated], "terminated")
        self._observed = None if observation is None else self._measured(
            observation if callable(observation) else list(observation), "observation"
        )  # fmt: skip
        size = self.observe().shape[-1]
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float64)

    # episodes

    def begin(self, rows: Integers, generators: Sequence[np.random.Generator], options: Info | None) -> None:
        """Start episodes in these rows."""
        given = dict(options or {})
        wanted = given.pop("state", None)
        if given:
            raise SolveError(f"options: unknown entry {next(iter(given))!r}; known is 'state'")
        for row, generator in zip(rows.tolist(), generators, strict=True):
            drawn = {name: value for one in self._drawn for name, value in one.values(generator).items()}
            start = self._start(drawn) if wanted is None else wanted
            self.sim.reset(start, t0=0.0 if self.sim.count == 1 else None, rows=[row])
            for place, name in enumerate(self.sim.runtime):
                if name in drawn:
                    self.sim.parameters[row, place] = drawn[name]
        self._elapsed[rows] = 0.0

    def _start(self, drawn: Mapping[str, float]) -> Mapping[str, Scalar] | ArrayLike | None:
        """The initial state with what was drawn."""
        changed = {name: value for name, value in drawn.items() if name in self.sim.names}
        if not changed:
            return self._state
        if self._state is None or isinstance(self._state, Mapping):
            return {**(self._state or {}), **changed}
        start = np.array(self._state, dtype=float)
        for name, value in changed.items():
            start[self.sim.names.index(name)] = value
        return start

    def act(self, actions: ArrayLike, going: Bools | None = None) -> tuple[Floats, Bools, Bools, Bools]:
        """Hold actions in rows: rewards, terminated, truncated, failed. Rows that do not go on are zero in all four."""
        moving = np.ones(self.sim.count, dtype=bool) if going is None else going
        u = np.clip(actions, self.action_space.low, self.action_space.high)
        if u.shape != self.sim.u.shape:
            raise SolveError(f"the action has shape {u.shape[1:]}: give {', '.join(self.sim.controls)}")
        self.sim.step(np.where(moving[:, None], u, 0.0), steps=self._steps, check=False)
        self._elapsed += self._period
        failed = np.asarray(self.sim.failed & moving)
        earned = self._reward(self)[:, 0]
        bad = ~np.isfinite(earned)
        if (wrong := np.flatnonzero(bad & moving & ~failed)).size:
            raise SolveError(f"the reward is {earned[wrong[0]]} in row {wrong[0]}: it must be finite in every state")
        rewards = np.where(moving & ~bad, earned, 0.0)  # a failed step may end in numbers that overflow
        ended = failed if self._ends is None else failed | (self._ends(self)[:, 0] > 0)
        truncated = self._elapsed >= self._last
        return rewards, ended & moving, truncated & moving, failed

    def observe(self) -> Floats:
        """What is observed, a row for each."""
        return self.sim.state.copy() if self._observed is None else self._observed(self)

    # formulas and functions

    def _measured(self, given: Sequence[Measure] | Callable[..., ArrayLike], what: str) -> Callable[[_Core], Floats]:
        """Formulas or a function as values of all rows."""
        function = given if callable(given) else given[0] if len(given) == 1 and callable(given[0]) else None
        if function is not None:
            return lambda core: core._called(function, what)
        observed = self.sim.observer(given)  # type: ignore[arg-type]
        return lambda core: observed(core._elapsed)

    def _called(self, function: Callable[..., ArrayLike], what: str) -> Floats:
        sim = self.sim
        found = np.asarray(function(sim.q.copy(), sim.v.copy(), sim.u.copy()), dtype=float)
        if what != "observation" and found.shape == (sim.count,):
            found = found[:, None]
        if found.ndim != 2 or len(found) != sim.count or (what != "observation" and found.shape[1] != 1):
            wanted = f"({sim.count}, any)" if what == "observation" else f"({sim.count},)"
            raise SolveError(
                f"the function of {what} returned shape {found.shape}, not {wanted}: its arguments are rows, so "
                "write q[..., 0] for a coordinate"
            )
        if what == "observation" and not np.isfinite(found).all():
            row = int(np.argwhere(~np.isfinite(found))[0][0])
            raise SolveError(f"the function of {what} returned a value that is not finite, in row {row}")
        return found


def _actions(
    mechanism: Mechanism, controls: Sequence[str], given: float | Mapping[str, float | tuple[float, float]],
    parameters: Mapping[str, Value] | None,
) -> spaces.Box:  # fmt: skip
    """The space of actions: given limits, else those of the model's file; SolveError without any."""
    limits = given if isinstance(given, Mapping) else dict.fromkeys(controls, given)
    if unknown := sorted(set(limits) - set(controls)):
        raise SolveError(f"limits: {unknown[0]!r} is not a control; these are {', '.join(controls)}")
    if not controls:
        raise SolveError(f"{mechanism.name} has no controls: every input has a formula")
    known = _file_limits(mechanism, parameter_values(mechanism, parameters or {}))
    ends = []
    for name in controls:
        one = limits.get(name, known.get(input_symbol(mechanism, name)))
        if one is None:
            raise SolveError(f"no limits of the control {name!r} are known: give limits={{{name!r}: 10}}")
        low, high = one if isinstance(one, tuple) else (-one, one)
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise SolveError(f"limits of {name!r} are {low} to {high}: give two finite numbers, the lower one first")
        ends.append((low, high))
    table = np.array(ends)
    return spaces.Box(table[:, 0], table[:, 1], dtype=np.float64)


def _file_limits(mechanism: Mechanism, values: Mapping[str, Value]) -> dict[str, tuple[float, float]]:
    """Ranges of actuators and efforts of joints, by symbol."""
    found: dict[str, tuple[float, float]] = {}
    for one in mechanism.extras:
        if isinstance(one, ActuatorData):
            for name, ends in zip(one.inputs, one.ranges, strict=True):
                if ends is not None:
                    found[name] = float(number(ends[0], values)), float(number(ends[1], values))
        elif isinstance(one, JointLimits) and len(one.displacement) == 1 and one.effort is not None:
            (moved,) = one.displacement
            effort = float(number(one.effort, values))
            if isinstance(moved, Name) and effort > 0:
                found[input_symbol(mechanism, moved.text)] = -effort, effort
    return found
