"""The table of everything that is fuzzed."""

from __future__ import annotations

from tests.fuzz import commands, formulas, models, settings
from tests.fuzz.subject import Subject

SUBJECTS = (
    Subject("records", 310, models.make_records, models.run_records),
    Subject("urdf", 130, models.make_urdf, models.run_urdf),
    Subject("mjcf", 150, models.make_mjcf, models.run_mjcf),
    Subject("table", 100, models.make_table, models.run_table),
    Subject("expression", 180, formulas.make_expression, formulas.run_expression),
    Subject("graph", 80, formulas.make_graph, formulas.run_graph),
    Subject("minimize", 30, formulas.make_sympy, formulas.run_minimize),
    Subject("sdf", 60, models.make_sdf, models.run_sdf),
    Subject("vectors", 40, models.make_vectors, models.run_vectors),
    Subject("study", 60, settings.make_study, settings.run_study),
    Subject("parameters", 40, settings.make_parameters, settings.run_parameters),
    Subject("port", 30, settings.make_port, settings.run_port),
    Subject("passes", 40, settings.make_passes, settings.run_passes),
    Subject("question", 40, settings.make_question, settings.run_question),
    Subject("command", 20, commands.make_command, commands.run_command),
)
BY_NAME = {subject.name: subject for subject in SUBJECTS}
