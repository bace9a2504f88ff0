"""Context items: what every call is told about company, department, situation and style (B14).

All items of a bench are one tree, `<category>/…`, so that a checkpoint keeps and restores them
with the files. Nothing here asks a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from backshop.base import codec, paths, tree
from backshop.base.ambient import timestamp
from backshop.base.canon import canonical, sha256_hex
from backshop.base.errors import BackshopError, LimitExceeded, NotFound, ValidationFailed
from backshop.base.ids import BlobId, TreeId
from backshop.base.paths import BenchPath

from .. import decide, requests
from ..answers import Done
from ..errors import ConfirmationRequired
from ..files.source import read_source
from ..repository import BenchRepository
from ..requests import ContextFile
from ..retry import decided_again
from ..state import BenchState
from ..style import skill
from ..tree.soundness import UNREADABLE
from ..values import ItemChange
from .processing import FILE_MAX_BYTES, FILES_MAX, ITEM_MAX_BYTES, is_allowed, main_file

CATEGORIES = ("company-context", "department-context", "situation", "document-style")
SUMMARY_MAX_CHARS = 100
_SOURCE = "source.json"
_SOURCE_FOLDER = "source_file/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an item comes from, stored beside it as `source.json` (B14.3)."""

    mode: str
    created_at: str
    last_processed_at: str | None = None
    last_direct_edit_at: str | None = None
    model_id: str | None = None
    has_direct_edits: bool = False
    text: str | None = None
    original_filename: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """One of the four slots."""

    category: str
    status: str
    summary: str = ""
    has_direct_edits: bool = False
    created_at: str | None = None
    last_processed_at: str | None = None
    last_direct_edit_at: str | None = None
    broken: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItems:
    """Always four, in the order of B14.1."""

    items: tuple[ContextItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """The files of an item that calls are told; not where they came from."""

    files: tuple[ContextFile, ...]
    has_direct_edits: bool


def list_items(desk: BenchRepository, request: requests.BenchRequest) -> ContextItems:
    """Return the four slots (B14.14)."""
    head = desk.state(request.workbench_id).context_tree
    return ContextItems(items=tuple(_item(desk, head, category) for category in CATEGORIES))


def get(desk: BenchRepository, request: requests.ContextSlot) -> ContextItem:
    """Return one slot."""
    _require_category(request.category)
    return _item(desk, desk.state(request.workbench_id).context_tree, request.category)


def get_artifact(desk: BenchRepository, request: requests.ContextSlot) -> Artifact:
    """Return the files of an active item."""
    _require_category(request.category)
    head = desk.state(request.workbench_id).context_tree
    item = _active(desk, head, request.category)
    files = [
        ContextFile(path=path, content=content)
        for path, content in artifact(desk, head, request.category).items()
    ]
    return Artifact(files=tuple(files), has_direct_edits=item.has_direct_edits)


def artifact(desk: BenchRepository, head: TreeId, category: str) -> dict[str, str]:
    """Return the texts of an item that calls are told; empty when the slot is (B14.19)."""
    return {
        path: desk.store.blobs.read(file.sha256).decode()
        for path, file in files_of(desk, head, category).items()
        if _is_artifact(path)
    }


@decided_again
def update(desk: BenchRepository, request: requests.ContextUpdateDirect) -> ContextItem:
    """Replace an item's files by the person's own; with `create` also an empty slot's (B14.12)."""
    category = request.category
    _require_category(category)
    wanted = _checked(category, request.files)
    with desk.locked(request.workbench_id) as state:
        decide.require_no_draft(state)
        now = timestamp(desk.clock.now_ms())
        is_new = not files_of(desk, state.context_tree, category)
        if is_new and not request.create:
            raise NotFound("there is no such context item", reason="not_found")
        known = _known_origin(desk, state.context_tree, category)
        edited = replace(
            known or Origin(mode="direct", created_at=now),
            has_direct_edits=True,
            last_direct_edit_at=now,
        )
        old = files_of(desk, state.context_tree, category)
        changes: dict[BenchPath, tree.File | None] = {
            paths.bench_path(f"{category}/{path}"): None for path in old if _is_artifact(path)
        }
        changes |= _stored(desk, category, wanted, edited)
        _commit(desk, state, category, "added" if is_new else "updated", changes)
    return _item(desk, desk.state(request.workbench_id).context_tree, category)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What an item is made from: a text, or a file with a note."""

    mode: str
    text: str | None = None
    note: str | None = None
    original_filename: str | None = None
    source: BlobId | None = None
    """The file's content, in the store already."""

    @property
    def sha256(self) -> str:
        """What the consent's scope names it by (M4.6)."""
        return self.source or sha256_hex((self.text or "").encode())


def require_processable(
    desk: BenchRepository, bench_id: str, category: str, overwrite: bool
) -> None:
    """Refuse what cannot become an item now, before a model is asked (B14.5, B14.12)."""
    _require_category(category)
    state = desk.state(bench_id)
    decide.require_no_draft(state)
    with desk.locked(bench_id):  # refuses while an agent is at work
        pass
    old = _known_origin(desk, state.context_tree, category)
    if old is not None and old.has_direct_edits and not overwrite:
        raise ConfirmationRequired(
            "this item was edited by hand; processing it again replaces the edits",
            reason="confirm_overwrite",
        )


def take_file(desk: BenchRepository, bench_id: str, text: str) -> tuple[str, BlobId]:
    """Return name and content of a file an item is to be made from (B14.4)."""
    limit = desk.state(bench_id).limits.max_file_bytes
    return read_source(text, desk.store.blobs, desk.store.home, limit)


@decided_again
def put_processed(
    desk: BenchRepository,
    bench_id: str,
    category: str,
    files: Mapping[str, str],
    material: Material,
    model_id: str,
    *,
    overwrite: bool,
) -> ContextItem:
    """Store what a model made of a source, in place of what the slot held (B14.4, B14.12)."""
    with desk.locked(bench_id) as state:
        require_processable(desk, bench_id, category, overwrite)
        now = timestamp(desk.clock.now_ms())
        old = files_of(desk, state.context_tree, category)
        known = _known_origin(desk, state.context_tree, category)
        origin = Origin(
            mode=material.mode,
            created_at=known.created_at if known else now,
            last_processed_at=now,
            model_id=model_id,
            text=material.text,
            original_filename=material.original_filename,
            note=material.note,
        )
        changes: dict[BenchPath, tree.File | None] = {
            paths.bench_path(f"{category}/{path}"): None for path in old
        }
        changes |= _stored(desk, category, {p: c.encode() for p, c in files.items()}, origin)
        if material.source is not None:
            name = _source_name(material.original_filename or "")
            file = tree.File(material.source, desk.store.blobs.size(material.source))
            changes[paths.bench_path(f"{category}/{_SOURCE_FOLDER}{name}")] = file
        _commit(desk, state, category, "updated" if old else "added", changes)
    return _item(desk, desk.state(bench_id).context_tree, category)


def _stored(
    desk: BenchRepository, category: str, files: Mapping[str, bytes], origin: Origin
) -> dict[BenchPath, tree.File | None]:
    """Put an item's files and where they come from into the store."""
    source = json.dumps(codec.encode(origin), sort_keys=True).encode()
    return {
        paths.bench_path(f"{category}/{path}"): tree.File(desk.store.blobs.put(data), len(data))
        for path, data in {**files, _SOURCE: source}.items()
    }


def _source_name(name: str) -> str:
    try:
        return paths.parse(name, max_depth=1).path
    except ValidationFailed:
        return "source"


def differing(desk: BenchRepository, before: TreeId, after: TreeId) -> tuple[ItemChange, ...]:
    """Return the items that are others in another context tree (B10.16)."""
    found = []
    for category in CATEGORIES if before != after else ():
        new = files_of(desk, after, category)
        try:
            old = files_of(desk, before, category)
        except UNREADABLE:  # damaged: what comes back counts as added
            old = {}
        if old != new:
            action = "added" if not old else "updated" if new else "deleted"
            found.append(ItemChange(category=category, action=action))
    return tuple(found)


def scope_texts(desk: BenchRepository, bench_id: str) -> list[tuple[str, str]]:
    """Return category and hash of what the person brought in as context (M4.6).

    An item a model made counts by its source; one the person wrote or edited by its own text too.
    """
    head = desk.state(bench_id).context_tree
    found: list[tuple[str, str]] = []
    for category in CATEGORIES:
        try:
            files = files_of(desk, head, category)
        except UNREADABLE:  # no call can carry it (B14.17)
            continue
        if not files:
            continue
        origin = _known_origin(desk, head, category) or Origin(mode="direct", created_at="")
        source = [file.sha256 for path, file in files.items() if path.startswith(_SOURCE_FOLDER)]
        if origin.mode == "text":
            source = [BlobId(sha256_hex((origin.text or "").encode()))]
        found += [(category, sha256) for sha256 in source]
        if origin.has_direct_edits or not source:
            own = {path: file.sha256 for path, file in files.items() if _is_artifact(path)}
            found.append((category, sha256_hex(canonical(own))))
    return found


@decided_again
def delete(desk: BenchRepository, request: requests.ContextSlot) -> Done:
    """Empty a slot at once; what was said before is not rewritten (B14.13)."""
    _require_category(request.category)
    with desk.locked(request.workbench_id) as state:
        decide.require_no_draft(state)
        found = files_of(desk, state.context_tree, request.category)
        if not found:
            raise NotFound("there is no such context item", reason="not_found")
        changes: dict[BenchPath, tree.File | None] = {
            paths.bench_path(f"{request.category}/{path}"): None for path in found
        }
        return _commit(desk, state, request.category, "deleted", changes)


def _commit(
    desk: BenchRepository,
    state: BenchState,
    category: str,
    action: str,
    changes: dict[BenchPath, tree.File | None],
) -> Done:
    built = desk.grow(state.context_tree, changes)
    done = desk.commit(
        state.id,
        lambda now: decide.change_context(decide.unmoved(now, state), category, action, built.id),
        blobs=tuple(built.nodes.values()),
    )
    return Done(warnings=done.warnings)


def _require_category(category: str) -> None:
    if category not in CATEGORIES:
        raise ValidationFailed("there is no such kind of context", reason="bad_category")


def _is_artifact(path: str) -> bool:
    return path != _SOURCE and not path.startswith(_SOURCE_FOLDER)


def _checked(category: str, files: Sequence[ContextFile]) -> dict[str, bytes]:
    """Return path → content, by the path rules and caps of B14.2 and B14.11."""
    if len(files) > FILES_MAX:
        raise LimitExceeded("a context item has at most 64 files", reason="too_large")
    main = main_file(category)
    found: dict[str, bytes] = {}
    for file in files:
        path = paths.bench_path(file.path)
        if not is_allowed(category, path) or path in found:
            raise ValidationFailed(
                f"a {category} item holds {main}, references for skills, and each path once",
                reason="bad_context_path",
                detail=path,
            )
        found[path] = file.content.encode()
    if not found.get(main, b"").strip():
        raise ValidationFailed(f"{main} is missing or blank", reason="bad_context_path")
    largest = max(len(content) for content in found.values())
    if largest > FILE_MAX_BYTES or sum(map(len, found.values())) > ITEM_MAX_BYTES:
        raise LimitExceeded("a context item has at most 4 MiB, 1 MiB a file", reason="too_large")
    return found


def files_of(desk: BenchRepository, head: TreeId, category: str) -> dict[str, tree.File]:
    """Return every stored file of an item by its path inside it; none when the slot is empty."""
    prefix = f"{category}/"
    entries = desk.entries(head).items()
    return {path.removeprefix(prefix): file for path, file in entries if path.startswith(prefix)}


def _active(desk: BenchRepository, head: TreeId, category: str) -> ContextItem:
    item = _item(desk, head, category)
    if item.status == "empty":
        raise NotFound("there is no such context item", reason="not_found")
    return item


def _item(desk: BenchRepository, head: TreeId, category: str) -> ContextItem:
    try:
        if not files_of(desk, head, category):
            return ContextItem(category=category, status="empty")
        origin = _origin(desk, head, category)
        text = desk.store.blobs.read(
            desk.find(head, BenchPath(f"{category}/{main_file(category)}")).sha256
        ).decode()
    except (BackshopError, ValueError):  # unreadable: shown as such, no failed list (B14.17)
        return ContextItem(category=category, status="active", broken=True)
    return ContextItem(
        category=category,
        status="active",
        summary=summary_of(text),
        has_direct_edits=origin.has_direct_edits,
        created_at=origin.created_at,
        last_processed_at=origin.last_processed_at,
        last_direct_edit_at=origin.last_direct_edit_at,
    )


def _origin(desk: BenchRepository, head: TreeId, category: str) -> Origin:
    file = desk.find(head, BenchPath(f"{category}/{_SOURCE}"))
    origin: Origin = codec.decode_json(Origin, desk.store.blobs.read(file.sha256).decode())
    return origin


def _known_origin(desk: BenchRepository, head: TreeId, category: str) -> Origin | None:
    """Return where an item comes from; None when the slot is empty or that cannot be read."""
    try:
        return _origin(desk, head, category)
    except BackshopError:
        return None


def summary_of(text: str) -> str:
    """Return a skill's description, or the beginning of its text in one line (B14.14)."""
    try:
        front = skill.read(text)
    except skill.BadSkill:
        return " ".join(text.split())[:SUMMARY_MAX_CHARS]
    said = " ".join(front.text("description").split())
    return said or " ".join(front.body.split())[:SUMMARY_MAX_CHARS]
