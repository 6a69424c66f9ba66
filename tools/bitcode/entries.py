"""Every function that is compiled, with arguments whose types are those of all its calls; none of them is run."""

from dataclasses import replace

import numpy as np
from numba import types

from kinegraph.derive.dynamics.state_rate import Forces
from kinegraph.io.language.reader import parse
from kinegraph.jit.marks import Kind, kind_of
from kinegraph.model.mechanism import Impacts
from kinegraph.passes.compiled_search.anneal import enter
from kinegraph.recursive import entries as recursions
from kinegraph.recursive import systems
from kinegraph.recursive.chains import dynamics
from kinegraph.recursive.linkages import pins
from kinegraph.simulate.contacts.stepped import ContactSettings, SteppedContacts, SteppedForm
from kinegraph.solve.contacts.compiled_phases import CompiledContactRun
from kinegraph.solve.contacts.memory import ContactObservation, contact_memory
from kinegraph.solve.contacts.mode import ContactSet
from kinegraph.solve.ensemble import CaseProblem
from kinegraph.solve.loops import collision_points, contact_stepping, multistep, stepping
from kinegraph.solve.loops import contact_phases as contact_loop
from kinegraph.solve.loops import ensemble as case_loop
from kinegraph.solve.methods.cvode import _common, multistep_work
from kinegraph.solve.methods.method import EVERY_STEP, NO_EVENTS
from kinegraph.solve.methods.runge_kutta import RungeKutta, loop_system, loop_work
from kinegraph.solve.methods.step_control import FixedStep
from kinegraph.solve.methods.symplectic import Symplectic
from kinegraph.solve.methods.tableau import DORMAND_PRINCE_8
from kinegraph.solve.problem import CauchyProblem, Closing, RightHandSide
from kinegraph.solve.recording import OwnSteps, Recorder
from tools.bitcode.compile import register, types_of

#: Modules whose functions make arrays.
COUNTED = "recursive."

_NOTHING = np.zeros((1, 0))

#: A problem whose types are those of all problems.
TYPICAL = CauchyProblem(RightHandSide(1, ("y",)), np.zeros(1), 0.0, 1.0)


def entries():
    """Files of bitcode: name -> [(function, types of its arguments)]; and the names whose functions make arrays."""
    files = {}
    for function, arguments in [*_solver_loops(), *_callbacks(), *_search(), *_recursions(), *_steppers()]:
        name = function.__module__.removeprefix("kinegraph.")
        if kind_of(function) is not Kind.CALLBACK:
            if not name.startswith(COUNTED):
                register(arguments)
            arguments = types_of(arguments)
        files.setdefault(name, []).append((function, tuple(arguments)))
    return files, frozenset(name for name in files if name.startswith(COUNTED))


def _solver_loops():
    def sliced(loop_of, problem=TYPICAL):
        made = loop_of(problem, FixedStep(1.0), Recorder(problem, EVERY_STEP, NO_EVENTS))
        return made.advance, (*made.arguments, 0)

    yield sliced(RungeKutta(DORMAND_PRINCE_8)._loop)
    yield sliced(Symplectic()._loop)
    closed = replace(TYPICAL, rhs=replace(TYPICAL.rhs, rows=("g",), closing=Closing(1, 1, 1)))
    yield sliced(Symplectic()._closed_loop, closed)
    recorder = Recorder(TYPICAL, EVERY_STEP, NO_EVENTS)
    yield multistep.follow, (*_common(TYPICAL, multistep_work(TYPICAL, 13), recorder), 0.0)
    problem = CaseProblem(DORMAND_PRINCE_8, TYPICAL, FixedStep(1.0))
    cases = problem._cases(np.zeros((1, 1)), _NOTHING, np.zeros(1, dtype=np.int64))
    yield case_loop.run_cases, (*problem._arguments(cases, problem.outputs.tally(1, 0), 1), 0, 0)
    yield _contacts(DORMAND_PRINCE_8)


def _steppers():
    system, work, clock = loop_system(TYPICAL), loop_work(TYPICAL, DORMAND_PRINCE_8), np.zeros(4)
    yield stepping.take_steps, (system, work, clock, 0)
    table = np.zeros((1, 1))
    rows = stepping.Rows(0, table, table, table, table, np.zeros(1), table, np.zeros(1, dtype=np.int64))
    yield stepping.take_steps_of_rows, (system, rows, work, clock, 0)
    stepped_contacts = _touching()
    kept, count = np.zeros((1, 1)), np.zeros(1, dtype=np.int64)
    yield contact_stepping.take_contact_steps, (system, work, *stepped_contacts, kept, clock, 0)
    several = contact_stepping.ContactRows(table, table, table, table, np.zeros((1, 1, 1)), count)
    yield contact_stepping.take_contact_steps_of_rows, (system, several, work, *stepped_contacts, clock, 0)
    model, memory = stepped_contacts
    found = (model.shapes, memory.collisions, memory.poses, memory.touches, 0.0)
    yield collision_points.nearest_points, found


def _touching():
    """A ball on a plane: what touches, and memory."""
    mechanism = parse("coordinates z; Ball | Sz(z) | m(1); shape Ball | Sz(0) | sphere(1);")
    contacts = SteppedContacts(
        mechanism, SteppedForm(mechanism, {}, Forces({})), {}, ContactSettings(ground=0.0), native=False
    )
    codes = dict.fromkeys(("poses", "motion", "moves", "gaps", "gap_rows"), 1)
    return contacts.model._replace(**codes), contacts.memory()


def _contacts(tableau):
    run = CompiledContactRun(tableau, FixedStep(1.0), _OneContact(), (0.0, 1.0), np.zeros(1), OwnSteps())
    return contact_loop.advance, (*run._arguments, 0)


class _OneContact:
    """A system with one contact."""

    names, watched, stops = ("contact",), 0, frozenset()
    observation = ContactObservation(
        1,
        tuple(
            (name, slice(k, k + 1), (1, 1) if name in ("compliance", "responses") else (1,))
            for k, name in enumerate(("gaps", "spans", "reaches", "rates", "speeds", "free", "compliance", "responses"))
        ),
    )
    contacts = ContactSet(names, (0.0,), (0.0,), (0,), Impacts(), slice(0, 1), 1.0)

    @property
    def memory(self):
        return contact_memory(self.contacts, self.observation, self.problem_of(False, np.zeros(1), 0.0, 1.0), 0)

    def problem_of(self, closed, state, start, end):
        return CauchyProblem(replace(TYPICAL.rhs, parameters=2), state, start, end, np.zeros(2))

    def events_of(self, closed):
        return NO_EVENTS


def _callbacks():
    address = types.int64
    yield multistep.rate, [types.float64, *[address] * 3]
    yield multistep.jacobian, [types.float64, *[address] * 7]


def _search():
    memory = np.zeros(1, dtype=np.int64)
    yield enter, (memory, memory, np.zeros(1), 0, 0, 0)


class _Recorded:
    """Stands for compiled code while samples are taken: Python runs the function and its arguments are kept."""

    address, calls = 0, {}

    def __init__(self, function):
        self.function = function
        self.calls.setdefault(function, None)

    def __call__(self, *arguments):
        self.calls[self.function] = arguments
        return self.function(*arguments)


def _recursions():
    """The recursions over bodies, as systems of every kind call them."""
    for module in (recursions, systems, dynamics, pins):
        module.compiled = _Recorded
    _run_trees()
    _run_loops()
    for function, arguments in _Recorded.calls.items():
        if kind_of(function) is Kind.CALLBACK:
            yield function, [types.int64] * function.__code__.co_argcount
        else:
            yield function, arguments


def _run_trees():
    for text in (
        "coordinates a, b; gravity 0,0,-9; A | Rx(a) | m(1), Jx(1); B~A | Sz(1), Rx(b) | Sz(1), m(1);",
        "coordinates a, b; gravity 0,0,-9; A | Rx(a) | m(1), Jx(1); B~A | Sz(1), Rx(b - a) | Sz(1), m(1);",
    ):
        system = systems.RecursiveSystem(parse(text))
        state = np.full(2, 0.1)
        system.tau(state, state, state)
        system.qdd(state, state, state)
        system.energy(state, state)
        system.inertia(state)
        system.addressed([0, 2, 4, -1])


def _run_loops():
    chain = "coordinates a = 1, b = 1, c = 1; gravity 0,0,-9; A | Rx(a) | Sz(1), m(1), Jx(1); "
    loop = chain + "B~A | Sz(1), Rx(b) | Sz(1), m(1), Jx(1); C~B | Sz(1), Rx(c) | Sz(1), m(1), Jx(1); "
    mechanism = parse(loop + "loop pin | revolute(x) | C: Sz(1) | Sy(1);")
    state = np.array([1.0, 0.5, 0.2])
    linkage = systems.ClosedSystem(mechanism).closed_method.system
    linkage.evaluated(state, state, state)
    linkage.projected_states(state, state)
    linkage.projection_at(6)
    linkage.accelerations_at([0, 3, 6])
    chains = dynamics.ChainSystem(mechanism)
    chains.evaluated(state, state, state)
    dynamics.integrated(chains, state, state, 0.01, 0.01)
