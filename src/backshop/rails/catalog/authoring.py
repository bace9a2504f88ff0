"""Writing workflows: check a text, save it, copy one, begin a new one, delete one (R3.10).

Only source files are written, and only after they have passed every check; a file is either the
old one or the new one. Where they go is `placing`.
"""

from __future__ import annotations

import errno
import json
import re
from dataclasses import dataclass
from pathlib import Path

from ..compile import compile_data, workflow_hash
from ..compile.parse import SOURCE_MAX_BYTES, SUFFIXES, parse_source
from ..definition.finding import Finding, Findings, Severity, has_error, ordered
from ..definition.identity import SourceKind, check_id, suggested_id
from ..errors import RailsError
from .catalog import Catalog, Listing
from .placement import Placing, Removed, hash_of
from .source import Entry, Places
from .team_workflow import Shelf

_ID_LINE = re.compile(r"^id:.*$", re.MULTILINE)
_STARTING_POINT = Path(__file__).parent / "starting-point.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a text would be as a workflow; the hash is there when it could run."""

    workflow_id: str | None
    workflow_hash: str | None
    findings: tuple[Finding, ...]

    @property
    def is_valid(self) -> bool:
        """Whether it could run."""
        return self.workflow_hash is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """A definition as it was written."""

    workflow_id: str
    file: str
    text: str
    is_yaml: bool

    @property
    def source_hash(self) -> str:
        """What to expect when it is saved over."""
        return hash_of(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """A file that was written; `path` is where it lies on this machine."""

    workflow_id: str
    path: Path
    replaced: bool
    checked: Checked
    source_hash: str


class Authoring:
    """Everything that reads or writes definitions as text."""

    def __init__(self, catalog: Catalog, places: Places, shelf: Shelf | None = None) -> None:
        self._catalog = catalog
        self._places = places
        self._placing = Placing(catalog, places, shelf)

    def validate(
        self,
        text: str,
        *,
        is_yaml: bool = False,
        strict: bool = False,
        target: SourceKind = SourceKind.USER,
        workspace: Path | None = None,
    ) -> Checked:
        """Check a text as if it lay in `target`."""
        listing = self._catalog.look(workspace)
        return _check(text, listing, is_yaml=is_yaml, strict=strict, target=target, saving=False)

    def validate_file(
        self, path: Path, *, strict: bool = False, workspace: Path | None = None
    ) -> Checked:
        """Check a file; one that lies in a source is judged by that source's rules.

        Raises:
            RailsError: `VALIDATION_ERROR`, the file cannot be read.
        """
        text = _read(path)
        inside = [
            source
            for source in self._places.sources(workspace)
            if path.resolve().is_relative_to(source.root.resolve())
        ]
        target = inside[0].kind if inside else SourceKind.USER
        is_yaml = path.suffix in SUFFIXES and path.suffix != ".json"
        return self.validate(
            text, is_yaml=is_yaml, strict=strict, target=target, workspace=workspace
        )

    def source(self, workflow_id: str, workspace: Path | None = None) -> SourceText:
        """Return a definition as it was written.

        Raises:
            RailsError: `WORKFLOW_NOT_FOUND`.
        """
        entry = self._catalog.look(workspace).find(workflow_id)
        return SourceText(
            workflow_id=entry.workflow_id,
            file=entry.file,
            text=_read(entry.stamp.path),
            is_yaml=_is_yaml(entry),
        )

    def save(
        self,
        text: str,
        *,
        target: SourceKind,
        is_yaml: bool = False,
        workspace: Path | None = None,
        expected: str | None = None,
    ) -> Saved:
        """Write a definition into the user's or the project's folder.

        `expected` is the hash of the file it may replace, empty for none; None replaces any.

        Raises:
            RailsError: `WORKFLOW_INVALID` with the findings, `VALIDATION_ERROR` for a target that
                cannot be written to, `PRECONDITION_FAILED` when another file is there.
            WriteFailed, DiskFull: nothing was changed.
        """
        folder = self._placing.folder(target, workspace)
        listing = self._catalog.look(workspace)
        checked = _check(text, listing, is_yaml=is_yaml, strict=True, target=target, saving=True)
        if not checked.is_valid or checked.workflow_id is None:
            raise _refused(checked)
        path = folder / f"{checked.workflow_id}{'.yaml' if is_yaml else '.json'}"
        path, old = self._placing.put(checked.workflow_id, path, text, workspace, expected)
        return Saved(
            workflow_id=checked.workflow_id,
            path=path,
            replaced=old is not None,
            checked=checked,
            source_hash=hash_of(text),
        )

    def delete(
        self,
        workflow_id: str,
        *,
        target: SourceKind,
        workspace: Path | None = None,
        expected: str | None = None,
    ) -> Removed:
        """Take a definition away; runs that began with it keep theirs (R2.6).

        `expected` is the hash of the file that may go; None takes any.

        Raises:
            RailsError: `WORKFLOW_NOT_FOUND`, `VALIDATION_ERROR` for one that lies elsewhere,
                `PRECONDITION_FAILED` when it is another file by now.
            WriteFailed, DiskFull: nothing was changed.
        """
        return self._placing.remove(workflow_id, target, workspace, expected)

    def copy(
        self,
        workflow_id: str,
        *,
        new_id: str,
        target: SourceKind,
        workspace: Path | None = None,
    ) -> Saved:
        """Save a workflow under another id, comments and order kept.

        Raises:
            RailsError: as `source` and `save`; `VALIDATION_ERROR` when the new id is taken.
        """
        original = self.source(workflow_id, workspace)
        self._free(new_id, target, workspace)
        if original.is_yaml:
            text = _ID_LINE.sub(lambda match: f"id: {new_id}", original.text, count=1)
        else:
            data = json.loads(original.text.removeprefix("\ufeff"))
            text = json.dumps({**data, "id": new_id}, ensure_ascii=False, indent=2) + "\n"
        return self.save(
            text, target=target, is_yaml=original.is_yaml, workspace=workspace, expected=""
        )

    def new(
        self,
        workflow_id: str,
        *,
        name: str | None = None,
        target: SourceKind,
        workspace: Path | None = None,
    ) -> Saved:
        """Write a commented starting point that runs as it is.

        Raises:
            RailsError: as `save`; `VALIDATION_ERROR` when the id is taken.
        """
        self._free(workflow_id, target, workspace)
        text = starting_point(workflow_id, name)
        return self.save(text, target=target, is_yaml=True, workspace=workspace, expected="")

    def _free(self, workflow_id: str, target: SourceKind, workspace: Path | None) -> None:
        folder = self._placing.folder(target, workspace)
        taken = self._placing.file_of(workflow_id, folder, workspace)
        if taken is not None:
            raise RailsError(
                "VALIDATION_ERROR",
                f"`{workflow_id}` exists already, in {taken.name}",
                "Choose another id, or save over it.",
            )


def starting_point(workflow_id: str, name: str | None = None) -> str:
    """Return a small workflow with a comment at everything one will want to change."""
    words = workflow_id.rpartition(".")[2].replace("_", " ").replace("-", " ").strip()
    title = name or words[:1].upper() + words[1:]
    text = _STARTING_POINT.read_text(encoding="utf-8")
    return text.replace("@id@", workflow_id).replace("@name@", json.dumps(title))


def _check(
    text: str,
    listing: Listing,
    *,
    is_yaml: bool,
    strict: bool,
    target: SourceKind,
    saving: bool,
) -> Checked:
    findings = Findings()
    data = parse_source(text.encode(errors="surrogatepass"), findings, is_yaml=is_yaml)
    if has_error(findings.all):
        return Checked(workflow_id=None, workflow_hash=None, findings=findings.all)
    workflow_id = data.get("id") if isinstance(data, dict) else None
    bindings = listing.bindings_of(workflow_id) if isinstance(workflow_id, str) else {}
    outcome = compile_data(data, library=listing.library, bindings=bindings, strict=strict)
    if outcome.definition is not None:
        suggestion = suggested_id(outcome.definition.id, target, "", taken=listing.entries)
        check_id(outcome.definition.id, target, findings, suggestion=suggestion, saving=saving)
    found = ordered([*findings.all, *outcome.findings])
    runs = outcome.compiled is not None and not has_error(found)
    return Checked(
        workflow_id=outcome.definition.id if outcome.definition else None,
        workflow_hash=workflow_hash(outcome.compiled) if outcome.compiled and runs else None,
        findings=found,
    )


def _refused(checked: Checked) -> RailsError:
    errors = [one for one in checked.findings if one.severity is Severity.ERROR]
    first, more = errors[0], len(errors) - 1
    rest = f", and {more} more error{'s' if more > 1 else ''}" if more else ""
    return RailsError(
        "WORKFLOW_INVALID",
        f"not saved: {first.message} (at {first.pointer or 'the top'}){rest}",
        f"Write {first.fix} instead." if first.fix else "Correct what the findings name.",
        details={
            "findings": [
                {"code": one.code, "pointer": one.pointer, "message": one.message[:300]}
                for one in errors[:10]
            ]
        },
    )


def _is_yaml(entry: Entry) -> bool:
    return entry.stamp.path.suffix != ".json"


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            raise FileNotFoundError(errno.ENOENT, "there is no such file")
        with path.open("rb") as file:
            data = file.read(SOURCE_MAX_BYTES + 1)  # one more: the check names the limit
        return data.decode("utf-8")
    except OSError as error:
        raise RailsError(
            "VALIDATION_ERROR", f"{path.name} cannot be read: {error.strerror}", "Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise RailsError(
            "VALIDATION_ERROR",
            f"{path.name} is not UTF-8 at byte {error.start}",
            "Save it as UTF-8.",
        ) from error
    except ValueError as error:  # a NUL in the name
        raise RailsError("VALIDATION_ERROR", "not a path", "Check the path.") from error
