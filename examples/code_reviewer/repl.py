"""The conversation: review turns, `/optimize`, and looking at what the model sees."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from reviewer import Review, ReviewTurn

from backshop.models import (
    OptimizationResult,
    OptimizationScope,
    PromptEvaluationError,
    ProviderAdapter,
)
from backshop.prompts import (
    Envelope,
    MarkdownSection,
    Prompt,
    PromptOverridesStore,
    PromptRendered,
    Session,
    ToolInvoked,
    open_workspace,
)

_CUT = 256
HELP = """\
Type what to review, or one of:
  /optimize [session|global] [focus]  let the model describe the workspace, and keep it
  /digest                             show the digest and where it comes from
  /prompt                             show the prompt as it would be sent
  /tools                              list the tools the model has
  /tag [TAG]                          show or change the tag of stored digests
  /rewind N                           go back to before review N
  /help, /exit"""


class Repl:
    """One conversation with a reviewer."""

    def __init__(
        self,
        *,
        prompt: Prompt[Review],
        adapter: ProviderAdapter,
        overrides: PromptOverridesStore,
        tag: str,
        say: Callable[[str], None],
        show_prompts: bool = False,
    ) -> None:
        self._prompt = prompt
        self._adapter = adapter
        self._overrides = overrides
        self._tag = tag
        self._say = say
        self._session = Session()
        self._turns: list[int] = []  # where the session stood before each review
        self._session.bus.subscribe(ToolInvoked, self._print_tool)
        if show_prompts:
            self._session.bus.subscribe(PromptRendered, self._print_prompt)
        self._overrides.seed(prompt, tag)

    def handle(self, line: str) -> bool:
        """Take one line; return False when the person is done."""
        line = line.strip()
        word, _, rest = line.partition(" ")
        if word in ("optimize", "exit", "quit") and not rest:
            word = f"/{word}"
        match word:
            case "":
                pass
            case "/exit" | "/quit":
                return False
            case "/help":
                self._say(HELP)
            case "/optimize":
                self._optimize(rest.strip())
            case "/digest":
                self._digest()
            case "/prompt":
                self._say(self._render().text)
            case "/tools":
                for tool in self._render().tools:
                    self._say(f"{tool.name} ({tool.effects}): {tool.description.splitlines()[0]}")
            case "/tag":
                self._change_tag(rest.strip())
            case "/rewind":
                self._rewind(rest.strip())
            case _ if word.startswith("/"):
                self._say(f"there is no {word}; /help lists the commands")
            case _:
                self.review(line)
        return True

    def review(self, request: str) -> bool:
        """Evaluate one review turn and print it; say whether there was an answer."""
        self._turns.append(self._session.seq)
        with self._interruptible(), self._told():
            response = self._adapter.evaluate(
                self._prompt,
                ReviewTurn(request=request),
                overrides_store=self._overrides,
                overrides_tag=self._tag,
                session=self._session,
            )
            if response.output is None:
                self._say(response.text or "(no answer)")
            else:
                self._print_review(response.output)
            return True
        return False

    def _optimize(self, words: str) -> None:
        scope, focus = OptimizationScope.SESSION, words
        first, _, rest = words.partition(" ")
        if first in set(OptimizationScope):
            scope, focus = OptimizationScope(first), rest.strip()
        with self._interruptible(), self._told():
            result: OptimizationResult[Review] = self._adapter.optimize(
                self._prompt,
                ReviewTurn(request=""),
                store_scope=scope,
                overrides_store=self._overrides,
                overrides_tag=self._tag,
                focus_areas=MarkdownSection("Focus", focus.replace("$", "$$")) if focus else None,
                session=self._session.child("optimize-command"),
            )
            self._say(result.digest)
            self._say(f"[scope {result.scope}, kept in {' and '.join(result.persisted)}]")

    def _digest(self) -> None:
        for part in self._render().parts:
            if part.path == ("workspace-digest",):
                self._say(part.text)
                self._say(f"[source {part.source}]")

    def _change_tag(self, tag: str) -> None:
        if tag:
            with self._told():
                self._overrides.seed(self._prompt, tag)
                self._tag = tag
        self._say(f"[tag {self._tag}]")

    def _rewind(self, number: str) -> None:
        if not number.isdigit() or not 1 <= int(number) <= len(self._turns):
            self._say(f"there are {len(self._turns)} reviews to go back before")
            return
        self._session.rewind_to(self._turns[int(number) - 1])
        del self._turns[int(number) - 1 :]
        self._say(f"[before review {number}]")

    def _render(self):  # a RenderedPrompt
        open_workspace(self._session, self._prompt)  # as it is before a call
        return self._prompt.render(
            ReviewTurn(request="(your request)"),
            session=self._session,
            overrides_store=self._overrides,
            overrides_tag=self._tag,
        )

    def _print_review(self, review: Review) -> None:
        self._say(review.summary)
        for title, lines in (("Issues", review.issues), ("Next steps", review.next_steps)):
            if lines:
                self._say(f"{title}:")
                for line in lines:
                    self._say(f"  - {line}")

    def _print_tool(self, envelope: Envelope) -> None:
        call: ToolInvoked = envelope.event
        arguments = self._session.get(call.params_ref).decode()
        result = " ".join(self._session.get(call.result_ref).decode().split())
        self._say(f"> {call.tool} {arguments[:_CUT]} -> {result[:_CUT]}")

    def _print_prompt(self, envelope: Envelope) -> None:
        event: PromptRendered = envelope.event
        self._say(self._session.get(event.rendered_ref).decode())

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what went wrong instead of ending the conversation."""
        from backshop.base.errors import BackshopError

        try:
            yield
        except PromptEvaluationError as error:
            self._say(f"[{error.phase}: {error.error.error_code}: {error.message}]")
        except BackshopError as error:
            self._say(f"[{error.code}: {error.message}]")

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Let Ctrl-C cancel the call that runs and nothing else."""

        def cancel(number: int, frame: FrameType | None) -> None:
            self._session.cancel.request()

        try:
            before = signal.signal(signal.SIGINT, cancel)
        except ValueError:  # not the main thread: nobody presses keys here
            before = None
        try:
            yield
        finally:
            if before is not None:
                signal.signal(signal.SIGINT, before)
            self._session.cancel.reset()
