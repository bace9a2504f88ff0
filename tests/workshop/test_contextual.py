"""Context items made by a model: asked once, checked, repaired once, or nothing changes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.bench.context.processing import files_of, problems
from backshop.cli import main
from backshop.models import text_tokens

from ..models.provider import Provider, Reply, chat, messages, serving

SKILL = "---\nname: company-context\ndescription: Boats.\n---\nSee [more](references/summary.md).\n"
FILES = {"SKILL.md": SKILL, "references/summary.md": "We make boats."}


def answer(files: dict[str, str]) -> str:
    return json.dumps({"files": [{"path": p, "content": c} for p, c in files.items()]})


class Place:
    """A bench with a model server that answers as it is told."""

    def __init__(self, shop: Backshop, server: Provider) -> None:
        self.shop = shop
        self.server = server
        self.id = shop.call("WorkbenchCreate", {"name": "Work"})["workbench_id"]
        shop.call(
            "ProvidersUpsertLocal",
            {
                "provider_id": "local-x",
                "preset": "custom",
                "base_url": server.url,
                "models": ["m"],
            },
        )
        shop.call("UserSetDefaultModel", {"model_id": "local-x:m"})

    def call(self, name: str, /, **request):
        return self.shop.call(name, {"workbench_id": self.id, **request})

    def process(self, category: str = "company-context", /, **options):
        given = {"mode": "text", "text": "We are a shipyard."}
        return self.call("ContextProcess", category=category, **{"input": given, **options})

    def consent(self) -> None:
        status = self.call("EgressGetConsentStatus")
        names = ("provider_id", "model_id", "scope_hash")
        granted = {name: status[name] for name in names}
        self.call("EgressGrantWorkshopConsent", **granted, persist=True)

    def artifact(self, category: str = "company-context") -> dict[str, str]:
        found = self.call("ContextGetArtifact", category=category)
        return {one["path"]: one["content"] for one in found["files"]}


@contextmanager
def place(tmp_path: Path, *answers: str | Reply, **settings) -> Iterator[Place]:
    replies = [Reply(chat(one)) if isinstance(one, str) else one for one in answers]
    with serving(*replies) as server, Backshop.open(tmp_path / "home", settings=settings) as shop:
        yield Place(shop, server)


def refused(call, *args, **kwargs) -> tuple[str, str | None]:
    with pytest.raises(BackshopError) as caught:
        call(*args, **kwargs)
    return caught.value.info("workbench").error_code, caught.value.info("workbench").reason


SOURCE = {"mode", "created_at", "last_processed_at", "model_id", "has_direct_edits"}


@pytest.mark.rule("B14.3", "B14.4", "B14.6", "B14.8", "B14.14")
def test_a_text_becomes_an_item_by_one_call(tmp_path):
    with place(tmp_path, answer(FILES)) as here:
        item = here.process()

        assert (item["summary"], item["has_direct_edits"]) == ("Boats.", False)
        assert here.artifact() == FILES
        assert len(here.server.seen) == 1
        sent = json.dumps(here.server.seen[0].json)
        assert "We are a shipyard." in sent
        assert "references/summary.md" in sent
        kept = here.shop.config.home / "benches" / here.id / "meta/context/company-context"
        source = json.loads((kept / "source.json").read_text())
        assert (source["mode"], source["text"]) == ("text", "We are a shipyard.")
        assert source["model_id"] == "local-x:m"
        assert set(source) == SOURCE | {"text"}
        assert source["created_at"] == source["last_processed_at"]
        assert source["has_direct_edits"] is False
        changed = [{"path": path, "content": text} for path, text in FILES.items()]
        here.call("ContextUpdateDirect", category="company-context", files=changed)
        edited = json.loads((kept / "source.json").read_text())
        assert edited["last_direct_edit_at"] >= source["last_processed_at"]
        assert edited == source | {
            "has_direct_edits": True,
            "last_direct_edit_at": edited["last_direct_edit_at"],
        }


@pytest.mark.rule("B14.3", "B14.4", "B14.2")
def test_a_file_becomes_an_item_and_is_kept_beside_it(tmp_path):
    source = tmp_path / "about us.csv"
    source.write_text("name,what\nYard,boats\n")
    given = {"mode": "file", "source_path": str(source), "note": "Only the yard."}
    with place(tmp_path, answer({"context.md": "- Boats by Friday."})) as here:
        item = here.process("situation", input=given)

        assert item["summary"] == "- Boats by Friday."
        sent = json.dumps(here.server.seen[0].json)
        assert "Yard" in sent
        assert "Only the yard." in sent
        kept = here.shop.config.home / "benches" / here.id / "meta/context/situation"
        assert (kept / "source_file" / "about us.csv").read_bytes() == source.read_bytes()
        assert list(here.artifact("situation")) == ["context.md"]
        known = json.loads((kept / "source.json").read_text())
        assert set(known) == SOURCE | {"original_filename", "note"}
        assert (known["mode"], known["note"]) == ("file", "Only the yard.")
        assert known["original_filename"] == "about us.csv"


@pytest.mark.rule("B14.10", "B22.64")
def test_an_answer_that_is_no_item_is_repaired_once(tmp_path):
    with place(tmp_path, "I would rather talk.", answer(FILES)) as here:
        here.process()
        assert here.artifact() == FILES
        again = json.dumps(here.server.seen[1].json)
        assert "the answer holds no JSON with files" in again

    with place(tmp_path / "b", answer(FILES), "Prose.", "More prose.") as here:
        here.process()
        assert refused(here.process) == ("VALIDATION_FAILED", "bad_context_answer")
        assert len(here.server.seen) == 3
        assert here.artifact() == FILES


@pytest.mark.rule("B14.7", "B22.65")
def test_a_cut_answer_is_told_from_bad_json(tmp_path):
    cut = Reply(chat('{"files": [{"path": "SKILL', finish="length"))
    with place(tmp_path, cut, cut) as here, pytest.raises(BackshopError) as caught:
        here.process()

    assert caught.value.detail == "output_truncated"
    assert len(here.server.seen) == 2
    assert "holds no JSON" not in json.dumps(here.server.seen[1].json)


@pytest.mark.rule("B14.7", "B14.10")
def test_an_answer_that_was_cut_is_no_item_although_it_can_be_read(tmp_path):
    whole = {**FILES, "references/more.md": "More."}
    cut = Reply(chat(f"{answer(FILES)} And the rest:", finish="length"))
    with place(tmp_path, cut, answer(whole)) as here:
        here.process()

        assert here.artifact() == whole


CLAUDE = """
from backshop.models import AdapterKind, Auth, ModelRecord, Plugin, ProviderRecord
from backshop.models.wires import anthropic_messages

plugin = Plugin(
    provider=ProviderRecord(
        provider_id="local-claude",
        display_name="Claude",
        adapter=AdapterKind.PLUGIN,
        auth=Auth.NONE,
        base_url="{url}",
        hosts=("127.0.0.1",),
    ),
    models=(
        ModelRecord(
            model_id="local-claude:m",
            provider_id="local-claude",
            wire_name="m",
            display_name="M",
            context_tokens_estimate=200_000,
            max_output_tokens=8_000,
            requires_key=False,
        ),
    ),
    wire=anthropic_messages,
)
"""


@pytest.mark.rule("M19.12", "M8.6", "B14.7")
def test_an_answer_anthropic_cuts_is_repaired_once_and_never_called_bad_json(tmp_path, monkeypatch):
    cut = Reply(messages('{"files": [{"path": "SKILL', stop="max_tokens"))
    info = tmp_path / "site" / "claude_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: claude-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[backshop.models]\nclaude = claude_of_the_test:plugin\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "site")

    with serving(cut, Reply(messages(answer(FILES))), cut, cut) as server:
        module = tmp_path / "site" / "claude_of_the_test.py"
        module.write_text(CLAUDE.format(url=server.url.removesuffix("/v1")))
        sys.modules.pop("claude_of_the_test", None)
        with Backshop.open(tmp_path / "home") as shop:
            here = Place(shop, server)
            here.shop.call("UserSetDefaultModel", {"model_id": "local-claude:m"})

            here.process()
            repaired = here.artifact()
            with pytest.raises(BackshopError) as caught:
                here.process()
            kept = here.artifact()

    assert repaired == kept == FILES
    assert caught.value.detail == "output_truncated"
    assert [one.path for one in server.seen] == ["/v1/messages"] * 4
    for again in (server.seen[1], server.seen[3]):
        assert "output_truncated" in json.dumps(again.json)
        assert "holds no JSON" not in json.dumps(again.json)


@pytest.mark.rule("B14.5", "M4.6", "M4.7", "B22.63")
def test_consent_comes_first_and_covers_what_was_sent(tmp_path):
    with place(tmp_path, answer(FILES), **{"consent.for_local": True}) as here:
        assert refused(here.process)[0] == "EGRESS_CONSENT_REQUIRED"
        missing = {"mode": "file", "source_path": str(tmp_path / "none")}
        assert refused(here.process, input=missing)[0] == "EGRESS_CONSENT_REQUIRED"
        assert here.server.seen == []
        assert here.call("ContextList")["items"][0]["status"] == "empty"

        here.consent()
        here.process()

        status = here.call("EgressGetConsentStatus")
        assert (status["consented"], status["context"]) == (True, ["company-context"])
        here.process(input={"mode": "text", "text": "We also make sails."})
        listed = [{"path": "context.md", "content": "By hand."}]
        here.call("ContextUpdateDirect", category="situation", files=listed, create=True)
        assert here.call("EgressGetConsentStatus")["new_items"] == ["situation"]
        assert refused(here.process)[0] == "EGRESS_CONSENT_REQUIRED"
        edited = [{"path": "SKILL.md", "content": SKILL + "By hand."}]
        here.call("ContextUpdateDirect", category="company-context", files=edited)
        assert "company-context" in here.call("EgressGetConsentStatus")["new_items"]


@pytest.mark.rule("B14.12", "B22.66")
def test_edits_by_hand_are_replaced_only_when_told_so(tmp_path):
    with place(tmp_path, answer(FILES)) as here:
        here.process()
        edited = [{"path": "SKILL.md", "content": SKILL + "By hand."}]
        here.call("ContextUpdateDirect", category="company-context", files=edited)

        assert refused(here.process) == ("CONFIRMATION_REQUIRED", "confirm_overwrite")
        assert here.artifact() == {"SKILL.md": SKILL + "By hand."}
        item = here.process(overwrite_direct_edits=True)
        assert (item["has_direct_edits"], here.artifact()) == (False, FILES)


@pytest.mark.rule("B14.4", "B14.5", "B20")
def test_bad_input_reaches_no_model(tmp_path):
    picture = tmp_path / "a.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 40)
    link = tmp_path / "link.txt"
    link.symlink_to(picture)
    long = tmp_path / "long.txt"
    long.write_text("word " * 200_000)
    with place(tmp_path, answer(FILES)) as here:
        window = here.shop.models.adapter(workbench_id=here.id).window_tokens
        most = tmp_path / "most.txt"  # it would fit, and leave no room for an answer
        most.write_text("word " * int(0.8 * window * 10_000 / text_tokens("word " * 10_000)))
        for given, reason in (
            ({"mode": "text"}, "bad_context_input"),
            ({"mode": "text", "text": " \n"}, "bad_context_input"),
            ({"mode": "text", "text": "x", "note": "y"}, "bad_context_input"),
            ({"mode": "text", "text": "x", "source_path": "y"}, "bad_context_input"),
            ({"mode": "url", "text": "x"}, "bad_context_input"),
            ({"mode": "text", "text": "x" * (1024 * 1024 + 1)}, "too_large"),
            ({"mode": "file", "source_path": str(picture)}, "unsupported_context_input"),
            ({"mode": "file", "source_path": str(link)}, "symlink"),
            ({"mode": "file", "source_path": str(tmp_path)}, "not_regular"),
            ({"mode": "file", "source_path": "no\0name"}, "unreadable"),
            ({"mode": "file", "source_path": str(tmp_path / "none")}, "unreadable"),
            ({"mode": "file", "source_path": str(long), "note": "n" * 2001}, "too_large"),
            ({"mode": "file", "source_path": str(long)}, "source_too_long"),
            ({"mode": "file", "source_path": str(most)}, "source_too_long"),
        ):
            assert refused(here.process, input=given)[1] == reason, given
        assert refused(here.process, "taste")[1] == "bad_category"
        here.call("DraftCreate")
        assert refused(here.process)[0] == "DRAFT_EXISTS"
        assert here.server.seen == []


@pytest.mark.rule("B14.7")
@pytest.mark.parametrize(
    "text",
    [
        answer(FILES),
        f"Here it is:\n```json\n{answer(FILES)}\n```\nBye {{}}",
        f"```\n{answer(FILES)}\n```",
        f"Sure! {answer(FILES)} Anything else?",
        json.dumps({"result": {"data": answer(FILES)}}),
        json.dumps(answer(FILES)),
    ],
)
def test_an_answer_is_found_wherever_it_stands(text):
    assert files_of(text) == FILES


@pytest.mark.rule("B14.7", "B14.9")
@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", '{"files": {}}', '{"files": [1]}', "{" * 100_000, '"' * 99),
        json.dumps({"files": [{"path": "SKILL.md", "content": text} for text in ("a", "b")]}),
    ],
)
def test_what_holds_no_files_is_no_answer(text):
    assert files_of(text) is None


@pytest.mark.rule("B14.9")
@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"references/summary.md": " "}, "missing or blank"),
        ({"../x": "x"}, "is no path"),
        ({"source.json": "{}"}, "does not belong"),
        ({"source_file/a": "x"}, "does not belong"),
        ({"SKILL.md": SKILL.replace("company-context", "Company")}, "name must be"),
        ({"SKILL.md": SKILL.replace("Boats.", "[unclosed")}, "not YAML"),
        ({"SKILL.md": SKILL.replace("Boats.", "x" * 1025)}, "description"),
        ({"SKILL.md": SKILL.replace("summary.md", "other.md")}, "links to"),
        ({"SKILL.md": SKILL.replace("(references", "(../references")}, "links to"),
        ({"references/e\u0301.md": "x"}, "does not belong"),
        ({"SKILL.md": SKILL.split("See")[0]}, "no text below"),
        ({"references/big.md": "x" * (1024 * 1024 + 1)}, "at most 64 files"),
        ({"references/odd.md": "\ud800"}, "not text"),
    ],
)
def test_each_rule_of_an_item_is_checked(changes, word):
    assert problems("company-context", FILES) == []

    found = problems("company-context", {**FILES, **changes})

    assert len(found) == 1
    assert word in found[0]


@pytest.mark.rule("S4.2")
def test_context_is_set_in_the_terminal(tmp_path, capsys):
    source = tmp_path / "about.txt"
    source.write_text("Boats.")
    with place(tmp_path, answer(FILES)) as here:
        bench, home = here.id, ["--home", str(here.shop.config.home)]
        here.shop.store.close()
        command = ["context", "set", bench, "company-context"]

        assert main([*command, "--file", str(source), "--note", "n", *home]) == 0
        assert main([*command, "--text", "Sails.", *home]) == 0
        assert main([*command, *home]) == 2
        assert "company-context: Boats." in capsys.readouterr().out
