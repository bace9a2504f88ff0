// What every page does: times, dialogs, menus, forms that run commands in place, the Draft bar.
import "./focus.js";
import { $, $$, clearError, copyText, el, icon, loadInto, localTimes, on, say, showError, skeleton, toast } from "./dom.js";
import { call, folderWords, forgetWarned, warned } from "./rpc.js";
import { follow } from "./events.js";
import { renew } from "./live.js";
import { onCleanBench } from "./clean.js";
import { folderTold, noteOn, preview, proofOf, showProof } from "./proof.js";
import { shortcuts, showKeys } from "./shortcuts.js";

const { address, bench, here, live } = document.body.dataset;
localTimes(document);
// A page that answers a form is found without it from here on: loading it again sends nothing twice.
if (address) history.replaceState(null, "", address + location.hash);

// In place of a picture that cannot be had stands what follows it: the icon of its file (U5.24).
function orNext(picture) {
  if (!picture.matches?.("img[data-or-next]")) return;
  picture.nextElementSibling.hidden = false;
  picture.remove();
}
document.addEventListener("error", ({ target }) => orNext(target), true);
for (const one of $$("img[data-or-next]")) if (one.complete && !one.naturalWidth) orNext(one);

on(document, "click", "[data-opens]", (event, button) => {
  event.preventDefault(); // of a form that works without scripts and asks nothing
  openDialog(button.dataset.opens, button);
});
export function openDialog(id, button = null) {
  const dialog = document.getElementById(id);
  if (id.startsWith("ask-") && !$("form[data-command]", dialog)) return; // whose command is not this person's
  clearError(dialog);
  dialog.showModal();
  dialog.dispatchEvent(new CustomEvent("opened", { detail: button }));
}
// Before a Draft is published its dialog says which files change; what stands in its way is said at once (B9.15).
$("#ask-publish")?.addEventListener("opened", async ({ target }) => {
  const form = $("form[data-command]", target);
  const place = $(".foretold", target);
  place.replaceChildren(skeleton("text", 2));
  try {
    const request = fieldsOf(form);
    const { changed = [] } = await call("DraftPublish", { ...request, dry_run: true });
    place.replaceChildren(preview(changed) ?? "No file changes.");
    place.append(...await stillOpen(request.workbench_id));
  } catch (error) {
    place.replaceChildren();
    if (!error.envelope) throw error;
    if (error.envelope.choices?.includes("keep_theirs")) offerToReconcile(form, error.envelope);
    else showError(form, error.envelope);
  }
});
// Comments that nobody resolved end with the Draft: said before, with the way to them; they hold nothing up.
async function stillOpen(workbench_id) {
  const { comments, open_count } = await call("ReviewListComments", { workbench_id, state: "open", limit: 1 });
  if (!open_count) return [];
  const [verb, them] = open_count === 1 ? ["comment is", "it"] : ["comments are", "them"];
  const link = el("a", { href: `/bench/${workbench_id}/review?file=${encodeURIComponent(comments[0].path)}#comments`, "data-closes": "" }, `${open_count} ${verb} still open`);
  return [el("p", { class: "still-open" }, icon("comment"), " ", link, `; publishing ends ${them}.`)];
}
for (const one of $$("[data-keys]")) one.hidden = false; // the keys need scripts
on(document, "click", "[data-keys]", (_, button) => { button.closest("details")?.removeAttribute("open"); showKeys(); });
on(document, "click", "[data-closes]", (_, button) => button.closest("dialog").close());
on(document, "click", "[data-toggles]", (_, button) => {
  const open = document.getElementById(button.dataset.toggles).classList.toggle("open");
  button.setAttribute("aria-expanded", String(open));
});
on(document, "click", "[data-copy]", (_, button) => copyText(button.dataset.copy));
document.addEventListener("click", (event) => {
  for (const menu of $$("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = $("details.menu[open]");
  if (menu) { menu.open = false; menu.querySelector("summary").focus(); event.stopPropagation(); }
});

// A form that was sent is on its way: a second click is not a second wish.
const sent = new WeakSet();
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post" || event.target.dataset.command) return;
  if (sent.has(event.target)) event.preventDefault();
  else sent.add(event.target);
});

// A form with data-command runs its command in place: errors show in it, success goes to `next`.
// Pages that want to stay listen for the event `done` on the form and call preventDefault().
on(document, "submit", "form[data-command]", async (event, form) => {
  event.preventDefault();
  clearError(form);
  const button = event.submitter;
  const request = fieldsOf(form, button); // before it is disabled: its own value belongs to it
  if (button) button.disabled = true;
  const news = ARRIVALS[form.dataset.command];
  if (news) document.body.dataset.leaving = "yes"; // where it leads it is said, not twice
  try {
    const result = await onCleanBench(request.workbench_id, () => call(form.dataset.command, request));
    const stays = !form.dispatchEvent(new CustomEvent("done", { bubbles: true, cancelable: true, detail: result }));
    if (!stays) {
      if (news) sessionStorage.setItem(ARRIVED, news);
      const told = DONE[form.dataset.command]?.(result, request);
      if (told || result?.changed) sessionStorage.setItem(PROVED, JSON.stringify({ ...told, ...proofOf(result.changed), folder: folderTold(result) }));
      go(form.elements.next?.value || location.href);
    }
  } catch (error) {
    if (!error.envelope) throw error;
    delete document.body.dataset.leaving;
    if (error.envelope.choices?.includes("keep_theirs")) offerToReconcile(form, error.envelope);
    else showError(form, error.envelope, helping(form, button, request));
  } finally {
    if (button) button.disabled = false;
  }
});

// What a person can do at once about a command that was refused (U1.6).
function helping(form, button, { workbench_id }) {
  const again = () => form.requestSubmit(button);
  const discard = $("#ask-discard");
  return {
    retry: again,
    ...(discard ? { discard_draft: () => discard.showModal() } : {}),
    ...(workbench_id ? { cancel_run: async () => { await call("WorkshopCancelRun", { workbench_id }); again(); } } : {}),
  };
}

// After Publish and Discard the next page says what was done and begins there: at the card of the publish with its way
// back, else at the list of files (W20.4, W20.5).
const ARRIVED = "backshop.arrived";
const PROVED = "backshop.proved"; // what was read back, after anything that changed files
const ARRIVALS = { DraftPublish: "The Draft was published", DraftDiscard: "The Draft was discarded" };
// What a command did, in words, and how to take it back.
const counted = (number) => `${number} ${number === 1 ? "file" : "files"}`;
const DONE = {
  DraftPublish: ({ changed = [], no_changes, checkpoint_id }) => (no_changes
    ? { done: "Nothing to publish: the Draft was the same as Published, and is gone" }
    : { done: `Published ${counted(changed.length)}`, back: ["Undo", "restore", checkpoint_id] }),
  DraftDiscard: ({ discarded_draft_id: kept }) => ({ done: "The Draft was discarded; Published is as it was", ...(kept ? { back: ["Undo", "bringBack"], seconds: 20 } : {}) }),
  DraftBringBack: () => ({ done: "The discarded Draft is back" }),
  DraftRevertPath: ({ no_changes, draft_revision_id }, { path }) => (no_changes
    ? { done: `${path} was as it is when the Draft began already` }
    : { done: `Reverted: ${path} is as it was when the Draft began`, back: ["Undo", "undoCorrection", draft_revision_id], seconds: 20 }),
  DraftUndo: ({ paths }) => ({ done: `Undone: ${paths.join(", ")} ${paths.length === 1 ? "is" : "are"} again as the Draft had ${paths.length === 1 ? "it" : "them"}` }),
  WorkbenchFileRename: (_, { path, new_path }) => ({ done: `${path} is called ${new_path} now`, back: ["Undo", "renameBack", { path: new_path, new_path: path }], seconds: 20 }),
  DraftRenamePath: (_, { path, new_path }) => ({ done: `In the Draft ${path} is called ${new_path} now`, back: ["Undo", "renameBackInDraft", { path: new_path, new_path: path }], seconds: 20 }),
  WorkbenchFilesRemove: ({ checkpoint_id }, { workbench_paths }) => ({ done: `Removed: ${workbench_paths.join(", ")}`, back: ["Undo", "restore", checkpoint_id], seconds: 20 }),
  WorkshopSaveWorkflow: ({ workflow_id, notes = [] }) => ({ done: [`Saved as ${workflow_id}`, ...notes].join(". "), seconds: 30 }),
  CheckpointRestore: ({ changed = [] }, { path }) => ({ done: path && !changed.length ? `${path} is as it was then already` : path ? `Restored: ${path}; what was there before is kept in the history` : "Restored; what was Published before is kept in the history" }),
};
// Ways to take something back, by name; the Workshop adds its own.
export const backs = {
  renameBack: (names) => renamed("WorkbenchFileRename", names),
  renameBackInDraft: (names) => renamed("DraftRenamePath", names),
  async bringBack() {
    const { bench } = document.body.dataset;
    try {
      const done = await call("DraftBringBack", { workbench_id: bench });
      sessionStorage.setItem(PROVED, JSON.stringify(DONE.DraftBringBack(done)));
      location.assign(`/bench/${bench}/review`);
    } catch (error) {
      if (!error.envelope) throw error;
      showError($("#main"), error.envelope);
    }
  },
  async undoCorrection(revision_id) {
    try {
      const done = await call("DraftUndo", { workbench_id: document.body.dataset.bench, revision_id });
      sessionStorage.setItem(PROVED, JSON.stringify(DONE.DraftUndo(done)));
      location.reload();
    } catch (error) {
      if (!error.envelope) throw error;
      showError($("#main"), error.envelope);
    }
  },
};
// A way back may be asked for while the script that has it is still on its way: it is gone as soon as that is here.
export function goBack(name, about) {
  if (backs[name]) backs[name](about);
  else document.addEventListener("backs", () => backs[name](about), { once: true });
}
if (here === "workshop") on(document, "click", "[data-restore]", (event, button) => { event.preventDefault(); goBack("restore", button.dataset.restore); });
async function renamed(command, names) {
  try {
    await call(command, { workbench_id: document.body.dataset.bench, ...names });
    location.assign(`/bench/${document.body.dataset.bench}/file/${names.new_path.split("/").map(encodeURIComponent).join("/")}`);
  } catch (error) {
    if (!error.envelope) throw error;
    showError($("#main"), error.envelope);
  }
}
const SAY_AFTER_MS = 150; // a region that is filled while a page loads is not read out
export const hasArrived = arrive();
function arrive() {
  const proof = JSON.parse(sessionStorage.getItem(PROVED));
  sessionStorage.removeItem(PROVED);
  const card = cardOf(proof?.back);
  if (card && !proof.wrong) noteOn(card, proof.text, proof.folder); // it says what was done and has the way back
  else if (proof) setTimeout(() => showDone(proof), SAY_AFTER_MS);
  const text = sessionStorage.getItem(ARRIVED);
  if (!text) return false;
  sessionStorage.removeItem(ARRIVED);
  const place = card ?? $("#files-heading") ?? $("#main h1, #main h2");
  if (place) { place.tabIndex = -1; place.focus(); }
  setTimeout(() => say(text), SAY_AFTER_MS);
  return true;
}
function cardOf(back) {
  const [, name, checkpoint_id] = back ?? [];
  if (name === "bringBack") return $('form[data-command="DraftBringBack"]')?.closest(".message");
  return name === "restore" ? $(`[data-restore="${CSS.escape(checkpoint_id)}"]`)?.closest(".publish-card") : null;
}

// What a command said of the workbench's folders stays to be seen, on this page or the next, until it is closed.
const shownWarnings = new Set();
function showWarnings() {
  for (const code of warned().filter((one) => !shownWarnings.has(one) && folderWords(one))) {
    shownWarnings.add(code);
    toast(folderWords(code), { seconds: 0, onEnd: () => { shownWarnings.delete(code); forgetWarned(code); } });
  }
}
document.addEventListener("warned", showWarnings);
setTimeout(showWarnings, SAY_AFTER_MS);

function showDone({ done = "", back, seconds, wrong = false, text = "", folder = "" }) {
  const [label, name, about] = back ?? [];
  const isOffered = about && (backs[name] || here === "workshop");
  const actions = isOffered ? { [label]: () => goBack(name, about) } : {};
  showProof({ wrong, text: [text, folder].filter(Boolean).join(". ") }, { before: done, actions, ...(seconds ? { seconds } : {}) });
}

// Go somewhere, and see it as it is now: an address that differs in its last part only is not loaded.
function go(address) {
  const wanted = new URL(address, location.href);
  const isHere = wanted.pathname === location.pathname && wanted.search === location.search;
  if (!isHere) { location.assign(wanted); return; }
  history.replaceState(null, "", wanted); // one way there, not two: what the page is to say is said once
  location.reload();
}

const offerToReconcile = (form, envelope) => import("./reconcile.js").then(({ offer }) => offer(form, envelope), () => showError(form, envelope));

// Field names may end in `[]` (a list), `:number`, `:boolean` or `:json`; `next` and `back` are ours (`forms.py`).
export function fieldsOf(form, submitter) {
  const request = {};
  for (const [key, value] of new FormData(form, submitter)) {
    if (key === "next" || key === "back") continue;
    const [name, kind] = key.split(":");
    if (name.endsWith("[]")) (request[name.slice(0, -2)] ??= []).push(value);
    else if (kind === "number") { if (value !== "") request[name] = Number(value); }
    else if (kind === "boolean") request[name] = value === "true";
    else if (kind === "json") request[name] = jsonOr(value);
    else request[name] = value;
  }
  return request;
}
function jsonOr(text) {
  if (text === "") return null;
  try { return JSON.parse(text); } catch { return text; }
}

// Every page of a bench says its name, its model and its Draft as they are, whoever changed them;
// a page that names events in `data-live` is made again when they come.
export const ofBench = {
  DraftStateChanged: refreshDraftBar,
  WorkshopPhaseStarted: refreshDraftBar, // while a turn runs nothing is published, and the bar says so
  WorkshopTurnFinished: refreshDraftBar,
  FolderChanged: refreshFolderBar,
  WorkbenchFilesChanged: refreshFolderBar,
  FolderWriteProgress: ({ done, total }) => {
    const place = $("#folder-state");
    if (place) place.textContent = `Writing ${done} of ${total}…`;
  },
  WorkbenchChanged: ({ name, deleted }) => {
    if (deleted) location.reload(); // and the server says what became of it
    else if (name) $(".bench-name a").textContent = name;
  },
  WorkshopModelSwitched: ({ model_id }) => {
    if ($("#model")) $("#model").value = model_id;
    say(`Model changed to ${model_id}`);
  },
};
if (here !== "workshop") { // which shows a refusal where it shows its others
  $("#model")?.addEventListener("change", (event) => event.target.form.requestSubmit());
  on(document, "done", ".model-form", (event) => event.preventDefault());
}
// The keys of W20.2 on every page; the Workshop has its own, where there is more to do.
const hasDraft = () => document.body.dataset.draft === "yes";
const KEYS = {
  composer: () => location.assign(`/bench/${bench}?stay=1#message`),
  review: () => location.assign(`/bench/${bench}/review`),
  publish: () => { if (hasDraft() && !$('[data-opens="ask-publish"]')?.disabled) openDialog("ask-publish"); },
  discard: () => { if (hasDraft()) openDialog("ask-discard"); },
};
if (here !== "workshop") shortcuts(bench ? KEYS : {});
if (here !== "workshop" && (bench || live)) {
  const handlers = bench ? { ...ofBench } : {};
  for (const name of live?.split(" ") ?? []) {
    const also = handlers[name];
    handlers[name] = (data) => { also?.(data); renew(); };
  }
  const onReconnect = () => { if (bench) { refreshDraftBar(); refreshFolderBar(); } if (live) renew(); };
  follow(bench ? { workbench_id: bench } : {}, handlers, { onReconnect });
}
let folderPending = null; // a write-back tells the log of many files: once is enough
export function refreshFolderBar() {
  if (!$("#folder-bar .folder-bar")) return;
  folderPending ??= setTimeout(async () => {
    folderPending = null;
    await loadInto($("#folder-bar"), `/bench/${bench}/folder-bar`);
  }, 300);
}
export async function refreshDraftBar() {
  if (!(await loadInto($("#draft-bar"), `/bench/${bench}/draft-bar?here=${here}`))) return;
  const draft = $("#draft-bar .draft-bar");
  document.body.dataset.draft = draft ? "yes" : "no";
  for (const one of $$(".place-count")) { one.textContent = draft?.dataset.count ?? ""; one.hidden = !Number(one.textContent); }
  const field = $("#ask-publish input[name=reviewed_tree]");
  if (draft && field && here !== "review") field.value = draft.dataset.tree; // a review publishes what it shows
  document.dispatchEvent(new CustomEvent("draft", { detail: Boolean(draft) }));
}
