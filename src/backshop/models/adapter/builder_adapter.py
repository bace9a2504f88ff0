"""Digests without a model: the builder as an adapter (P5.20)."""

from __future__ import annotations

from typing import Any, TypeVar

from backshop.base.errors import BackshopError
from backshop.prompts import (
    DigestOutput,
    FileProblem,
    Files,
    Manifest,
    ManifestEntry,
    Prompt,
    PromptOverridesStore,
    Session,
    Workspace,
    WorkspaceSection,
    build_digest,
)

from ..loop.loop import Task
from ..loop.response import Capabilities, Phase, PromptEvaluationError, PromptResponse
from .adapter import AdapterBase

OutputT = TypeVar("OutputT")
NAME = "builder"


class BuilderAdapter(AdapterBase):
    """Writes digests from the files themselves; answers no prompt, and is never a turn's model."""

    digest_source = "builder"

    def __init__(self) -> None:
        super().__init__(
            adapter_name=NAME,
            model_id=NAME,
            capabilities=Capabilities(streaming=False, tools=False, reports_usage=False),
        )

    def evaluate(
        self,
        prompt: Prompt[OutputT],
        *params: object,
        overrides_store: PromptOverridesStore | None = None,
        overrides_tag: str | None = None,
        parse_output: bool = True,
        session: Session,
    ) -> PromptResponse[OutputT]:
        """Refuse: there is no model to ask."""
        raise PromptEvaluationError(
            "the builder answers no prompts; choose a model",
            prompt_name=prompt.display_name,
            phase=Phase.PREFLIGHT,
            code="NO_MODEL_CONFIGURED",
        )

    def run_task(self, task: Task) -> PromptResponse[Any]:
        """Build the digest of the files that are open in the session."""
        session, workspace = task.session, task.workspace
        view = session.view()
        sections = [
            node.section
            for node in task.prompt.walk()
            if isinstance(node.section, WorkspaceSection)
        ]
        entries = [
            ManifestEntry(one.path, one.size, one.sha256, readable=not one.skipped)
            for section in sections
            for one in Files.of(view, section.key).all()
        ]

        def read(path: str, max_bytes: int) -> bytes | None:
            if not isinstance(workspace, Workspace):
                return None
            try:
                return workspace.read(path)[:max_bytes]
            except (BackshopError, FileProblem):  # gone or changed since it was pinned
                return None

        built = build_digest(Manifest(tuple(entries)), {}, read)
        return PromptResponse(
            prompt_name=task.prompt.display_name,
            model_id=NAME,
            text=built.digest,
            output=DigestOutput(built.digest, built.summary),
        )
