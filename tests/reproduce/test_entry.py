"""When a printed number agrees with ours."""

import pytest

from kinegraph.reproduce.document import Verdict, fewer, number


@pytest.mark.parametrize(
    ("printed", "ours", "verdict"),
    [
        ("0.002", 0.00249, Verdict.AGREES),
        ("0.002", 0.00251, Verdict.UNEXPLAINED),
        ("4.08268", 4.082684, Verdict.AGREES),
        ("4.08268", 4.08269, Verdict.UNEXPLAINED),
        ("0.0", -0.04, Verdict.AGREES),
        ("26", 26.3, Verdict.AGREES),
        ("26", 26.6, Verdict.UNEXPLAINED),
    ],
)
def test_a_number_agrees_if_it_rounds_to_what_is_printed(printed: str, ours: float, verdict: Verdict) -> None:
    assert number("x", printed, ours).verdict is verdict


def test_a_reason_is_given_only_where_numbers_differ() -> None:
    assert number("x", "1.0", 1.01, "a misprint").reason == ""
    differing = number("x", "1.0", 2.0, "a misprint")
    assert (differing.verdict, differing.reason, differing.ours) == (Verdict.EXPLAINED, "a misprint", "2.000")


def test_rounded_data_widen_what_agrees() -> None:
    assert number("x", "1.000", 1.002).verdict is Verdict.UNEXPLAINED
    assert number("x", "1.000", 1.002, slack=0.002).verdict is Verdict.AGREES


def test_fewer_operations_are_better_and_more_need_a_reason() -> None:
    found = [fewer("mul", 140, ours, reason).verdict for ours, reason in ((140, ""), (69, ""), (141, "why"), (141, ""))]
    assert found == [Verdict.AGREES, Verdict.BETTER, Verdict.EXPLAINED, Verdict.UNEXPLAINED]
