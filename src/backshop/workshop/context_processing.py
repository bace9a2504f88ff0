"""`ContextProcess`: a text or a file becomes a context item, by one model call (B14.4–B14.10)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from backshop.base.command import Command, method_command
from backshop.base.errors import LimitExceeded, ValidationFailed
from backshop.base.limits import CONTEXT_TIMEOUT_S
from backshop.bench import (
    Bench,
    ContextItem,
    Manifests,
    Material,
    choose_lines,
    context_files,
    context_problems,
    put_processed,
    require_processable,
    take_file,
)
from backshop.formats import FormatError
from backshop.models import ContextExhausted, FinishReason, ModelAdapter, Models, text_tokens
from backshop.prompts import Session

from .conversation.repository import chosen_model
from .prompt.bundled import build_prompt
from .prompt.context_prompt import step
from .prompt.inputs import Artifacts, PromptInputs
from .requests import ContextInput, ContextProcess

TEXT_MAX_BYTES = 1024 * 1024  # B14.4
NOTE_MAX_CHARS = 2000
WINDOW_SHARE = 0.6  # B14.6
SOURCE_KINDS = frozenset({"text", "csv", "docx", "odt", "pdf", "pptx", "xlsx"})
_PROBLEMS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class _Taken:
    material: Material
    text: str


class Contextual:
    """Makes context items with the person's model, else the workbench's. One per home."""

    def __init__(
        self, benches: Bench, models: Models, *, timeout_s: float = CONTEXT_TIMEOUT_S
    ) -> None:
        self._benches = benches
        self._models = models
        self._timeout_s = timeout_s
        self._manifests = Manifests(benches)

    def process(self, request: ContextProcess) -> ContextItem:
        """Ask the model once, check what it made, ask once more if need be, and store it.

        Raises:
            DraftExists, BenchBusy: not now.
            ProviderNotConfigured, ConsentRequired: the model cannot or may not be asked.
            ValidationFailed: the input is not one, or the model's answer is no item.
            ContextExhausted: the source is too long for the model.
        """
        desk, bench_id = self._benches.desk, request.workbench_id
        overwrite = request.overwrite_direct_edits
        require_processable(desk, bench_id, request.category, overwrite)
        own = self._models.default_model().model_id
        adapter = self._models.adapter(
            own or chosen_model(desk.store, bench_id), workbench_id=bench_id
        )
        adapter.check_consent()
        taken = self._taken(request.workbench_id, request.input)
        self._require_room(adapter, taken.text)
        files = self._made(adapter, request.category, taken, bench_id)
        item = put_processed(
            desk,
            bench_id,
            request.category,
            files,
            taken.material,
            adapter.model_id,
            overwrite=overwrite,
        )
        self._models.permissions.join_context(
            bench_id, adapter.model_id, request.category, taken.material.sha256
        )
        return item

    # ------------------------------------------------------------ what goes in

    def _taken(self, bench_id: str, given: ContextInput) -> _Taken:
        if given.mode == "text" and given.source_path is None and given.note is None:
            return _from_text(given.text)
        if given.mode == "file" and given.text is None and given.source_path is not None:
            if given.note is not None and len(given.note) > NOTE_MAX_CHARS:
                raise LimitExceeded("a note has at most 2,000 characters", reason="too_large")
            return self._from_file(bench_id, given.source_path, given.note)
        raise ValidationFailed(
            "give a text, or a file and perhaps a note", reason="bad_context_input"
        )

    def _from_file(self, bench_id: str, raw: str, note: str | None) -> _Taken:
        formats = self._benches.formats
        name, blob = take_file(self._benches.desk, bench_id, raw)
        source = formats.source(self._benches.desk.store.blobs.path(blob), name, blob)
        kind = formats.classify(source)
        if kind.kind.value not in SOURCE_KINDS:
            raise ValidationFailed(
                "context is made from texts, tables, documents, slides and PDF files",
                reason="unsupported_context_input",
                detail=kind.kind.value,
            )
        try:
            text = "\n".join(formats.extract_lines(source))
        except FormatError as error:
            raise ValidationFailed(
                "the file cannot be read", reason="unsupported_context_input", detail=error.reason
            ) from error
        if not text.strip():
            raise ValidationFailed("the file holds no text", reason="unsupported_context_input")
        material = Material(mode="file", source=blob, original_filename=name, note=note)
        return _Taken(material, text)

    def _require_room(self, adapter: ModelAdapter, text: str) -> None:
        """Refuse a source that would leave the model no room; nothing is cut silently."""
        window = adapter.window_tokens
        needed = text_tokens(text)
        if needed > WINDOW_SHARE * window:
            raise ContextExhausted(
                "the source is too long for this model",
                reason="source_too_long",
                detail=f"estimate: {needed} window: {window}",
                model_id=adapter.model_id,
            )

    # ------------------------------------------------------------ what comes out

    def _made(
        self, adapter: ModelAdapter, category: str, taken: _Taken, bench_id: str
    ) -> dict[str, str]:
        """Return the item's files; an answer that is none gets exactly one repair (B14.10)."""
        wrong: list[str] = []
        for _ in ("first", "repair"):
            says = step(category, taken.material.note, wrong)
            answer, was_cut = self._ask(adapter, bench_id, says, taken.text)
            files = None if was_cut else context_files(answer)
            if files is None:
                wrong = ["output_truncated" if was_cut else "the answer holds no JSON with files"]
                continue
            wrong = context_problems(category, files)
            if not wrong:
                return files
        raise ValidationFailed(
            "the model did not make a usable item; the one before is unchanged",
            reason="bad_context_answer",
            detail="; ".join(wrong[:_PROBLEMS_SHOWN]),
        )

    def _ask(
        self, adapter: ModelAdapter, bench_id: str, says: str, material: str
    ) -> tuple[str, bool]:
        """Return the answer, and whether it was cut off; the call lists the files (W6.15)."""
        manifest = self._manifests.of(bench_id)
        facts = PromptInputs(
            listing=choose_lines(manifest.files, window_tokens=adapter.window_tokens),
            step=says,
            artifacts=Artifacts(material=material),
            today=self._today(),
        )
        with Session() as session:
            until = session.now() + timedelta(seconds=self._timeout_s)
            with session.limited(deadline=until, max_turns=1):
                answer = adapter.evaluate(
                    build_prompt("context-process", facts), parse_output=False, session=session
                )
        return answer.text or "", answer.finish_reason == FinishReason.LENGTH.value

    def _today(self) -> date:
        return datetime.fromtimestamp(self._benches.desk.clock.now_ms() / 1000, tz=UTC).date()


def _from_text(text: str | None) -> _Taken:
    if text is None or not text.strip():
        raise ValidationFailed("the text is blank", reason="bad_context_input")
    if len(text.encode(errors="surrogatepass")) > TEXT_MAX_BYTES:
        raise LimitExceeded("a text has at most 1 MiB", reason="too_large")
    return _Taken(Material(mode="text", text=text), text)


CONTEXT_COMMANDS: tuple[Command[Contextual, Any, Any], ...] = (
    method_command(
        "ContextProcess",
        "Make a context item from a text or a file, with the model.",
        Contextual.process,
        writes=True,
        role="write",
        server_paths=("source_path",),
    ),
)
