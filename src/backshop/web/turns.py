"""`POST /bench/{id}/turn`: say something and let the agent work, without holding a connection.

A browser has few connections per host and a turn may take an hour, so the page does not wait for
`WorkshopRunAgent` to return: the turn goes on in a thread, its checks are waited for, and the rest
comes by events and records (W19.4).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from backshop.app import fault_of
from backshop.base.canon import parse
from backshop.base.errors import BackshopError, ValidationFailed

from .preparation import prepare
from .rpc import read_body
from .security import user_of
from .site import Site, fault_response, wants_page

BODY_MAX_BYTES = 512 * 1024
Call = Callable[[str, object], Any]
PLAN_FIRST = "plan"  # what the composer calls flow `rpi` for one message (W1.4)
_INPUT = "input."
CHECKS_S = 2.0  # refusals come before any model call, long before this


async def turn(request: Request) -> Response:
    """Send a message, run or resume its turn, or ask for an answer again."""
    site: Site = request.app.state.site
    bench_id = request.path_params["bench_id"]
    is_form = not request.headers.get("content-type", "").startswith("application/json")
    try:
        wish = await _wish(request, is_form)
        user = user_of(request)
        call = partial(site.shop.call, user=user)
        after = partial(prepare, site, bench_id, user)
        answer = await site.run(begin, call, bench_id, wish, after)
    except (HTTPException, ClientDisconnect):  # of the request itself, answered by the app
        raise
    except Exception as error:  # a surface's outermost handler
        if isinstance(error, BackshopError) and wants_page(request.headers):
            raise  # to a page that says so
        return fault_response(error)
    if is_form:
        is_round = wish.get("on_draft") and wish.get("mode") != "ask" and "error" not in answer
        stay = "" if is_round else "?stay=1"  # a round that is over leads back to the review
        return RedirectResponse(f"/bench/{bench_id}{stay}", status_code=303)
    return JSONResponse(answer, status_code=200 if "error" in answer else 202)


async def _wish(request: Request, is_form: bool) -> dict[str, Any]:
    if is_form:
        form = await request.form(max_files=0)
        return {key: value for key, value in form.items() if isinstance(value, str)}
    body = parse(await read_body(request, BODY_MAX_BYTES))
    if not isinstance(body, dict):
        raise ValidationFailed("a turn is an object", reason="bad_params")
    return dict(body)


def begin(
    call: Call, bench_id: str, wish: dict[str, Any], after: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Do what can be refused at once, begin the rest, and say how far that came.

    `after` is done when the turn is over and whoever waits for it knows (U8.8).
    """
    named = {"workbench_id": bench_id}
    message_id = wish.get("message_id")
    flow: dict[str, Any] = _driven(wish)
    if "text" in wish:
        if flow:
            call("WorkshopGetWorkflowInputs", {**named, **flow})  # refused before it is said
        said = {**named, **_picked(wish, "text", "mode", "client_message_id"), "origin": "web"}
        if said.get("mode") == PLAN_FIRST:
            said, flow = {**said, "mode": "agent"}, {**flow, "flow": "rpi"}
        is_on_draft = bool(wish.get("on_draft"))  # asked for from the review (W24.1)
        command = "WorkshopRequestChanges" if is_on_draft else "WorkshopSendUserMessage"
        message_id = call(command, said)["message_id"]
    if wish.get("regenerate"):
        again = {**named, **_picked(wish, "message_id", "mode", "note", "model_id")}
        work = _begin(call, "WorkshopRegenerate", again, after)
    elif not message_id:
        raise ValidationFailed("a turn needs a text or a message", reason="bad_params")
    else:
        work = _begin(call, "WorkshopRunAgent", {**named, "message_id": message_id, **flow}, after)
    made = {"message_id": message_id} if message_id else {}
    try:
        return {**made, "result": work.result(CHECKS_S)}
    except NotYet:
        return {**made, "running": True}
    except Exception as error:  # the message stands; only its turn was refused
        envelope = fault_of(error, "workshop").envelope
        return {**made, "error": envelope.get("error", envelope)}


def _driven(wish: dict[str, Any]) -> dict[str, Any]:
    """Return the workflow that drives the turn, and its inputs, a form's one by one (W25.4)."""
    if not wish.get("workflow_id"):
        return {}
    inputs = {
        name.removeprefix(_INPUT): value
        for name, value in wish.items()
        if name.startswith(_INPUT) and value
    }
    return {"workflow_id": wish["workflow_id"], "inputs": wish.get("inputs") or inputs}


def _picked(wish: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: wish[name] for name in names if wish.get(name) is not None}


def _begin(
    call: Call, command: str, request: dict[str, Any], after: Callable[[], object]
) -> Future[Any]:
    made: Future[Any] = Future()

    def work() -> None:
        try:
            made.set_result(call(command, request))
        except Exception as error:  # a worker's loop: whoever waits gets it, the records say it
            made.set_exception(error)
        else:
            after()

    threading.Thread(target=work, name="backshop-turn", daemon=True).start()
    return made


ROUTES = (Route("/bench/{bench_id}/turn", turn, methods=["POST"]),)
