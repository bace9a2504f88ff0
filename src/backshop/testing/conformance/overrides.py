"""What every overrides store must do, wherever it keeps its documents (P3).

A subclass in a test module gives `open_store`, a fixture that returns a function: each call opens
one more store on the same data, the way another process would.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.prompts import (
    MarkdownSection,
    OverridesError,
    Prompt,
    PromptOverridesStore,
    Reason,
    Session,
    Tool,
    ToolContext,
    ToolResult,
    WorkspaceDigest,
    escape_template,
)
from backshop.prompts import OverrideIgnored as Ignored

OpenStore = Callable[[], PromptOverridesStore]
NS, KEY = "tests/overrides", "prompt"


@dataclass(frozen=True)
class Params:
    """Values of the sample prompt."""

    name: str = "you"
    items: tuple[str, ...] = ("a",)


@dataclass(frozen=True)
class Look:
    """Arguments of the sample tool."""

    path: str = field(metadata={"description": "Where"})


def _look(params: Look, *, context: ToolContext) -> ToolResult:
    return ToolResult(True, params.path)


def sample(greeting: str = "Hello $name", **digest: Any) -> Prompt[None]:
    """Return a prompt with overridable, fixed and nested sections, a tool and a digest."""
    tool = Tool("look", "Look there.", Look, _look, effects="read")
    return Prompt(
        NS,
        KEY,
        sections=[
            MarkdownSection("Greeting", greeting, key="greeting", params=Params),
            MarkdownSection("Fixed", "fixed", key="fixed", accepts_overrides=False),
            MarkdownSection(
                "Group",
                "g",
                key="group",
                tools=[tool],
                children=[MarkdownSection("Tone", "calm", key="tone")],
            ),
            MarkdownSection("Tone", "loud", key="tone"),
            WorkspaceDigest(**digest),
        ],
    )


def _code(act: Callable[[], object]) -> str:
    with pytest.raises(OverridesError) as caught:
        act()
    return caught.value.code


def _body(prompt: Prompt[Any], store: PromptOverridesStore, path: str, tag: str = "latest") -> str:
    rendered = prompt.preview(overrides_store=store, overrides_tag=tag)
    part = next(part for part in rendered.parts if "/".join(part.path) == path)
    return part.text.partition("\n\n")[2]


class OverridesConformance:
    """Every kind of store runs these."""

    @pytest.mark.rule("P3.1", "P3.2")
    def test_nothing_stored_means_the_source(self, open_store: OpenStore) -> None:
        prompt, store = sample(), open_store()

        assert _body(prompt, store, "greeting") == "Hello you"
        assert store.resolve(prompt.descriptor, "latest").found is False
        named = prompt.preview(overrides_store=store, overrides_tag="mine")
        assert [one.code for one in named.diagnostics if one.path == ""] == ["TAG_NOT_FOUND"]

    @pytest.mark.rule("P3.1", "P3.14")
    def test_an_override_applies_where_it_was_stored_and_nowhere_else(
        self, open_store: OpenStore
    ) -> None:
        prompt, store = sample(), open_store()

        first = store.set_override(
            NS, KEY, "latest", "greeting", "Hi $name", descriptor=prompt.descriptor
        )
        second = store.set_override(
            NS, KEY, "latest", ("group", "tone"), "soft", descriptor=prompt.descriptor
        )

        assert (first, second) == (1, 2)
        again = open_store()
        assert _body(prompt, again, "greeting") == "Hi you"
        assert _body(prompt, again, "group/tone") == "soft"
        assert _body(prompt, again, "tone") == "loud"
        assert _body(prompt, again, "greeting", "other") == "Hello you"
        assert again.tags(NS, KEY) == ("latest",)
        assert again.prompts() == ((NS, KEY),)

    @pytest.mark.rule("P3.19", "P3.14")
    def test_a_found_key_stands_in_for_the_descriptor(self, open_store: OpenStore) -> None:
        prompt, store = sample(key="repo-notes"), open_store()
        key = prompt.find_section_key("workspace-digest")

        store.set_override(prompt.namespace, prompt.key, "latest", key, "the digest")

        assert _body(prompt, store, "repo-notes") == "the digest"
        assert (
            _code(lambda: store.set_override(NS, KEY, "latest", "repo-notes", "x"))
            == "DESCRIPTOR_NEEDED"
        )

    @pytest.mark.rule("P3.14", "P3.5")
    def test_what_could_not_resolve_is_refused_on_write(self, open_store: OpenStore) -> None:
        prompt, store = sample(), open_store()

        def write(section: str, body: str, **more: Any) -> Callable[[], object]:
            return lambda: store.set_override(
                NS, KEY, "latest", section, body, descriptor=prompt.descriptor, **more
            )

        assert _code(write("fixed", "x")) == Reason.NOT_OVERRIDABLE
        assert _code(write("nowhere", "x")) == Reason.UNKNOWN_PATH
        assert _code(write("greeting", "$nobody")) == Reason.BAD_PLACEHOLDER
        assert _code(write("greeting", "costs $5")) == Reason.BAD_PLACEHOLDER
        assert _code(write("greeting", "list: $items")) == Reason.BAD_PLACEHOLDER
        assert _code(write("workspace-digest", "x", mode="template")) == Reason.MODE_MISMATCH
        assert _code(write("tone", "x" * 65_537)) == Reason.TOO_LARGE
        assert _code(write("tone", "\ud800")) == "BAD_FIELD"
        assert store.load(NS, KEY, "latest") is None

    @pytest.mark.rule("P3.14")
    def test_a_bare_key_must_be_unique(self, open_store: OpenStore) -> None:
        nested = [
            MarkdownSection(one, "", key=one, children=[MarkdownSection("T", "t", key="tone")])
            for one in ("a", "b")
        ]
        prompt, store = Prompt(NS, KEY, sections=nested), open_store()

        assert (
            _code(
                lambda: store.set_override(
                    NS, KEY, "latest", "tone", "x", descriptor=prompt.descriptor
                )
            )
            == "AMBIGUOUS_SECTION"
        )

    @pytest.mark.rule("P3.4", "P3.6", "P11.37")
    def test_rewording_makes_an_override_stale_and_says_so_once(
        self, open_store: OpenStore, caplog: pytest.LogCaptureFixture
    ) -> None:
        before, after = sample(), sample("Good day $name")
        store = open_store()
        store.set_override(NS, KEY, "latest", "greeting", "Hi", descriptor=before.descriptor)

        assert _body(sample("\n    Hello $name\n"), store, "greeting") == "Hi"
        session = Session()
        for _ in range(2):
            rendered = after.render(session=session, overrides_store=store)
            assert "Good day you" in rendered.text
            assert [one.code for one in rendered.diagnostics if one.path == "greeting"] == [
                "OVERRIDE_IGNORED"
            ]
        assert [(one.entry, one.reason) for one in session[Ignored].all()] == [
            ("greeting", "STALE_HASH")
        ]
        assert "STALE_HASH" in caplog.text

    @pytest.mark.rule("P3.4", "P11.38")
    def test_a_digest_override_survives_another_placeholder(self, open_store: OpenStore) -> None:
        store = open_store()
        store.set_override(
            NS, KEY, "latest", "workspace-digest", "pinned", descriptor=sample().descriptor
        )

        assert _body(sample(placeholder="Go and look."), store, "workspace-digest") == "pinned"

    @pytest.mark.rule("P3.8", "P3.9", "P11.39")
    def test_bytes_come_back_as_they_were_stored(self, open_store: OpenStore) -> None:
        prompt, store = sample(), open_store()

        @given(body=st.text(st.characters(codec="utf-8"), max_size=60))
        def round_trip(body: str) -> None:
            for mode, given_text in (("literal", body), ("template", escape_template(body))):
                store.set_override(
                    NS,
                    KEY,
                    "latest",
                    "tone",
                    given_text,
                    descriptor=prompt.descriptor,
                    mode=mode,  # type: ignore[arg-type]  # one of the two literals
                )
                resolved = open_store().resolve(prompt.descriptor, "latest")
                assert resolved.sections["tone"].body == given_text
                shown = "## 4. Tone" + (f"\n\n{body}" if body else "")
                rendered = prompt.preview(overrides_store=store)
                assert next(p.text for p in rendered.parts if p.path == ("tone",)) == shown

        round_trip()
        store.set_override(
            NS,
            KEY,
            "latest",
            "tone",
            "a $HOME ${x} $$ b  ",
            descriptor=prompt.descriptor,
            mode="literal",
        )
        assert _body(prompt, store, "tone") == "a $HOME ${x} $$ b  "

    @pytest.mark.rule("P3.13", "P11.42")
    def test_writing_one_entry_keeps_a_stale_neighbour(self, open_store: OpenStore) -> None:
        before, after = sample(), sample("Good day $name")
        store = open_store()
        store.set_override(
            NS,
            KEY,
            "latest",
            "greeting",
            "  Hi ü\t",
            descriptor=before.descriptor,
            provenance={"source": "user"},
        )
        stored = store.load(NS, KEY, "latest")
        assert stored is not None

        store.set_override(NS, KEY, "latest", "tone", "x", descriptor=after.descriptor)

        now = open_store().load(NS, KEY, "latest")
        assert now is not None
        assert now["sections"]["greeting"] == stored["sections"]["greeting"]
        assert now["revision"] == 2

    @pytest.mark.rule("P3.13")
    def test_a_revision_somebody_else_moved_is_a_conflict(self, open_store: OpenStore) -> None:
        prompt, store = sample(), open_store()

        def write(if_revision: int) -> int:
            return store.set_override(
                NS,
                KEY,
                "latest",
                "tone",
                "x",
                descriptor=prompt.descriptor,
                if_revision=if_revision,
            )

        assert write(0) == 1
        assert _code(lambda: write(0)) == "REVISION_CONFLICT"
        assert write(1) == 2

    @pytest.mark.rule("P3.5", "P3.6")
    def test_tools_are_described_anew(self, open_store: OpenStore) -> None:
        prompt, store = sample(), open_store()
        store.set_tool_override(
            NS,
            KEY,
            "latest",
            "look",
            descriptor=prompt.descriptor,
            description="Look closely.",
            params={"path": "The exact place"},
        )

        rendered = prompt.preview(overrides_store=store)

        (spec,) = rendered.tool_specs
        assert spec.description == "Look closely."
        assert spec.schema["properties"]["path"]["description"] == "The exact place"
        assert rendered.tools[0].schema["properties"]["path"]["description"] == "Where"
        assert rendered.hash != prompt.preview().hash
        assert (
            _code(
                lambda: store.set_tool_override(
                    NS, KEY, "latest", "fly", descriptor=prompt.descriptor
                )
            )
            == Reason.UNKNOWN_TOOL
        )

    @pytest.mark.rule("P3.14")
    def test_entries_and_tags_are_taken_away(self, open_store: OpenStore) -> None:
        prompt, store = sample(), open_store()
        store.set_override(NS, KEY, "latest", "tone", "x", descriptor=prompt.descriptor)

        assert store.unset(NS, KEY, "latest", section="tone") == 2
        assert store.unset(NS, KEY, "latest", section="tone") == 2
        assert _body(prompt, store, "tone") == "loud"
        store.delete(NS, KEY, "latest")
        store.delete(NS, KEY, "latest")
        assert open_store().tags(NS, KEY) == ()
        assert store.unset(NS, KEY, "latest", section="tone") == 0

    @pytest.mark.rule("P3.15", "P11.46")
    def test_a_seed_holds_the_source_and_no_digest(self, open_store: OpenStore) -> None:
        prompt, store = sample(), open_store()

        seeded = store.seed(prompt, "mine")

        assert sorted(seeded["sections"]) == ["greeting", "group", "group/tone", "tone"]
        assert seeded["sections"]["greeting"]["body"] == "Hello $name"
        assert seeded["tools"]["look"]["description"] == "Look there."
        rendered = prompt.preview(overrides_store=store, overrides_tag="mine")
        assert rendered.text == prompt.preview().text
        assert [one.code for one in rendered.diagnostics] == ["DIGEST_MISSING"]
        store.set_override(NS, KEY, "mine", "tone", "kept", descriptor=prompt.descriptor)
        assert store.seed(prompt, "mine")["sections"]["tone"]["body"] == "kept"

    @pytest.mark.rule("P3.16", "P11.47")
    def test_export_and_import_reproduce_every_tag(
        self, open_store: OpenStore, empty_store: PromptOverridesStore
    ) -> None:
        prompt, store = sample(), open_store()
        for tag in ("latest", "mine"):
            store.set_override(
                NS,
                KEY,
                tag,
                "workspace-digest",
                "# d  \n",
                descriptor=prompt.descriptor,
                provenance={"source": "model"},
            )
        store.set_override(NS, KEY, "mine", "tone", "x", descriptor=prompt.descriptor)
        bundle = json.loads(json.dumps(store.export()))

        written = empty_store.import_(bundle)

        assert written == (f"{NS}/{KEY}@latest", f"{NS}/{KEY}@mine")
        assert empty_store.export()["files"] == bundle["files"]
        assert _code(lambda: empty_store.import_(bundle)) == "CONFLICT"
        assert empty_store.import_(bundle, on_conflict="skip") == ()
        assert len(empty_store.import_(bundle, on_conflict="replace")) == 2

    @pytest.mark.rule("P3.16")
    def test_a_bad_bundle_writes_nothing(
        self, open_store: OpenStore, empty_store: PromptOverridesStore
    ) -> None:
        store = open_store()
        store.seed(sample(), "latest")
        bundle = store.export()
        bad = {**bundle["files"][0], "tag": "other", "surprise": 1}

        assert _code(
            lambda: empty_store.import_({**bundle, "files": [bundle["files"][0], bad]})
        ) == ("BAD_FIELD")
        assert _code(lambda: empty_store.import_({"files": []})) == "UNSUPPORTED_VERSION"
        assert empty_store.prompts() == ()

    @pytest.mark.rule("P1.2", "P3.10", "P11.45")
    @pytest.mark.parametrize("bad", ["../x", "", "A", "a/b", "nul", "a\x00b", "."])
    def test_bad_names_reach_nothing(self, open_store: OpenStore, bad: str) -> None:
        prompt, store = sample(), open_store()

        for act in (
            lambda: store.resolve(prompt.descriptor, bad),
            lambda: store.set_override(NS, KEY, bad, "tone", "x", descriptor=prompt.descriptor),
            lambda: store.delete(NS, KEY, bad),
            lambda: store.load(bad if "/" in bad else f"{NS}/{bad}", "", "latest"),
        ):
            assert _code(act) == "BAD_IDENTIFIER"

    @pytest.mark.rule("P3.14")
    def test_whether_a_place_can_be_written_is_known_before(self, open_store: OpenStore) -> None:
        prompt, store = sample(), open_store()

        store.check_writable(prompt.descriptor, "latest", "workspace-digest")

        assert (
            _code(lambda: store.check_writable(prompt.descriptor, "latest", "fixed"))
            == Reason.NOT_OVERRIDABLE
        )
        assert store.prompts() == ()
