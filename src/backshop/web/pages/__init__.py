"""The pages, one module each, and the kit they share.

A page is a function `handler(visit) -> Page | Redirect | Response` with a route in its module's
`ROUTES`; add the module to `ROUTES` below. Handlers are synchronous and run in a worker thread, so
they ask directly, and get typed answers: `visit.ask(Bench.open, BenchRequest(workbench_id=…))`. An
error that leaves a handler becomes a page with the envelope; `tried(visit, Bench.open, …)` gives
`(answer, envelope)` when only a part may fail.

Templates extend `base.html` (top bar, live regions) or, for pages of a bench, `bench.html` with
`**bench_context(visit, "review")` in their context. Blocks of `bench.html`: `side` (left column),
`side_label`, `main`, `drawer` (set `columns` to `with-drawer`), `top_end`, `dialogs` (call
`super()`), `scripts`, `styles`. The Draft bar comes with it and stays true by itself; a page hears
of it by the DOM event `draft`.

`kit.html` has the pieces: `icon`, `badge`, `command`, `hidden`, `error_box`, `dialog`, `empty`,
`kind_icon`. Filters: `size`, `moment`, `count("file")`, `markdown` (safe HTML), `jsonish`.
Classes: `page` (`narrow`, `wide`), `page-head`, `panel`, `cards`/`card`, `table-wrap`, `facts`
(dl), `buttons`, `row`, `field`, `hint`, `badge added|changed|removed|draft|danger|ok`, `prose`
around rendered Markdown. Colours and spaces only by the tokens at the top of `style.css`.

Forms: `{% call command("DraftDiscard", next="/") %}…{% endcall %}` is a plain post without scripts
and a call in place with them (errors show inside, success goes to `next`, or listen for `done` on
the form and prevent it). Names: `paths[]` list, `limit:number`, `pinned:boolean`.

Scripts are ES modules in `static/`, loaded by `{% block scripts %}<script type="module"
src="{{ static('review.js') }}"></script>{% endblock %}`: `dom.js` ($, $$, el, icon, fragment, load,
on, say, toast, ask, errorBox, showError, copyText, isTyping), `rpc.js` (call, post, RpcError),
`events.js` (follow), `virtual.js` (virtual), `clean.js` (onCleanBench), `consent.js`
(allowSending). The content policy forbids inline scripts, inline styles (`style=` in templates;
`element.style` in scripts is fine), `innerHTML` except through `fragment(text)` for HTML of our own
server, and anything from elsewhere.
"""

from . import (
    again,
    backups,
    benches,
    checkpoints,
    context,
    model_way,
    options,
    pictures,
    review,
    settings,
    sharing,
    studio,
    two_answers,
    viewer,
    workflows,
    workshop,
)

ROUTES = (
    *again.ROUTES,
    *backups.ROUTES,
    *benches.ROUTES,
    *checkpoints.ROUTES,
    *context.ROUTES,
    *model_way.ROUTES,
    *options.ROUTES,
    *pictures.ROUTES,
    *review.ROUTES,
    *settings.ROUTES,
    *sharing.ROUTES,
    *studio.ROUTES,
    *two_answers.ROUTES,
    *viewer.ROUTES,
    *workflows.ROUTES,
    *workshop.ROUTES,
)

__all__ = ["ROUTES"]
