"""Random sentences of the model language, made by the very grammar that reads it: new statements come by themselves."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from random import Random

from lark import Lark
from lark.grammar import NonTerminal, Rule, Terminal

from kinegraph.io.language.grammar import grammar_text
from kinegraph.model.expressions import FUNCTIONS
from tests.fuzz.odd import TAME, number

#: Names that the texts of `sources` declare, and words with a meaning somewhere.
NAMES = (
    "q", "q1", "q2", "a", "b", "c", "l", "k", "m", "u", "w", "A", "B", "P", "p", "t", "pi", "x", "y", "z", "Rx", "Ry",
    "Rz", "Sx", "Sy", "Sz", "Q", "Jx", "Jxy", "on", "at", "between", "stiffness", "rest", "damping", "force", "lower",
    "upper", "world", "body", "stretch", "rate", "coulomb", "energy", "revolute", "universal", "link", "box", "sphere",
    *FUNCTIONS,
)  # fmt: skip
_DEEPEST = 12
_EXPONENTS = ("2", "2", "3", "-1", "-2", "(1/2)", "100", "1e6")


class Sentences:
    """Derivations of a grammar; beyond some depth the shortest way out is taken."""

    def __init__(self, grammar: Lark) -> None:
        self.rules: dict[str, list[Rule]] = defaultdict(list)
        for rule in grammar.rules:
            self.rules[rule.origin.name].append(rule)
        self.terminals = {terminal.name: terminal.pattern for terminal in grammar.terminals}
        self.height = self._heights()

    def _heights(self) -> dict[str, int]:
        """How deep the flattest sentence of each symbol is."""
        height: dict[str, int] = dict.fromkeys(self.terminals, 0)
        while len(height) < len(self.terminals) + len(self.rules):
            for name, rules in self.rules.items():
                known = [self._rule_height(rule, height) for rule in rules]
                if name not in height and any(depth is not None for depth in known):
                    height[name] = 1 + min(depth for depth in known if depth is not None)
        return height

    @staticmethod
    def _rule_height(rule: Rule, height: dict[str, int]) -> int | None:
        parts = [height.get(symbol.name) for symbol in rule.expansion]
        return None if None in parts else max((part for part in parts if part is not None), default=0)

    def sentence(self, start: str, chance: Random) -> str:
        """The tokens of one derivation, with blanks between them."""
        return " ".join(self._tokens(NonTerminal(start), chance, 0))

    def _tokens(self, symbol: Terminal | NonTerminal, chance: Random, depth: int) -> list[str]:
        if isinstance(symbol, Terminal):
            return [self._token(symbol.name, chance)]
        rules: Sequence[Rule] = self.rules[symbol.name]
        if depth > _DEEPEST:
            least = min(self._rule_height(rule, self.height) or 0 for rule in rules)
            rules = [rule for rule in rules if (self._rule_height(rule, self.height) or 0) == least]
        rule = chance.choice(rules)
        return [token for part in rule.expansion for token in self._tokens(part, chance, depth + 1)]

    def _token(self, name: str, chance: Random) -> str:
        if name in ("NAME", "MODEL_NAME"):
            return chance.choice(NAMES)
        if name == "NUMBER":
            return number(chance) if chance.random() < 0.1 else chance.choice(TAME).lstrip("-").replace("/", "")
        if name == "POWER":
            return chance.choice(("^", "**"))
        return re.sub(r"\\(.)", r"\1", self.terminals[name].value)


@cache
def sentences() -> Sentences:
    """Sentences of the model language: of `statement`, of `sum` (an expression)."""
    text = grammar_text()
    return Sentences(Lark(text, parser="lalr", maybe_placeholders=True, start=["start", "sum"]))


def well_formed(chance: Random, depth: int, names: Sequence[str]) -> str:
    """An expression of every function and these names, well-formed, with numbers that may be odd."""
    luck = chance.random()
    if depth == 0 or luck < 0.15:
        return chance.choice(names) if chance.random() < 0.6 else number(chance)
    if luck < 0.45:
        function = chance.choice(sorted(FUNCTIONS))
        return f"{function}({', '.join(well_formed(chance, depth - 1, names) for _ in range(FUNCTIONS[function]))})"
    if luck < 0.6:
        return f"({well_formed(chance, depth - 1, names)})^{chance.choice((*_EXPONENTS, *names))}"
    return f"({well_formed(chance, depth - 1, names)} {chance.choice('+-*/')} {well_formed(chance, depth - 1, names)})"
