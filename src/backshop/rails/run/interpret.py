"""From a position and its context to the next step: selection and loops (R1.22–R1.26, R5.1).

Pure and deterministic: the same snapshot, context and loop decision always lead to the same step.
Everything it chose, skipped or asked leaves a trace entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from ..compile import Compiled, CompiledStep, Loop, LoopControl, LoopType, StepKind
from ..definition import condition, template
from ..session.events import TraceEntry

Decision = Literal["none", "continue", "stop"]
Context = Mapping[str, object]
ITEM_SHOWN_CHARS = 60
NUMBER, LIST, OBJECTS = "<a whole number>", "<a list>", "<a list of objects>"
MAX_PASSES = 10_000  # begun in one search; only nested loops without eligible steps come here


@dataclass(frozen=True, slots=True)
class Frame:
    """An open loop: which pass it is in, and the next place in its body."""

    loop_id: str
    iteration: int
    body_index: int = 0
    decision: Decision = "none"


@dataclass(frozen=True, slots=True)
class Pending:
    """The step that waits to be done, with the passes it stands in."""

    step_id: str
    loop_path: tuple[tuple[str, int], ...] = ()

    @property
    def key(self) -> str:
        """The name of this instance of the step (R5.2)."""
        return instance_key(self.loop_path, self.step_id)


@dataclass(frozen=True, slots=True)
class Position:
    """The interpreter's whole state; complete when nothing is pending."""

    completed: frozenset[str] = frozenset()
    stack: tuple[Frame, ...] = ()
    pending: Pending | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the run has ended here."""
        return self.pending is None


@dataclass(frozen=True, slots=True)
class MissingKey:
    """A loop cannot be entered: its input is not there, or not of its kind."""

    loop_id: str
    key: str
    message: str
    blank: str  # a placeholder for its value


@dataclass(frozen=True, slots=True)
class LimitReached:
    """A loop ended only because it may not run longer."""

    loop_id: str
    iteration: int
    max_iterations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Where the run goes; `engine` is None when a missing key stops it."""

    engine: Position | None
    trace: tuple[TraceEntry, ...]
    missing: tuple[MissingKey, ...] = ()
    limits: tuple[LimitReached, ...] = ()


@dataclass(frozen=True, eq=False)
class Workflow:
    """A pinned workflow, ready to be walked: its compiled form under its hash."""

    compiled: Compiled
    hash: str

    @cached_property
    def steps(self) -> Mapping[str, CompiledStep]:
        """Every step by id, bodies included."""
        return {step.step_id: step for step in self.compiled.walk()}

    @cached_property
    def reads(self) -> Mapping[str, str]:
        """Every context key that conditions, loops and texts look at, each with a placeholder."""
        found: dict[str, str] = {}
        own: set[str | None] = set()  # what loops set themselves
        for step in self.steps.values():
            wanted = step.require_confirmation.condition
            texts = (step.title, step.prompt, *step.guidance, *(f.text for f in step.fragments))
            paths = [*condition.variables(step.run_condition), *condition.variables(wanted)]
            paths += [one for f in step.fragments for one in condition.variables(f.when)]
            paths += [path for text in texts for path in template.paths(text)]
            if (loop := step.loop) is not None:
                own |= {loop.iteration_var, loop.item_var, loop.index_var}
                paths += condition.variables(loop.condition)
                found |= {loop.count: NUMBER} if isinstance(loop.count, str) else {}
                blank = OBJECTS if loop.uses_item_fields else LIST
                found |= {loop.items: blank} if loop.items else {}
            for path in paths:
                key = path.split(".")[0]
                found.setdefault(key, f"<the value of {key}>")
        return {key: blank for key, blank in found.items() if key not in own}


def begin(workflow: Workflow, context: Context, *, skip_missing: bool) -> Choice:
    """Return the first step of a run."""
    return _Walk(workflow, Position(), context, skip_missing).choose()


def after(
    workflow: Workflow,
    engine: Position,
    context: Context,
    *,
    decision: Decision = "none",
    skip_missing: bool,
) -> Choice:
    """Return what follows once the pending step is done; `decision` is its loop control."""
    walk = _Walk(workflow, engine, context, skip_missing)
    walk.finish(decision)
    return walk.choose()


def scope(workflow: Workflow, stack: Iterable[Frame], context: Context) -> dict[str, object]:
    """Return the context with the loop variables of the open loops over it (R1.24)."""
    seen = dict(context)
    for frame in stack:
        loop = workflow.steps[frame.loop_id].loop
        if loop is None:
            continue
        seen[loop.iteration_var] = seen["_iteration"] = frame.iteration + 1
        if loop.control is LoopControl.ITEMS and loop.items is not None:
            items = template.lookup(loop.items, seen)
            if isinstance(items, list | tuple) and frame.iteration < len(items):
                item = items[frame.iteration]
                seen[loop.item_var or "currentItem"] = seen["_item"] = item
            seen[loop.index_var or "currentIndex"] = seen["_index"] = frame.iteration
    return seen


def is_active(step: CompiledStep, context: Context) -> bool:
    """Say whether a step has anything to do; a parallel one needs an active delegation."""
    if step.delegations is None:
        return True
    return any(condition.holds(one.run_condition, context) for one in step.delegations)


def instance_key(path: Iterable[tuple[str, int]], step_id: str) -> str:
    """Return `step`, or `loop@i/loop@j::step`."""
    outer = "/".join(f"{loop_id}@{iteration}" for loop_id, iteration in path)
    return f"{outer}::{step_id}" if outer else step_id


class _Walk:
    """One search for the next step; holds what changes on the way."""

    def __init__(
        self, workflow: Workflow, engine: Position, context: Context, skip_missing: bool
    ) -> None:
        self._workflow = workflow
        self._context = context
        self._skip_missing = skip_missing
        self._completed = set(engine.completed)
        self._stack = list(engine.stack)
        self._pending = engine.pending
        self._trace: list[TraceEntry] = []
        self._missing: list[MissingKey] = []
        self._limits: list[LimitReached] = []
        self._passes = 0
        self._declined = False  # a stop was said before the loop it is about began

    def finish(self, decision: Decision) -> None:
        """Count the pending step as done and take note of its loop decision."""
        if self._pending is None:
            return
        self._completed.add(self._pending.key)
        self._pending = None
        if not self._stack:
            self._declined = decision == "stop"
            return
        frame = self._stack[-1]
        frame = replace(frame, body_index=frame.body_index + 1)
        if decision != "none" and self._loop(frame).control is LoopControl.ARTIFACT:
            frame = replace(frame, decision=decision)
        else:
            self._declined = decision == "stop"
        self._stack[-1] = frame
        if frame.decision == "stop":
            self._leave("the agent decided to stop")

    def choose(self) -> Choice:
        """Go on until a step is found, the run ends, or a key is missing."""
        while self._pending is None:
            if not (self._in_body() if self._stack else self._at_top()):
                break
        stopped = bool(self._missing) and not self._skip_missing
        engine = Position(frozenset(self._completed), tuple(self._stack), self._pending)
        return Choice(
            engine=None if stopped else engine,
            trace=tuple(self._trace),
            missing=tuple(self._missing),
            limits=tuple(self._limits),
        )

    def _at_top(self) -> bool:
        """Take the first eligible top-level step; False when there is none."""
        steps = self._workflow.compiled.steps
        done = [i for i, step in enumerate(steps) if step.step_id in self._completed]
        furthest = done[-1] if done else -1
        for index, step in enumerate(steps):
            if step.step_id in self._completed:
                continue
            if not self._eligible(step, self._context, quiet=index < furthest):
                continue
            if index < furthest:
                self._note("evaluated_condition", f"{step.step_id} has become eligible", step)
            return self._take(step)
        return False

    def _in_body(self) -> bool:
        """Take the next eligible step of the innermost body, or end the pass."""
        frame = self._stack[-1]
        body = self._workflow.steps[frame.loop_id].body or ()
        seen = scope(self._workflow, self._stack, self._context)
        for index in range(frame.body_index, len(body)):
            if self._eligible(body[index], seen):
                self._stack[-1] = replace(frame, body_index=index)
                return self._take(body[index])
        return self._enter(replace(frame, iteration=frame.iteration + 1, body_index=0), frame)

    def _eligible(self, step: CompiledStep, seen: Context, *, quiet: bool = False) -> bool:
        verdict = condition.judged(step.run_condition, seen)
        if verdict is not True:
            if not quiet:
                said = verdict or f"not {condition.describe(step.run_condition)}"
                self._note("skipped_step", f"{step.step_id}: {said}", step)
            return False
        if not is_active(step, seen):
            self._note("skipped_step", f"{step.step_id}: no delegation is active", step)
            return False
        return True

    def _take(self, step: CompiledStep) -> bool:
        if step.kind is StepKind.LOOP:
            return self._enter(Frame(step.step_id, 0), None)
        self._pending = Pending(step.step_id, self._path())
        self._note("selected_next_step", f"next is {self._pending.key}", step)
        return True

    def _enter(self, frame: Frame, before: Frame | None) -> bool:
        """Ask once whether a pass begins; leave or skip the loop if it does not."""
        outer = self._stack[:-1] if before else self._stack
        wanted = self._wants(frame, before, outer)
        if isinstance(wanted, MissingKey):
            self._missing.append(wanted)
            if not self._skip_missing:
                return False
            return self._end(frame.loop_id, outer, wanted.message)
        loop = self._loop(frame)
        self._passes += 1
        if wanted and (frame.iteration >= loop.max_iterations or self._passes > MAX_PASSES):
            self._limits.append(LimitReached(frame.loop_id, frame.iteration, loop.max_iterations))
            return self._end(frame.loop_id, outer, "max_iterations")
        if not wanted:
            return self._end(frame.loop_id, outer, f"no pass {frame.iteration + 1} is wanted")
        if before is None:
            self._note_loop("entered_loop", f"entered {frame.loop_id}", frame)
        self._stack[:] = [*outer, replace(frame, decision="none")]
        self._forget(frame)
        return True

    def _wants(self, frame: Frame, before: Frame | None, outer: list[Frame]) -> bool | MissingKey:
        loop = self._loop(frame)
        seen = scope(self._workflow, outer, self._context)
        match loop.control:
            case LoopControl.ARTIFACT:
                wanted: bool | MissingKey = before is None or before.decision != "stop"
                why = "decision " + before.decision if before else "the first pass is made"
                if before is None and self._declined:
                    wanted, why = False, "the agent decided to stop before the first pass"
                    self._declined = False
            case LoopControl.CONDITION:
                verdict = condition.judged(
                    loop.condition, scope(self._workflow, [*outer, frame], self._context)
                )
                wanted = (verdict is True) is not (loop.type is LoopType.UNTIL)
                said = _word(verdict) if isinstance(verdict, bool) else f"not known: {verdict}"
                why = f"{loop.type.value} {condition.describe(loop.condition)} is {said}"
            case LoopControl.COUNT:
                wanted, why = _counted(frame, loop, seen)
            case LoopControl.ITEMS:
                wanted, why = _itemised(frame, loop, seen)
        self._note_loop("evaluated_condition", f"{frame.loop_id}: {why}", frame)
        return wanted

    def _leave(self, why: str) -> None:
        frame = self._stack[-1]
        self._end(frame.loop_id, self._stack[:-1], why)

    def _end(self, loop_id: str, outer: list[Frame], why: str) -> bool:
        """Close a loop: it counts as done in the pass it stands in (R1.26)."""
        self._note_loop("exited_loop", f"left {loop_id}: {why}", Frame(loop_id, 0))
        self._stack[:] = outer
        self._completed.add(instance_key(self._path(), loop_id))
        if self._stack:
            last = self._stack[-1]
            self._stack[-1] = replace(last, body_index=last.body_index + 1)
        return True

    def _forget(self, frame: Frame) -> None:
        """Drop instances of passes before the last one: nothing asks for them again (R5.2)."""
        outer = "/".join(f"{one.loop_id}@{one.iteration}" for one in self._stack[:-1])
        old = f"{outer}/" if outer else ""
        old += f"{frame.loop_id}@{frame.iteration - 2}"
        if frame.iteration >= 2:
            self._completed = {
                key for key in self._completed if not key.startswith((f"{old}::", f"{old}/"))
            }

    def _path(self) -> tuple[tuple[str, int], ...]:
        return tuple((frame.loop_id, frame.iteration) for frame in self._stack)

    def _loop(self, frame: Frame) -> Loop:
        loop = self._workflow.steps[frame.loop_id].loop
        if loop is None:
            raise LookupError(f"{frame.loop_id} is not a loop")
        return loop

    def _note(self, kind: _TraceKind, summary: str, step: CompiledStep) -> None:
        refs: tuple[dict[str, object], ...] = ({"kind": "step_id", "stepId": step.step_id},)
        self._trace.append(TraceEntry(kind, summary, refs))

    def _note_loop(self, kind: _TraceKind, summary: str, frame: Frame) -> None:
        refs: tuple[dict[str, object], ...] = (
            {"kind": "loop_id", "loopId": frame.loop_id},
            {"kind": "iteration", "value": frame.iteration},
        )
        self._trace.append(TraceEntry(kind, summary, refs))


_TraceKind = Literal[
    "selected_next_step", "evaluated_condition", "skipped_step", "entered_loop", "exited_loop"
]


def _counted(frame: Frame, loop: Loop, seen: Context) -> tuple[bool | MissingKey, str]:
    count: object = loop.count
    if isinstance(count, str):
        key, count = count, template.lookup(count, seen)
        if isinstance(count, float) and count.is_integer():
            count = int(count)
        if isinstance(count, bool) or not isinstance(count, int):
            message = (
                f"Loop {frame.loop_id} runs context.{key} times; it is"
                f" {template.type_name(count)}, and a whole number is needed."
            )
            return MissingKey(frame.loop_id, key, message, NUMBER), f"{key} is not a whole number"
    assert isinstance(count, int)
    return frame.iteration < count, f"pass {frame.iteration + 1} of {count}"


def _itemised(frame: Frame, loop: Loop, seen: Context) -> tuple[bool | MissingKey, str]:
    key = loop.items or ""
    items = template.lookup(key, seen)
    blank = OBJECTS if loop.uses_item_fields else LIST
    if not isinstance(items, list | tuple):
        message = (
            f"Loop {frame.loop_id} goes over context.{key}; it is {template.type_name(items)},"
            " and a list is needed."
        )
        return MissingKey(frame.loop_id, key, message, blank), f"{key} is not a list"
    wanted = frame.iteration < len(items)
    if wanted and loop.uses_item_fields:
        item = items[frame.iteration]
        if not isinstance(item, Mapping):
            message = (
                f"Loop {frame.loop_id} uses fields of each item of context.{key}; item"
                f" {frame.iteration} is {template.type_name(item)},"
                f" {template.show(item)[:ITEM_SHOWN_CHARS]!r}, and an object is needed."
            )
            return MissingKey(frame.loop_id, key, message, blank), f"{key} holds no object"
    return wanted, f"item {frame.iteration + 1} of {len(items)}"


def _word(value: bool) -> str:
    return "true" if value else "false"
