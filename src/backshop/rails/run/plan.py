"""Collects the facts of one append, with the ids and keys that a retry would give them (R4.16)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from backshop.base.canon import canonical, sha256_hex
from backshop.base.ids import did
from backshop.base.limits import (
    TRACE_ENTRIES_MAX,
    TRACE_EVENT_MAX_BYTES,
    TRACE_SUMMARY_MAX_BYTES,
    WARNING_MAX_BYTES,
)

from ..errors import cut
from ..session import events as ev
from .inputs import Delta, Submitted
from .recap import notes_to_keep
from .snapshot import Snapshot

ARTIFACT_TYPE = "application/json"
NOTES_TYPE = "text/markdown"


@dataclass(frozen=True, slots=True)
class KeptBlob:
    """A blob that must outlive the append, and what it is."""

    ref: str
    kind: str


@dataclass(slots=True)
class Plan:
    """What will be appended to one session. Facts of `node_id` unless another is named."""

    session_id: str
    run_id: str | None = None
    node_id: str | None = None
    counts: dict[str, int] = field(default_factory=dict)  # facts the node already has
    is_lean: bool = False
    """Whether what can be told from the other facts is left out (R4.16)."""
    events: list[ev.Scoped] = field(default_factory=list)
    blobs: list[bytes] = field(default_factory=list)
    pins: list[KeptBlob] = field(default_factory=list)

    def session(self, fact: ev.Fact, *parts: str) -> None:
        """Add a fact of the session itself."""
        self.events.append(ev.Scoped(fact, ":".join((self.session_id, *parts))))

    def run(self, fact: ev.Fact, *parts: str) -> None:
        """Add a fact of the run."""
        self.events.append(ev.Scoped(fact, ":".join((self.session_id, *parts)), self.run_id))

    def on(self, node_id: str, fact: ev.Fact, *parts: str) -> str:
        """Add a fact of a node and return its event id."""
        scoped = ev.Scoped(fact, ":".join((self.session_id, *parts)), self.run_id, node_id)
        self.events.append(scoped)
        return event_id(self.session_id, scoped.dedupe_key)

    def keep(self, data: bytes, kind: str) -> str:
        """Store bytes with the append and return their reference."""
        name = sha256_hex(data)
        kept = KeptBlob(name, kind)
        if kept not in self.pins:
            self.blobs.append(data)
            self.pins.append(kept)
        return f"sha256:{name}"

    # ------------------------------------------------------------ facts of the new node

    def node(self, kind: ev.NodeKind, parent: str | None, snapshot: Snapshot) -> None:
        """Add the node itself."""
        assert self.node_id is not None
        self.keep(snapshot.data, "snapshot")
        fact = ev.NodeCreated(
            node_kind=kind,
            parent_node_id=parent,
            workflow_hash=snapshot.workflow_hash,
            snapshot_ref=snapshot.ref,
        )
        self.on(self.node_id, fact, self.run_id or "", self.node_id)

    def edge(self, kind: ev.EdgeKind, origin: str, cause: ev.CauseKind, event: str) -> None:
        """Add the edge that leads to the node."""
        assert self.node_id is not None
        if self.is_lean:
            return
        fact = ev.EdgeCreated(
            edge_kind=kind,
            from_node_id=origin,
            to_node_id=self.node_id,
            cause=ev.Cause(cause, event),
        )
        self.run(fact, self.run_id or "", f"{origin}->{self.node_id}", kind)

    def context(self, source: str, delta: Delta) -> None:
        """Add a change of context, if there is one."""
        if not delta:
            return
        ordinal = self._ordinal(f"ContextSet:{source}")
        own = self._own("ctx", source, ordinal)
        fact = ev.ContextSet(
            context_id=own,
            source=source,  # type: ignore[arg-type]  # one of its three words
            set=dict(delta.set),
            removed=delta.removed,
        )
        self._add(fact, own)

    def preferences(
        self, source: str, delta: Sequence[ev.PreferenceChange], effective: ev.Effective
    ) -> None:
        """Add a change of mode, if there is one."""
        if not delta:
            return
        own = self._own("chg", self._ordinal("PreferencesChanged"))
        fact = ev.PreferencesChanged(
            change_id=own,
            source=source,  # type: ignore[arg-type]  # one of its four words
            delta=tuple(delta),
            effective=effective,
        )
        self._add(fact, own)

    def wish(self, wanted: Sequence[ev.PreferenceChange]) -> None:
        """Add a wish for more automation, if there is one."""
        if wanted:
            own = self._own("wsh", self._ordinal("PreferencesWished"))
            self._add(ev.PreferencesWished(wish_id=own, wanted=tuple(wanted)), own)

    def validation(self, attempt_id: str, contract_ref: str, result: ev.ValidationResult) -> None:
        """Add the result of one check; the first per contract names it."""
        if self.is_lean and result.valid and not result.issues:
            return
        ordinal = self._ordinal(f"ValidationPerformed:{contract_ref}")
        own = self._own("val", contract_ref, *((ordinal,) if ordinal else ()))
        fact = ev.ValidationPerformed(
            validation_id=own, attempt_id=attempt_id, contract_ref=contract_ref, result=result
        )
        self._add(fact, own)

    def user_input(
        self, input_id: str, reason: str, decision: str, summary: str, provenance: str
    ) -> None:
        """Add what a person decided or gave."""
        own = self._own("uin", input_id, self._ordinal(f"UserInputRecorded:{input_id}"))
        fact = ev.UserInputRecorded(
            user_input_id=own,
            input_id=input_id,
            reason=reason,
            decision=decision,  # type: ignore[arg-type]  # checked by its contract
            summary=summary,
            provenance=provenance,  # type: ignore[arg-type]  # one of both words
        )
        self._add(fact, own)

    def capability(self, capability: str, status: str, provenance: Mapping[str, object]) -> None:
        """Add an observation of a capability."""
        own = self._own("cap", capability, self._ordinal(f"CapabilityObserved:{capability}"))
        fact = ev.CapabilityObserved(
            cap_obs_id=own,
            capability=capability,  # type: ignore[arg-type]  # checked by its contract
            status=status,  # type: ignore[arg-type]  # checked by its contract
            provenance=dict(provenance),
        )
        self._add(fact, own)

    def divergence(self, reason: str, summary: str, related: str | None) -> None:
        """Add a departure from the plan."""
        own = self._own("div", self._ordinal("DivergenceRecorded"))
        fact = ev.DivergenceRecorded(
            divergence_id=own,
            reason=reason,  # type: ignore[arg-type]  # checked by its contract
            summary=summary,
            related_step_id=related,
        )
        self._add(fact, own)

    def gap(self, fact: ev.GapRecorded) -> None:
        """Add a gap."""
        self._ordinal("GapRecorded")
        self._add(fact, fact.gap_id)

    def assessment(
        self,
        assessment_id: str,
        attempt_id: str,
        output_id: str,
        dimensions: tuple[ev.DimensionLevel, ...],
        fired: tuple[ev.Fired, ...],
    ) -> None:
        """Add an accepted assessment."""
        own = self._own("asm", assessment_id)
        fact = ev.AssessmentRecorded(
            assessment_record_id=own,
            assessment_id=assessment_id,
            attempt_id=attempt_id,
            output_id=output_id,
            dimensions=dimensions,
            fired_consequences=fired,
        )
        self._add(fact, own)

    def warning(self, warning: Mapping[str, object]) -> None:
        """Add a warning as it stands in the answer."""
        code, details = str(warning["code"]), warning.get("details")
        own = self._own("wrn", code, self._ordinal(f"WarningRecorded:{code}"))
        fact = ev.WarningRecorded(
            warning_id=own,
            code=code,
            message=cut(str(warning["message"]), WARNING_MAX_BYTES),
            details=dict(details) if isinstance(details, Mapping) else {},
        )
        self._add(fact, own)

    def trace(self, entries: Iterable[ev.TraceEntry]) -> None:
        """Add the interpreter's remarks, within their budgets (R4.15)."""
        entries = list(entries)
        if self.is_lean and all(one.kind != "skipped_step" for one in entries):
            return
        kept, left = [], TRACE_EVENT_MAX_BYTES - 200  # room for the rest of the event
        for entry in entries[:TRACE_ENTRIES_MAX]:
            summary = cut(entry.summary, TRACE_SUMMARY_MAX_BYTES)
            size = len(canonical([summary, list(entry.refs or ())])) + 60
            if size > left:
                break
            left -= size
            kept.append(ev.TraceEntry(entry.kind, summary, entry.refs))
        if kept:
            own = self._own("trc", self._ordinal("DecisionTraceAppended"))
            self._add(ev.DecisionTraceAppended(trace_id=own, entries=tuple(kept)), own)

    def outputs(self, sent: Submitted, unkept: frozenset[int] = frozenset()) -> None:
        """Add notes, then artifacts in the order of `artifact_order`."""
        if sent.notes is not None:
            own = self._own("out", "recap", self._ordinal("NodeOutputAppended:recap"))
            payload = self.notes_payload(sent.notes)
            self._add(
                ev.NodeOutputAppended(output_id=own, output_channel="recap", payload=payload), own
            )
        for _, data, kind in artifact_order(sent, unkept):
            own = self._own("out", "artifact", self._ordinal("NodeOutputAppended:artifact"))
            fact = ev.NodeOutputAppended(
                output_id=own,
                output_channel="artifact",
                payload=self.artifact_payload(data, kind),
            )
            self._add(fact, own)

    def notes_payload(self, notes: str) -> ev.Payload:
        """Return notes as a payload, the whole text kept beside when it is cut."""
        kept, was_cut = notes_to_keep(notes)
        ref = self.keep(notes.encode(), "artifact") if was_cut else None
        return ev.Payload(payload_kind="notes", notes_markdown=kept, full_ref=ref)

    def artifact_payload(self, data: bytes, kind: str) -> ev.Payload:
        """Return an artifact as a payload."""
        return ev.Payload(
            payload_kind="artifact_ref",
            sha256=self.keep(data, "artifact"),
            content_type=ARTIFACT_TYPE,
            byte_length=len(data),
            kind=kind,
        )

    def _own(self, prefix: str, *parts: str | int) -> str:
        assert self.node_id is not None
        return did(prefix, self.node_id, *parts)

    def _ordinal(self, key: str) -> int:
        found = self.counts.get(key, 0)
        self.counts[key] = found + 1
        return found

    def _add(self, fact: ev.Fact, own: str) -> None:
        assert self.node_id is not None
        self.on(self.node_id, fact, own)


def artifact_order(
    sent: Submitted, unkept: frozenset[int] = frozenset()
) -> list[tuple[int, bytes, str]]:
    """Return artifacts as (place sent, canonical bytes, kind), in the order they are stored."""
    found = [
        (index, canonical(dict(one)), str(one["kind"]))
        for index, one in enumerate(sent.artifacts)
        if index not in unkept
    ]
    return sorted(found, key=lambda one: sha256_hex(one[1]))


def event_id(session_id: str, dedupe_key: str) -> str:
    """Return the id an event will have (R4.2)."""
    return did("evt", session_id, dedupe_key)
