// The review: the list of changed files beside one of them, keys, and what was looked at.
import { $, $$, el, errorBox, icon, isTyping, kindMark, load, localTimes, on, say, skeleton } from "./dom.js";
import { call } from "./rpc.js";
import { virtual } from "./virtual.js";
import { pictures } from "./pictures.js";
import { stage } from "./stage.js";
import { unfold } from "./lines.js";
import { askForChanges, commentsAlong } from "./asking.js";
import { folds } from "./fold.js";

const workbench_id = document.body.dataset.bench;
const holder = $("#changes");
if (holder) start();

function start() {
  const view = $("#file-view");
  const heading = $("#review-heading");
  let tree = holder.dataset.tree;
  const kept = `review:${workbench_id}:${holder.dataset.draftId}`;
  const since = holder.dataset.since ? { since: holder.dataset.since } : {}; // what the Draft is compared with
  const viewed = JSON.parse(localStorage.getItem(kept) || "{}");
  const GROUPS = { ADDED: ["+", "Added", "added"], MODIFIED: ["~", "Changed", "changed"], RENAMED: ["→", "Renamed", "changed"], DELETED: ["−", "Deleted", "removed"] };
  let entries = [];
  let rows = [];
  let current = holder.dataset.current;
  let list = null;
  let book = null;
  let drawn = null; // the picture of the file, where that is what is looked at
  let place = -1;

  const contentOf = (entry) => entry.sha256_after || "gone";
  const isViewed = (entry) => viewed[entry.path] === contentOf(entry);
  const files = () => rows.filter((row) => row.entry).map((row) => row.entry);

  let asked = 0;
  async function fetchAll() {
    const mine = ++asked;
    let page = await call("ReviewGetChangeSet", { workbench_id, limit: 5000, ...since });
    const found = [...page.entries];
    while (page.next_cursor) {
      page = await call("ReviewGetChangeSet", { workbench_id, limit: 5000, cursor: page.next_cursor, ...since });
      found.push(...page.entries);
    }
    if (mine !== asked) return; // somebody asked later and knows more
    entries = found;
    leftWhole(page.left_whole);
    counted(page.counts);
    if (!since.since && $("#publish-words")) $("#publish-words").textContent = page.total ? `Publish ${page.total} ${page.total === 1 ? "file" : "files"}` : "Publish";
    if ($("#ask-changes")) commentsAlong($("#ask-changes"), page.open_comments ?? 0);
    gate(page);
    correction(await call("DraftGetState", { workbench_id }));
    elsewhere(page.open_comments ? (await call("ReviewListComments", { workbench_id, state: "open", limit: 1000 })).comments : []);
  }

  // ------------------------------------------------------------ the list
  function arrange() {
    const text = $("#search").value.trim().toLowerCase();
    const change = $("#by-change").value;
    const kind = $("#by-kind").value;
    const wanted = entries.filter((one) =>
      (!text || one.path.toLowerCase().includes(text) || (one.old_path || "").toLowerCase().includes(text)) && (!change || one.kind === change) && (!kind || one.file_kind === kind));
    rows = [];
    const isFirst = (one) => one.collateral || one.new_errors?.length;
    const first = wanted.filter(isFirst);
    if (first.length) rows.push({ title: "Look here first", number: first.length, sign: "!" }, ...first.map((entry) => ({ entry })));
    for (const [group, [sign, title]] of Object.entries(GROUPS)) {
      const mine = wanted.filter((one) => one.kind === group && !isFirst(one));
      if (mine.length) rows.push({ title, number: mine.length, sign }, ...mine.map((entry) => ({ entry })));
    }
    if (list) list.refresh(rows.length);
    progress();
    active();
  }
  function delta(entry) {
    if (entry.bytes_before === undefined && entry.bytes_after === undefined) return null;
    const by = (entry.bytes_after || 0) - (entry.bytes_before || 0);
    const size = Math.abs(by) < 1000 ? `${Math.abs(by)} B` : `${(Math.abs(by) / 1024).toFixed(1)} KB`;
    return el("span", { class: "muted small num" }, `${by < 0 ? "−" : "+"}${size}`);
  }
  function drawRow(index) {
    const { entry, title, number, sign } = rows[index];
    if (!entry) return el("div", { class: "change-group", role: "presentation" }, el("span", {}, `${sign} ${title}`), el("span", {}, String(number)));
    const isHere = entry.path === current;
    return el("div", {
      class: `change ${entry.kind.toLowerCase()} ${isHere ? "here" : ""}`, role: "option", id: `change-${index}`, "aria-selected": String(isHere),
      title: entry.old_path ? `${entry.old_path} → ${entry.path}` : entry.path, "data-path": entry.path,
    }, el("span", { class: "change-sign" }, GROUPS[entry.kind][0]), el("span", { class: "unseen" }, `${GROUPS[entry.kind][1]}: `),
    kindMark(entry.file_kind), el("span", { class: "file-name" }, entry.path), delta(entry),
    entry.kind === "DELETED" && entry.deletion_confirmed === false ? el("span", { class: "badge danger" }, "agree?") : null,
    isViewed(entry) ? el("span", { class: "seen", title: "Viewed" }, icon("check"), el("span", { class: "unseen" }, "viewed")) : null);
  }
  const indexOf = (path) => rows.findIndex((row) => row.entry?.path === path);
  function active() {
    const at = indexOf(current);
    holder.setAttribute("aria-activedescendant", at >= 0 ? `change-${at}` : "");
  }
  function redraw() { list.refresh(rows.length); active(); }
  function progress() {
    const seen = entries.filter(isViewed).length;
    $("#progress").textContent = `${seen} of ${entries.length} viewed`;
  }

  // ------------------------------------------------------------ one file
  let opened = 0;
  async function open(path, query = "", { focus = false, push = true } = {}) {
    current = path;
    place = -1;
    const address = `?file=${encodeURIComponent(path)}${since.since ? `&since=${since.since}` : ""}${query}`;
    if (push) history.replaceState(null, "", address);
    redraw();
    const at = indexOf(path);
    if (at >= 0) list.show(at);
    view.setAttribute("aria-busy", "true");
    waiting(query);
    const asked = (opened += 1);
    const made = await load(`/bench/${workbench_id}/review/file${address}${mode()}`).catch((error) => {
      if (!error.envelope) throw error;
      return errorBox(error.envelope);
    });
    if (asked !== opened) return; // something else was asked for since
    view.replaceChildren(made);
    view.removeAttribute("aria-busy");
    view.scrollIntoView?.({ block: "nearest" });
    $("#main").scrollTop = 0;
    if (focus) view.focus();
    enrich();
  }
  // A way to look at a file shows as chosen at once, with the shape of what comes below it.
  function waiting(query) {
    const chosen = new URLSearchParams(query).get("as");
    const tab = chosen && $(`a[data-view="${chosen}"]`, view);
    if (!tab || tab.hasAttribute("aria-current")) return;
    for (const one of $$("a[data-view]", view)) one.removeAttribute("aria-current");
    tab.setAttribute("aria-current", "true");
    const nav = tab.closest("nav");
    while (nav.nextElementSibling) nav.nextElementSibling.remove();
    nav.after(chosen === "pages" ? skeleton("page", 1) : skeleton("text", 14));
  }
  const mode = () => (localStorage.getItem("diff-mode") === "split" ? "&mode=split" : "");
  async function enrich() {
    const entry = entries.find((one) => one.path === current);
    const box = $("#viewed", view);
    if (box && entry) {
      box.closest("label").hidden = false;
      box.checked = isViewed(entry);
      box.addEventListener("change", () => mark(entry, box.checked));
    }
    folds(view);
    unfold(view, workbench_id);
    localTimes(view);
    remarkable();
    pictures(view);
    book = null;
    drawn = $("[data-stage]", view) ? stage($("[data-stage]", view), { onMove: (query) => { place = -1; history.replaceState(null, "", `?${query}`); } }) : null;
    const grid = $("[data-grid=review]", view);
    if (grid) {
      grid.id = "review-grid";
      const { workbook } = await import("./sheet.js");
      book = await workbook(grid, {
        command: "ReviewGetXlsxPreviewGrid", request: { workbench_id, path: grid.dataset.path, ...since },
        sheet: grid.dataset.sheet, row: grid.dataset.row, sheets: JSON.parse(grid.dataset.sheets), lines: JSON.parse(grid.dataset.lines),
        first: grid.dataset.first ? { sheet: grid.dataset.firstSheet, cell: grid.dataset.first } : null,
      });
    }
  }
  // The changes of the file, one by one, in the place where they stood or where they are offered.
  async function choices(after = null) {
    const path = current;
    const address = `/bench/${workbench_id}/review/choices?file=${encodeURIComponent(path)}${after ? `&after=${after}` : ""}`;
    const made = await load(address).catch((error) => {
      if (!error.envelope) throw error;
      return errorBox(error.envelope);
    });
    if (current !== path) return;
    const place = $("#choices", view) ?? $(".choose", view);
    place?.replaceWith(made);
    remarkable();
  }
  function remarkable() {
    for (const one of $$("[data-remark]", view)) one.hidden = !$("#remark-at", view); // without scripts the place is typed
  }
  // What was said or chosen is shown where it was: the page stays, and means what it shows now.
  async function stay(event, chosen) {
    event.preventDefault();
    const hadChoices = Boolean($("#choices", view));
    const unit = event.target.closest("[data-unit]")?.dataset.unit;
    const from = placeNow();
    if (chosen?.tree) moved(chosen.tree);
    await refresh();
    const query = new URLSearchParams(location.search); // the same part of the same view
    for (const name of ["file", "since", "mode", "remark", "still", "choose"]) query.delete(name);
    if (hadChoices) query.set("choose", "1");
    await open(current, `${query.size ? "&" : ""}${query}`);
    from();
    if (unit) $(`[data-unit="${CSS.escape(unit)}"] form button`, view)?.focus({ preventScroll: true }); // the way back
    await drawn?.ready;
    from();
  }
  // Where one reads and what one typed, to be put back when the file was made anew.
  function placeNow() {
    const seen = $("#choices", view)?.getBoundingClientRect().top;
    const typed = ["#remark", "#remark-at"].map((id) => [id, $(id, view)?.value]);
    return () => {
      const now = $("#choices", view)?.getBoundingClientRect().top;
      if (seen !== undefined && now !== undefined) $("#main").scrollTop += now - seen;
      for (const [id, text] of typed) if (text && $(id, view) && !$(id, view).value) $(id, view).value = text;
    };
  }
  // A comment changes the comments and their outlines; the picture and the place one reads stay.
  async function remarked(event) {
    event.preventDefault();
    await refresh();
    const query = new URLSearchParams(location.search);
    query.set("file", current);
    const made = await load(`/bench/${workbench_id}/review/file?${query}`);
    const fresh = $("#comments", made);
    const old = $("#comments", view);
    if (!fresh || !old) return open(current, "");
    old.replaceWith(fresh);
    localTimes(fresh);
    const said = $$(".comment", fresh).at(-1);
    if (said && event.target.dataset.command === "ReviewAddComment") { said.tabIndex = -1; said.focus({ preventScroll: true }); said.scrollIntoView({ block: "nearest" }); }
    await drawn?.again();
  }
  function moved(now) {
    tree = now;
    for (const one of $$("input[name=reviewed_tree]")) one.value = now;
  }
  function mark(entry, is) {
    if (is) viewed[entry.path] = contentOf(entry);
    else delete viewed[entry.path];
    localStorage.setItem(kept, JSON.stringify(viewed));
    const box = $("#viewed", view);
    if (box) box.checked = is;
    redraw();
    progress();
    say(is ? "viewed" : "not viewed");
  }

  // ------------------------------------------------------------ going from change to change
  function step(by) {
    const changes = $$("[data-change]", view).filter((one) => one.offsetParent !== null || one.closest("svg"));
    if (!changes.length) return;
    place = Math.max(0, Math.min(changes.length - 1, place + by));
    for (const one of $$(".at-change", view)) one.classList.remove("at-change");
    const here = changes[place];
    here.classList.add("at-change");
    here.scrollIntoView({ block: "center" });
    if (book && here.dataset.cell) book.jump(here.dataset.sheet, here.dataset.cell);
    if (drawn && here.dataset.entry) drawn.go(here.dataset.entry);
    say(`change ${place + 1} of ${changes.length}`);
  }
  function turn(by) {
    const all = files();
    if (!all.length) return;
    const at = all.findIndex((one) => one.path === current);
    const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
    if (next && next.path !== current) open(next.path);
  }
  const KEYS = {
    j: () => step(1), k: () => step(-1), n: () => turn(1), p: () => turn(-1),
    v: () => { const entry = entries.find((one) => one.path === current); if (entry) mark(entry, !isViewed(entry)); },
  };
  document.addEventListener("keydown", (event) => {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
    if (![holder, view, heading].some((one) => one.contains(event.target))) return; // the letters of U4.4 belong to these
    if (KEYS[event.key]) { event.preventDefault(); KEYS[event.key](); }
    else if (event.target === holder && (event.key === "ArrowDown" || event.key === "ArrowUp")) { event.preventDefault(); turn(event.key === "ArrowDown" ? 1 : -1); }
  });
  on(holder, "click", "[data-path]", (_, row) => open(row.dataset.path));
  on(view, "click", "a[data-part], a[data-more], a[data-view], a[data-mode]", (event, link) => {
    event.preventDefault();
    if (link.dataset.mode) localStorage.setItem("diff-mode", link.dataset.mode);
    const query = new URL(link.href).searchParams;
    for (const name of ["file", "mode", "since"]) query.delete(name);
    open(current, [...query].map(([key, value]) => `&${key}=${encodeURIComponent(value)}`).join(""));
  });
  on(view, "click", "a[data-choose], a[data-choices]", async (event, link) => {
    event.preventDefault();
    await choices(new URL(link.href).searchParams.get("after"));
    $("#choices-heading", view)?.scrollIntoView({ block: "nearest" });
  });
  on(view, "click", "[data-remark]", (_, button) => {
    $("#remark-at", view).value = button.dataset.remark;
    const own = $("#remark", view);
    const { about } = button.dataset; // what is gone is named, as the comment stands beside where it was
    if (about && !own.value.includes(about)) own.value = about + own.value;
    own.focus();
  });
  // A comment leads to its place: in the picture as it stands there, else to the part of it that has the place.
  on(view, "click", "a[data-remark-link]", async (event, link) => {
    event.preventDefault();
    const number = link.dataset.remarkLink;
    if (drawn?.goRemark(number)) return;
    const way = drawn && new URLSearchParams(location.search).get("as") === "pages" ? "pages" : "picture";
    await open(current, `&as=${way}&remark=${number}`);
  });
  on(view, "click", ".cell-list tr[data-cell]", (_, row) => book?.jump(row.dataset.sheet, row.dataset.cell));

  // ------------------------------------------------------------ what keeps it from being published
  function gate(page) {
    const open = page.unconfirmed_count ?? 0; // of the whole Draft, whatever is listed
    const moved = page.tree !== tree;
    const outside = page.outside_changes?.length;
    const isAtWork = $("#draft-bar .draft-bar")?.dataset.atWork === "yes";
    const isEmpty = !since.since && !page.total;
    const button = $("#publish") ?? el("button"); // who may not publish has none
    button.disabled = Boolean(open || moved || outside || isAtWork || isEmpty);
    $("#draft-moved").hidden = !moved;
    const why = $("#why-not");
    why.hidden = !open && !outside && !isAtWork && !isEmpty;
    if (isAtWork) $("span", why).textContent = "The agent is at work on this Draft. It can be published when the turn is over.";
    else if (outside) $("span", why).textContent = "Another program changed the Draft's folder; take its edits over or put the Draft's files back first.";
    else if (open) $("span", why).textContent = `${open} deletion${open === 1 ? " waits" : "s wait"} for your agreement before this can be published.`;
    else if (isEmpty) $("span", why).textContent = "Nothing is left to publish. Take changes in again, or discard the Draft.";
    const all = $(".confirm-all", why);
    if (all) {
      const paths = since.since ? page.unconfirmed ?? [] : entries.filter((one) => one.deletion_confirmed === false).map((one) => one.path);
      all.hidden = !paths.length;
      for (const old of $$("[name='paths[]']", all)) old.remove();
      all.append(...paths.map((path) => el("input", { type: "hidden", name: "paths[]", value: path })));
      $("button", all).textContent = paths.length === 1 ? "Agree to 1 deletion" : `Agree to ${paths.length} deletions`;
    }
    if (button.disabled) button.setAttribute("aria-describedby", moved ? "draft-moved" : "why-not");
    else button.removeAttribute("aria-describedby");
  }
  function counted(counts) {
    const shown = Object.entries(GROUPS).map(([kind, [sign, title, tone]]) => [counts[kind.toLowerCase()], sign, title, tone]).filter(([number]) => number);
    $("#counts").replaceChildren(...shown.map(([number, sign, title, tone]) => el("span", { class: `badge ${tone}` }, `${sign} ${number} ${title.toLowerCase()}`)));
  }
  // What was done by hand last, and the way back from it.
  function correction({ undoable = [], revision_id = "" }) {
    const box = $("#correction");
    box.hidden = !undoable.length;
    const more = undoable.length > 3 ? ` and ${undoable.length - 3} more` : "";
    $(".corrected", box).textContent = `Corrected by hand: ${undoable.slice(0, 3).join(", ")}${more}.`;
    const field = $("input[name=revision_id]", box); // who may not undo has none
    if (field) field.value = revision_id;
  }
  function leftWhole(paths = []) {
    const box = $("#left-whole");
    box.hidden = !paths.length;
    const links = paths.slice(0, 20).map((path) => el("a", { href: `?file=${encodeURIComponent(path)}&choose=1` }, path));
    $(".left-files", box).replaceChildren(...links.flatMap((one) => [one, " "]));
  }
  function elsewhere(comments) {
    const listed = new Set(entries.map((one) => one.path));
    const paths = [...new Set(comments.map((one) => one.path))].filter((path) => !listed.has(path)).sort();
    const also = since.since ? `&since=${since.since}` : "";
    const links = paths.slice(0, 20).map((path) => el("a", { href: `?file=${encodeURIComponent(path)}${also}#comments` }, path));
    $("#remarks-elsewhere").hidden = !paths.length;
    $(".elsewhere-files").replaceChildren(...links.flatMap((one) => [one, " "]));
  }
  // The list as it is now; false where there is none any more, or it cannot be had.
  async function listed() {
    try {
      await fetchAll();
      return true;
    } catch (error) {
      if (!error.envelope) throw error;
      if (error.envelope.reason === "no_draft") location.assign(`/bench/${workbench_id}`);
      else view.prepend(errorBox(error.envelope));
      return false;
    }
  }
  async function refresh() {
    if (await listed()) arrange();
  }
  on(document, "done", 'form[data-command="ReviewSetDeletionConfirmations"]', async (event) => {
    event.preventDefault();
    await refresh();
    if (current) await open(current);
  });
  on(document, "done", 'form[data-command="DraftLeaveChanges"], form[data-command="DraftTakeChanges"]', async (event) => {
    const chosen = event.detail;
    await stay(event, chosen);
    say(chosen.no_changes ? "it was so already" : `${chosen.files.map((one) => `${one.count - one.left_count} of ${one.count} changes are in ${one.path}`).join(", ")}`);
  });
  on(document, "done", 'form[data-command="DraftUndo"]', (_, form) => { form.elements.next.value = location.pathname + location.search; }); // back to this file
  on(document, "done", 'form[data-command="ReviewAddComment"], form[data-command="ReviewAnswerComment"], form[data-command="ReviewResolveComment"], form[data-command="ReviewWithdrawComment"]', remarked);
  if ($("#ask-changes")) askForChanges($("#ask-changes"), workbench_id);
  folds($(".decision"));
  let isLeaving = false; // by our own Publish or Discard, which say themselves where to go
  on(document, "submit", 'form[data-command="DraftPublish"], form[data-command="DraftDiscard"]', () => { isLeaving = true; });
  document.addEventListener("draft", (event) => {
    if (event.detail) refresh();
    else if (!isLeaving) location.assign(`/bench/${workbench_id}`);
  });

  // ------------------------------------------------------------ begin
  (async () => {
    const reviewed = $("#ask-publish input[name=reviewed_tree]");
    if (reviewed) reviewed.value = tree; // what is looked at here, whatever the Draft has become
    if (!await listed()) return;
    const kinds = [...new Set(entries.map((one) => one.file_kind))].sort();
    $("#by-kind").append(...kinds.map((kind) => el("option", { value: kind }, kind)));
    $(".filters").hidden = false;
    holder.setAttribute("role", "listbox");
    holder.setAttribute("aria-label", "Changed files");
    holder.tabIndex = 0;
    arrange();
    list = virtual(holder, { count: rows.length, height: 30, row: drawRow });
    active();
    for (const id of ["#search", "#by-change", "#by-kind"]) $(id).addEventListener("input", arrange);
    const at = indexOf(current);
    if (at >= 0) list.show(at);
    if (mode() && $("table.lines", view)) await open(current, new URL(location.href).search.replace(/[?&]file=[^&]*/, ""), { push: false });
    else enrich();
    if (document.activeElement === document.body) heading.focus({ preventScroll: true });
    document.body.dataset.ready = "yes";
  })();
}
