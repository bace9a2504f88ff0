"""Which earlier work a new chat means: tiers, then closeness, then recency (R7.18)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from backshop.base.limits import RESUME_CANDIDATES_MAX, RESUME_DEEP_MAX_BYTES

from .. import search
from ..errors import MARKER

EXACT, IDENTITY, NOTES, DEEP, PARTIAL, HEAD_SHA, BRANCH, REST = range(8)
_WHY = (
    "matched_exact_id",
    "matched_identity",
    "matched_notes",
    "matched_deep",
    "matched_partial",
    "matched_head_sha",
    "matched_branch",
    "recency_fallback",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a new chat says about the work it means."""

    query: str = ""
    resume_ref: str | None = None
    session_id: str | None = None
    run_id: str | None = None
    git_branch: str | None = None
    git_head_sha: str | None = None
    repo_root_hash: str | None = None
    same_workspace_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A run (or a session without runs) that could be meant. Texts are read only when needed."""

    session_id: str
    run_id: str | None
    resume_ref: str | None
    identity: str
    notes: Callable[[], str] = field(repr=False)
    deep: Callable[[], str] = field(repr=False)
    git_branch: str | None
    git_head_sha: str | None
    repo_root_hash: str | None
    is_complete: bool
    last_seq: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its tier and why it is there."""

    work: Work
    tier: int
    why: tuple[str, ...]

    @property
    def confidence(self) -> str:
        """How sure one can be that this is meant."""
        if self.tier <= NOTES:
            return "strong"
        return "medium" if self.tier <= BRANCH else "weak"


@dataclass(frozen=True, slots=True)
class Found:
    """The best candidates, how many there were, and the one to take if it is clear."""

    candidates: tuple[Ranked, ...]
    total: int
    matched: int  # of how many something was recognised, be it only the branch
    recommended: int | None


def rank(asked: Asked, works: Iterable[Work]) -> Found:
    """Return the candidates that answer a question best."""
    eligible = [work for work in works if _is_eligible(asked, work)]
    ranked = sorted((_placed(asked, work) for work in eligible), key=lambda one: _order(asked, one))
    if exact := [one for one in ranked if one.tier == EXACT]:
        ranked = exact  # who is named is meant, and nobody else
    best = tuple(ranked[:RESUME_CANDIDATES_MAX])
    matched = sum(one.tier < REST for one in ranked)
    clear = bool(best) and best[0].confidence == "strong"
    if clear and len(best) > 1:
        clear = best[1].tier > best[0].tier
    return Found(best, len(eligible), matched, 0 if clear else None)


def text_of(text: str) -> search.Text:
    """Return a text for search; the truncation marker is none of its words (R5.16)."""
    return search.Text(text.replace(MARKER, " "))


def bounded(parts: Iterable[str]) -> str:
    """Return parts joined, within the bytes a deep search looks at."""
    text, left = [], RESUME_DEEP_MAX_BYTES
    for part in parts:
        data = part.encode(errors="replace")[: max(0, left)]
        left -= len(data) + 1
        text.append(data.decode(errors="ignore"))
        if left <= 0:
            break
    return "\n".join(text)


def _is_eligible(asked: Asked, work: Work) -> bool:
    if asked.same_workspace_only and asked.repo_root_hash is not None:
        return work.repo_root_hash == asked.repo_root_hash
    return True


def _placed(asked: Asked, work: Work) -> Ranked:
    tier, more = _tier(asked, work)
    why = [_WHY[tier], *more]
    if asked.repo_root_hash is not None and work.repo_root_hash == asked.repo_root_hash:
        why.append("matched_repo_root")
    return Ranked(work, tier, tuple(why))


def _tier(asked: Asked, work: Work) -> tuple[int, Sequence[str]]:
    if _is_exact(asked, work):
        return EXACT, ()
    wanted = search.words(asked.query)
    if wanted:
        tier = _text_tier(wanted, work)
        if tier is not None:
            return tier, ()
    if asked.git_head_sha and work.git_head_sha == asked.git_head_sha:
        return HEAD_SHA, ()
    if _same_branch(asked.git_branch, work.git_branch):
        return BRANCH, ()
    return REST, ()


def _is_exact(asked: Asked, work: Work) -> bool:
    return (
        (asked.resume_ref is not None and asked.resume_ref == work.resume_ref)
        or (asked.run_id is not None and asked.run_id == work.run_id)
        or (asked.session_id is not None and asked.session_id == work.session_id)
    )


def _text_tier(wanted: frozenset[str], work: Work) -> int | None:
    identity = text_of(work.identity)
    if all(map(identity.says, wanted)):
        return IDENTITY
    if all(map(text_of(work.notes()).says, wanted)):
        return NOTES
    deep = text_of(work.deep())
    said = sum(identity.says(word) or deep.says(word) for word in wanted)
    if said == len(wanted):
        return DEEP
    return PARTIAL if said and 2 * said >= len(wanted) else None


def _same_branch(asked: str | None, known: str | None) -> bool:
    if not asked or not known:
        return False
    return asked.startswith(known) or known.startswith(asked)


def _order(asked: Asked, one: Ranked) -> tuple[object, ...]:
    work = one.work
    is_prefix_only = one.tier == BRANCH and asked.git_branch != work.git_branch
    is_elsewhere = asked.repo_root_hash is None or work.repo_root_hash != asked.repo_root_hash
    return (
        one.tier,
        is_prefix_only,
        is_elsewhere,
        work.is_complete,
        -work.last_seq,
        work.session_id,
        work.run_id or "",
    )
