"""What a page is made of: a visit comes in, a template and its words go out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from backshop.app import Backshop, Role, fault_of, one_request
from backshop.base.acting import OWNER, Acted, who
from backshop.base.command import NOTHING
from backshop.base.errors import AccessDenied, BackshopError, NotFound, ValidationFailed
from backshop.base.ids import UserId, check_id
from backshop.base.labels import FOLDER_REASONS, FOLDERS, RECOVERY, count_text
from backshop.base.limits import MIB
from backshop.bench import Bench, requests
from backshop.models import Models
from backshop.workshop import Workshop
from backshop.workshop.requests import WorkbenchOnly

from ..render import page as render
from ..security import FRAGMENT, user_of
from ..sentences import CALM, SENTENCES
from ..site import Site, fault_response, waiting
from .words import ACTIONS, action_links, sentence

Facade = TypeVar("Facade")
Asked = TypeVar("Asked")
Answered = TypeVar("Answered")
THEMES = ("auto", "light", "dark")
THEME_COOKIE = "backshop_theme"
PROOF_COOKIE = "backshop_proof"
DONE = {  # what a command did, in the words of the page after it
    "CheckpointRestore": "Restored; what was Published before is kept in the history",
    "DraftBringBack": "The discarded Draft is back",
    "DraftDiscard": "The Draft was discarded; Published is as it was",
    "DraftPublish": "Published; what was there before is kept in the history",
    "DraftRevertPath": "Reverted: the file is as it was when the Draft began",
    "DraftUndo": "Undone: the file is again as the Draft had it",
    "RailsRunBranch": "The branch is made; an agent that resumes this run goes on there",
    "RailsRunSetPreferences": "Recorded; it counts from the newest step on",
    "RailsSessionImport": "Imported: this is the session that was in the bundle",
    "RailsUserInputRecord": "Recorded; the agent goes on with its next call",
    "WorkshopSaveWorkflow": "Saved as a workflow; choose other files for it below",
}
PROOF_SECONDS = 60
FORM_MAX_FIELDS = 5000
FIELD_MAX_BYTES = 32 * MIB  # larger than any text a command takes, so that the command says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request for a page, as a handler sees it. Handlers run in a worker thread."""

    site: Site
    params: Mapping[str, str]
    query: Mapping[str, str]
    cookies: Mapping[str, str]
    path: str
    user: UserId | None = None
    is_part: bool = False
    """A script asks for a part of a page: a refusal is data for it."""
    is_post: bool = False
    """A form was sent: the page that answers it is not to be asked for again."""
    form: FormData = field(default_factory=FormData)

    @property
    def shop(self) -> Backshop:
        """The product."""
        return self.site.shop

    def call(self, command: str, /, **request: Any) -> Any:
        """Run a command of the registry: parsed JSON in and out."""
        return self.shop.call(command, request, user=self.user)

    def ask(self, method: Callable[[Facade, Asked], Answered], request: Asked) -> Answered:
        """Run the command that a method of a facade is, and return its typed answer."""
        return self.shop.ask(method, request, user=self.user)

    def who(self, by: Acted | None) -> str | None:
        """Return who did something, as this person reads it (T1.6)."""
        return who(by, me=self.user or OWNER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A template with what it shows."""

    template: str
    title: str
    context: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    """Where a page that answers a form is found without the form."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """Go there; 303, so that a post is not repeated."""

    path: str
    proof: tuple[str, int, int, str] | None = None
    """What was done, and how many files were read back as they should be, and not: for the next
    page to say."""


Handler = Callable[[Visit], Page | Redirect | Response]


def route(path: str, handler: Handler, *methods: str) -> Route:
    """Return the route of a page; the work is done in a thread, errors become a page (U1.6)."""

    async def endpoint(request: Request) -> Response:
        site: Site = request.app.state.site
        form = FormData()
        if request.method == "POST":
            form = await request.form(
                max_files=0, max_fields=FORM_MAX_FIELDS, max_part_size=FIELD_MAX_BYTES
            )
        visit = Visit(
            site=site,
            params=request.path_params,
            query=request.query_params,
            cookies=request.cookies,
            path=request.url.path,
            user=user_of(request),
            is_part=FRAGMENT in request.headers,
            is_post=request.method == "POST",
            form=form,
        )
        return await site.run(_counted_once, handler, visit)

    return Route(path, endpoint, methods=list(methods or ("GET",)))


def _counted_once(handler: Handler, visit: Visit) -> Response:
    """Answer a visit: whatever it takes to make a page is one request of whoever asked (T6.5)."""
    with one_request():
        return _answer(handler, visit)


def _answer(handler: Handler, visit: Visit) -> Response:
    position = None
    try:
        position = visit.site.hub.position  # before anything is read: what comes later is news
        if "bench_id" in visit.params:  # also what a page reads besides commands (T6.4)
            _require_name(visit.params["bench_id"])
            visit.shop.gate.require(visit.user, visit.params["bench_id"], Role.READ)
        made = handler(visit)
        return _response(made, visit, position)
    except Exception as error:  # a surface's outermost handler
        if visit.is_part:
            return fault_response(error)
        return _response(error_page(error, visit), visit, position)


def _require_name(bench_id: str) -> None:
    """Refuse an address that can name no workbench as one whose workbench is gone (U1.7)."""
    try:
        check_id(bench_id, "wb")
    except ValidationFailed as error:
        raise NotFound("there is no such workbench", reason="not_found") from error


def _response(made: Page | Redirect | Response, visit: Visit, position: int | None) -> Response:
    if isinstance(made, Response):
        return made
    if isinstance(made, Redirect):
        onward = RedirectResponse(made.path, status_code=303)
        if made.proof is not None:  # in a cookie: an address could be made up by anybody
            onward.set_cookie(
                PROOF_COOKIE,
                "{}-{}-{}-{}".format(*made.proof),
                max_age=PROOF_SECONDS,
                httponly=True,
                samesite="strict",
            )
        return onward
    theme = visit.cookies.get(THEME_COOKIE, "auto")
    common = {
        "title": made.title,
        "path": visit.path,
        "position": "" if position is None else position,
        "is_answer": visit.is_post,
        "address": made.address if visit.is_post else "",
        "theme": theme if theme in THEMES else "auto",
        "actions": ACTIONS,
        "sentences": {"said": SENTENCES, "calm": sorted(CALM)},
        "visitor": _visitor(visit),
        "may": allowed(visit),
        "role": _role(visit),
        "visitor_id": visit.user or "",
        "folders": {code: sentence(text) for code, text in FOLDERS.items()},
    }
    text = render(made.template, {**common, **made.context})
    headers = {"cache-control": "no-store", **made.headers}
    answer = HTMLResponse(text, status_code=made.status, headers=headers)
    if PROOF_COOKIE in visit.cookies:  # said once
        answer.delete_cookie(PROOF_COOKIE)
    return answer


def _visitor(visit: Visit) -> dict[str, str]:
    """Return how the head of a page calls whoever looks at it; the owner has no name here."""
    if visit.user is None:
        return {"name": "Owner of this home", "initials": ""}
    name = visit.shop.people.state.names.get(visit.user) or "You"
    letters = [word[0] for word in name.split() if word[0].isalnum()]
    return {"name": name, "initials": "".join([*letters[:1], *letters[1:][-1:]]).upper()}


def allowed(visit: Visit) -> Callable[..., bool]:
    """Return what says of a command, and of a bench or session if not the page's bench, whether
    somebody may (T6.6).

    What is refused is not offered (U5.53); whether it is refused is asked by the gate alone.
    """
    if visit.user is None:
        return lambda *_: True
    user, state = visit.user, visit.shop.people.state
    here = visit.params.get("bench_id")

    def may(name: str, subject: str | None = here) -> bool:
        needed = visit.shop.commands.find(name).command.role
        if needed == "owner" or subject is None:
            return needed != "owner"
        return state.role(user, subject).includes(Role(needed))

    return may


def _role(visit: Visit) -> str:
    """Return what somebody may do with the bench of this page; nothing where there is none."""
    if visit.user is None:
        return "owner"
    bench_id = visit.params.get("bench_id")
    return visit.shop.people.state.role(visit.user, bench_id).value if bench_id else ""


def error_page(error: Exception, visit: Visit) -> Page:
    """Return the page of an error: what, why, what can be done, and the reference id."""
    fault = fault_of(error)
    titles = {403: "No access", 404: "Not found", 429: "Too many requests"}
    title = titles.get(fault.http, "That did not work")
    back = safe_path(visit.form.get("back")) or "/"
    context = {"error": _shown(fault.envelope, visit, back), "back": back}
    return Page(
        template="error.html",
        title=title,
        context=context,
        status=fault.http,
        headers=waiting(fault),
    )


def require_owner(visit: Visit) -> None:
    """Refuse whoever does not own the home.

    Raises:
        AccessDenied: `owner_only`.
    """
    if visit.user is not None:
        raise AccessDenied("this is for the home's owner", reason="owner_only")


def number(visit: Visit, name: str) -> int | None:
    """Return a number of the address, or None: anything may stand there."""
    text = visit.query.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def safe_path(given: object) -> str | None:
    """Return a path of this site, or None: an address must not lead elsewhere."""
    if not isinstance(given, str) or not given.startswith("/") or given.startswith(("//", "/\\")):
        return None
    return given if given.isprintable() else None


def bench_context(visit: Visit, here: str) -> dict[str, Any]:
    """Return what `bench.html` shows around every page of a bench; `here` is the page's name."""
    bench_id = visit.params["bench_id"]
    opened = visit.ask(Bench.open, requests.BenchRequest(workbench_id=bench_id))
    workshop, refusal = tried(visit, Workshop.get_state, WorkbenchOnly(workbench_id=bench_id))
    models, _ = tried(visit, Models.models, NOTHING)
    said = dict.fromkeys((*opened.recovery, *opened.warnings))
    notices = [sentence(RECOVERY.get(code, code)) for code in said]
    return {
        "here": here,
        "bench": opened.workbench,
        "draft": opened.draft,
        "changed_count": _changed_count(visit, opened.draft.has_draft),
        "health": opened.health,
        "outside": opened.outside_changes,
        "folder": opened.folder,
        "folder_reasons": FOLDER_REASONS,
        "notices": [
            *told(visit),
            *_limits(visit),
            *notices,
            *([refusal["message"]] if refusal else ()),
        ],
        "workshop": workshop or {},
        "models": models.models if models else (),
    }


def _limits(visit: Visit) -> list[str]:
    """Say to whoever may not do everything here what they may."""
    said = {
        "read": "You may look at everything here and change nothing.",
        "write": "You may work here; publishing is for others.",
    }.get(_role(visit))
    return [f"{said} Whoever shares this workbench can give you a larger role."] if said else []


def _changed_count(visit: Visit, has_draft: bool) -> int:
    """Return how many files the Draft changes, for the head of the page; 0 without one."""
    if not has_draft:
        return 0
    wish = requests.ReviewGetChangeSet(workbench_id=visit.params["bench_id"], limit=1)
    found, _ = tried(visit, Bench.review_get_change_set, wish)
    return found.total if found else 0


def told(visit: Visit) -> list[str]:
    """Say what a form's command did, and read back of the files it changed (B9.15)."""
    command, _, numbers = visit.cookies.get(PROOF_COOKIE, "").partition("-")
    proved, _, rest = numbers.partition("-")
    unproved, _, code = rest.partition("-")
    if not all(one.isdecimal() and len(one) < 10 for one in (proved, unproved)):
        return []
    said = {
        DONE.get(command, ""): int(command in DONE),
        f"{count_text(int(proved), 'file')} checked, each as it should be": int(proved),
        f"{count_text(int(unproved), 'file')} not as it should be in its folder": int(unproved),
    }
    warned = [sentence(FOLDERS[one]) for one in code.split(".") if one in FOLDERS]
    return [*(text for text, number in said.items() if number), *warned]


def tried(
    visit: Visit, method: Callable[[Facade, Asked], Answered], request: Asked
) -> tuple[Answered | None, dict[str, Any] | None]:
    """Return the typed answer of a command, or None and the envelope to show instead."""
    try:
        return visit.ask(method, request), None
    except BackshopError as error:
        return None, _shown(fault_of(error).envelope, visit, visit.path)


def _shown(envelope: dict[str, Any], visit: Visit, here: str) -> dict[str, Any]:
    """Return what a page shows of an error: its words, and links to what can be done."""
    error: dict[str, Any] = envelope.get("error", envelope)
    named = visit.form.get("workbench_id")
    bench_id = visit.params.get("bench_id") or (named if isinstance(named, str) else None)
    return {**error, "links": action_links(error.get("actions") or (), bench_id, here)}
