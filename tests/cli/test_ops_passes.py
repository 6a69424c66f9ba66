"""`kinegraph ops --passes`: passes in the user's own order."""

from tests.cli.run import data, runner


def test_own_passes_are_counted_one_by_one_and_proved(capsys):
    run = runner(capsys)
    found = data(run("ops double-pendulum -q tau --json", "--passes", "expand(forms=0), products, monomials(degree=2)"))
    assert [stage["name"] for stage in found["passes"]] == [
        "derived", "frames chosen", "expand", "products", "monomials",
    ]  # fmt: skip
    assert found["proved"]
    assert found["largest_exponent"] == 2


def test_a_pass_that_does_not_exist_is_named(capsys):
    result = runner(capsys)("ops double-pendulum -q tau", "--passes", "expnd")
    assert result.code != 0
    assert "no pass 'expnd'" in result.err
