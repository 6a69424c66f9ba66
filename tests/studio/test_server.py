"""The studio's server: who may speak to it, which files it reaches, and what it survives."""

from __future__ import annotations

import asyncio
import json
import socket
from urllib.parse import urlsplit

import pytest

from kinegraph import library
from kinegraph.studio.workers import Lane, Spares
from tests.cli.run import runner
from tests.programs import HANGS
from tests.studio.served import Page, get, page, studio

GOOD = "parameters l = 1; coordinates q = 0.5; gravity 0, 0, -9.81; Rod | Ry(q) | Sz(-l), m(1), Jy(1);"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("folder")
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.kg").write_text(GOOD)
    (found / "arm.kg").write_text(GOOD)
    (found / ".hidden.kg").write_text(GOOD)
    (found / "below").mkdir()
    (found / "below" / "leg.kg").write_text(GOOD)
    (found / "link.kg").symlink_to(outside / "secret.kg")
    (found / "out").symlink_to(outside)
    return found


@pytest.fixture(scope="module")
def address(folder):
    with studio(folder) as found:
        yield found


@pytest.fixture
def seen(address):
    with page(address, "tests") as found:
        yield found


def test_the_page_allows_only_its_own_script(address):
    status, headers, text = get(address)
    assert status == 200 and 'src="studio.js"' in text and "<script>" not in text
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy and headers["referrer-policy"] == "no-referrer"
    nonces = {get(address)[1]["content-security-policy"] for _ in range(2)}
    assert len(nonces) == 2
    assert get(f"{address}studio.js")[0] == 200


@pytest.mark.parametrize("path", ["/", "/studio.js", "/wrong-token/", "/../", "//", "/%2e%2e/", "/wrong/socket"])
def test_without_the_token_there_is_nothing(address, path):
    assert get(address, path)[0] == 404


@pytest.mark.parametrize(
    "name", ["server.py", "../server.py", "%2e%2e/server.py", "assets", "studio.js/../../server.py"]
)
def test_only_assets_are_served(address, name):
    assert get(address, urlsplit(address).path + name)[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example", ""])
def test_another_host_name_is_refused(address, host):
    """DNS rebinding: a foreign name that resolves to this machine."""
    assert get(address, headers={"Host": host})[0] in (400, 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1", "null", "http://127.0.0.1:1"])
def test_another_origin_is_refused(address, origin):
    assert get(address, headers={"Origin": origin})[0] == 403
    with pytest.raises(Exception, match="403"), page(address, origin=origin):
        pass


def test_a_connection_needs_an_origin_and_the_token(address):
    with pytest.raises(Exception, match="403"), page(address, origin=None):
        pass
    with pytest.raises(Exception, match="403"), page(address.replace(urlsplit(address).path, "/guessed/")):
        pass


def test_files_are_those_of_the_folder(seen):
    assert seen.ask("files")["files"] == ["arm.kg", "below/leg.kg"]
    assert seen.ask("open", name="below/leg.kg")["text"] == GOOD
    assert seen.ask("template", name="four-bar")["text"] == library.text("four-bar")


OUTSIDE = [
    "../secret.kg",
    "/etc/passwd",
    "link.kg",
    "out/secret.kg",
    ".hidden.kg",
    "below/../../x.kg",
    "",
    "a\0b",
    "C:x",
]


@pytest.mark.parametrize("name", [*OUTSIDE, "", "x" * 5000, "below"])
def test_no_path_leads_out(seen, folder, name):
    assert "message" in seen.refused("open", name=name)
    assert "message" in seen.refused("save", name=name, text=GOOD, stamp="")
    assert (folder.parent / "x.kg").exists() is False


def test_a_file_is_saved_whole_and_nobodys_work_is_overwritten(seen, folder):
    found = seen.ask("save", name="new.kg", text=GOOD, stamp="")
    assert (folder / "new.kg").read_text() == GOOD and "new.kg" in found["files"]
    (folder / "new.kg").write_text("changed elsewhere")
    error = seen.refused("save", name="new.kg", text=GOOD, stamp=found["stamp"])
    assert "has changed on disk" in error["message"] and (folder / "new.kg").read_text() == "changed elsewhere"
    assert "a .kg file" in seen.refused("save", name="run.py", text="", stamp="")["message"]
    assert list(folder.glob(".studio*")) == []
    (folder / "new.kg").unlink()


def test_the_page_hears_of_changes_on_disk(seen, folder):
    seen.ask("open", name="arm.kg")
    (folder / "arm.kg").write_text(GOOD + " # more")
    while "more" not in seen.event("disk")["text"]:
        pass
    (folder / "arm.kg").write_text(GOOD)


def test_a_scene_and_errors_at_their_places(seen):
    found = seen.ask("scene", text=GOOD, file="")
    assert found["model"] == "model" and [one["name"] for one in found["coordinates"]] == ["q"]
    assert all(chip["ready"] for chip in found["readiness"])
    assert found["statements"][-1] == {"kind": "body", "name": "Rod", "first": 1, "last": 1}
    wrong = seen.ask("scene", text=GOOD + "\nTip~Rd | Sx(1) | m(1);", file="")["error"]
    assert wrong["line"] == 2 and wrong["fix"] == {"replace": "Rd", "with": "Rod"}
    assert seen.ask("scene", text="model ;", file="")["error"]["column"] == 7


def test_readiness_says_what_blocks_what(seen):
    text = GOOD.replace("l = 1", "l = 1, m2").replace("m(1)", "m(m2)")
    found = seen.ask("scene", text=text, file="")
    chips = {chip["name"]: chip for chip in found["readiness"]}
    assert chips["simulation"]["why"] == "parameter m2 has no value" and not chips["simulation"]["ready"]
    assert chips["drawing"]["why"] == "drawn with m2 = 1"
    chips = seen.ask("scene", text=text, file="", parameters={"m2": 3, "gone": 1})["readiness"]
    assert all(chip["ready"] for chip in chips)


def test_a_huge_or_endless_model_is_refused_and_the_page_lives(seen):
    assert (
        "deeper than"
        in seen.ask("scene", text=f"parameters a = {'(' * 5000}1{')' * 5000};", file="")["error"]["message"]
    )
    many = "".join(f"B{k} | Rz(q{k}) | m(1), Jz(1);" for k in range(3000))
    names = ", ".join(f"q{k}" for k in range(3000))
    slow = seen.send("scene", text=f"coordinates {names};{many}", file="")
    seen.send("cancel", lane="model")
    assert seen.answer(slow)["error"]["message"] == "canceled"
    assert seen.ask("scene", text=GOOD, file="")["model"] == "model"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"do": 3}', '{"id": 1, "do": "scene", "with": 5}', "[" * 100_000])
def test_nonsense_is_survived(seen, text):
    seen.socket.send(text)
    assert "unknown request" in seen.refused("nonsense")["message"]


def test_what_was_typed_is_there_after_the_browser_was_killed(address):
    with page(address, "killed") as first:
        first.ask("open", name="arm.kg")
        first.ask("scene", text="typed, not saved", file="arm.kg")
        first.socket.socket.close()  # without a word
    with page(address, "another") as second:
        found = second.ask("hello")
    assert found["first"] == "arm.kg" and found["draft"] == "typed, not saved"


def test_a_run_goes_on_when_the_browser_is_killed(address):
    with page(address, "runs") as first:
        first.send("run", text=GOOD, file="", duration=2.0)
        first.send("live", text=GOOD, file="")
        first.socket.socket.close()  # without a word
    found = None
    while not found:  # a page that comes later asks for it
        with page(address, "returned") as second:
            found = second.ask("hello").get("finished")
            if not found:
                message = json.loads(second.socket.recv(HANGS))
                found = message.get("result") if message.get("do") == "run" else None
    assert found["t"][-1] == 2.0 and found["positions"] == ["q"]


def test_an_endless_computation_is_stopped():
    """A lane ends what takes longer than its seconds, and goes on with a new process."""

    async def asked():
        spares, answers = Spares(), []
        lane = Lane(spares, lambda kind, text: answers.append(json.loads(text)) if kind == "D" else None, 0.2)
        lane.submit({"id": 1, "do": "live", "with": {"text": GOOD, "file": ""}})
        while not answers:
            await asyncio.sleep(0.01)
        lane.close()
        await spares.close()
        return answers

    assert "stopped after 0.2 s" in asyncio.run(asked())[0]["error"]["message"]


def test_a_thousand_connections_leave_the_studio_alive(address):
    parts = urlsplit(address)
    opened = []
    try:
        with page(address, "before") as first:
            for _ in range(1000):
                one = socket.create_connection((parts.hostname, parts.port), timeout=5)
                opened.append(one)
            assert first.ask("scene", text=GOOD, file="")["model"] == "model"  # while they are open
    finally:
        for one in opened:
            one.close()
    with page(address, "after") as found:
        assert found.ask("scene", text=GOOD, file="")["model"] == "model"


def test_pages_are_limited(address):
    opened = []
    try:
        with pytest.raises(Exception, match=r"403|503|too many"):
            for k in range(20):
                opened.append(Page(address, f"page-{k}"))
    finally:
        for one in opened:
            one.close()
    assert 2 <= len(opened) < 20


@pytest.mark.parametrize("name", ["0.1", "four-bra", "nothing.urdf"])
def test_only_a_model_can_be_a_new_file(capsys, name):
    refused = runner(capsys)(f"studio {name} --no-browser")
    assert refused.code == 2 and f"unknown file, folder or library model '{name}'" in refused.err
