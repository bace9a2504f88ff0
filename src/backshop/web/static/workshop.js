// The Workshop page: state decides what stands in the composer's place, events keep it true.
import { $, $$, ask, asSentence, clearError, el, load, loadInto, noteRefusal, on, say, showError, skeleton, toast } from "./dom.js";
import { UNREACHABLE, call, post, unfetched } from "./rpc.js";
import { follow } from "./events.js";
import { backs, hasArrived, ofBench, openDialog, refreshDraftBar } from "./page.js";
import { onCleanBench } from "./clean.js";
import { folderTold, noteOn, preview, proofOf, showProof } from "./proof.js";
import { Transcript } from "./transcript.js";
import { Composer } from "./composer.js";
import { Note } from "./note.js";
import { shortcuts } from "./shortcuts.js";

const bench = document.body.dataset.bench;
const talk = $(".talk");
const PHASES = JSON.parse(talk.dataset.phases);
const PROPOSALS = JSON.parse(talk.dataset.proposals);
const MODEL_STATES = JSON.parse(talk.dataset.modelStates);
const TOOLS = JSON.parse(talk.dataset.tools);
const REDONE = JSON.parse(talk.dataset.redone); // what a redo took back, in words
const here = { workbench_id: bench };
let state = JSON.parse(talk.dataset.state);
let lastTool = 0;
let proposal = ""; // what flow `compat` is doing beside the reply

const WORKING = "Working…"; // between two phases: shown, nothing to announce
// Records that change what a person can do are announced as they come (W20.4).
const NEWS = { draft_created: "A Draft was begun", draft_discarded: "The Draft was discarded", checkpoint_published: "The Draft was published", context_compressed: "Older messages were summed up" };
const ENDS = { failed: "The turn failed", canceled: "The turn was stopped", paused: "The turn is paused" };

const transcript = new Transcript(bench);
const composer = new Composer(bench, send);
// Links of the talk, and of the pane itself, to files open beside it in a wide window; what that takes comes with the first.
let pane = null;
let paneAsked = null;
const WIDE = matchMedia("(min-width: 1100px)");
on(document, "click", ".talk a[href], #file-pane-body a[href]", async (event, link) => {
  const isPlain = !(event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.target);
  if (!WIDE.matches || !isPlain || !new URL(link.href).pathname.startsWith(`/bench/${bench}/file/`)) return;
  event.preventDefault();
  paneAsked ??= import("./file_pane.js").then(({ FilePane }) => { pane = new FilePane(bench, closeDetails); });
  await paneAsked.catch(() => { paneAsked = null; });
  if (!pane) { location.assign(link.href); return; }
  pane.open(link.href, link.closest("#file-pane-body") ? pane.opener : link);
});
const note = new Note(bench, (text, { isTyped }) => {
  if ($("#composer").hidden || composer.text) return false; // kept in its own field until there is room
  composer.fill(text, { focus: isTyped });
  return true;
});

// ---------------------------------------------------------------- state

let isBeginning = false; // something was sent and is not a turn yet
let isBlocked = false;
let dropToast = () => {};

// Whether nothing a person could use has the focus: what had it is gone, or a heading keeps its place meanwhile (U9.3).
const isNowhere = (element) => !element?.matches("a[href], button, input, textarea, select, summary") || !element.getClientRects().length;
let hasWritten = false; // in the composer, until a turn took its place
function show() {
  const turn = state.active_turn;
  const isBusy = Boolean(turn) || isBeginning;
  const paused = isBusy ? null : state.resumable_turn;
  $("#turn-line").hidden = !isBusy;
  $("#paused").hidden = !paused;
  $("#draft-actions").hidden = isBusy || !state.has_draft;
  const wasHidden = $("#composer").hidden;
  if (!wasHidden) hasWritten = $("#composer").contains(document.activeElement);
  $("#composer").hidden = isBusy || !state.can_send;
  if (wasHidden && !$("#composer").hidden) composer.grow(); // what is hidden has no height
  note.show(turn);
  if (turn && hasWritten && isNowhere(document.activeElement)) note.focus(); // W20.5
  if (turn) hasWritten = false;
  if (wasHidden && isNowhere(document.activeElement)) composer.focus(); // back to where somebody wrote
  const wasBlocked = isBlocked;
  isBlocked = !$("#draft-actions").hidden && !state.can_send;
  for (const one of $$("#draft-actions [data-can-send]")) one.hidden = (one.dataset.canSend === "yes") !== state.can_send;
  const aloud = $("#draft-actions").dataset.blocked;
  if (isBlocked && !wasBlocked && aloud) say(aloud, { assertive: true });
  if (turn) { showTurn(turn); if (!$("#work").childElementCount) refreshWork(); }
  else if (isBeginning) showBeginning();
  else $("#work").replaceChildren();
  if (paused) $("#paused-text").textContent = pausedText(paused);
  if (paused) $("#paused-again").dataset.regenerate = paused.message_id;
  // A button acts on the record it stands under: it is there only while that is what it would do.
  $$("[data-redo]").forEach((button) => { button.hidden = !state.can_redo || button.dataset.redo !== state.redo_target_id; });
  $$("[data-while-target]").forEach((button) => { button.hidden = !state.can_regenerate || state.head_type !== "user_message" || button.dataset.regenerate !== state.regenerate_target_id; });
  $$('#draft-bar [data-opens="ask-publish"]').forEach((button) => { button.disabled = isBusy; });
  if ($("#at-work")) $("#at-work").hidden = !isBusy;
  $$("[data-restore]").forEach((button) => { button.disabled = state.has_draft; button.title = state.has_draft ? "Publish or discard the Draft first" : ""; });
  $$("[data-send-note]").forEach((button) => { button.hidden = isBusy || !(state.can_send || state.can_request_changes); });
  $("#welcome").hidden = Boolean($(".message.user, .message.assistant", transcript.root));
  if (!$("#welcome").hidden && !$("#welcome").childElementCount) refreshWelcome();
  transcript.followEnd(); // before the browser tells of a scroll that nobody did
}

function showBeginning() {
  $("#phase").textContent = "Starting…";
  for (const name of ["tool", "elapsed"]) $(`#${name}`).textContent = "";
  $("#work").replaceChildren();
  $("#progress").hidden = true;
  $("#stop").disabled = true;
}

// What the turn has done: asked for again when a step or call is over, one question at a time.
let workAsked = null;
let isWorkStale = false;
function refreshWork() {
  if (workAsked) { isWorkStale = true; return; }
  isWorkStale = false;
  workAsked = new Promise((resolve) => setTimeout(resolve, 120)).then(async () => {
    if (state.active_turn) await loadInto($("#work"), `/bench/${bench}/work`);
    transcript.followEnd();
  }).finally(() => { workAsked = null; if (isWorkStale) refreshWork(); });
}

function showTurn(turn) {
  const isItem = turn.phase === "implement" && turn.total_items;
  const isProposal = proposal && !PHASES[turn.phase];
  const text = isProposal ? proposal : isItem && !turn.item_label ? PHASES.direct : isItem ? `Working on item ${turn.current_item} of ${turn.total_items}: ${turn.item_label ?? ""}` : PHASES[turn.phase] ?? WORKING;
  if ($("#phase").textContent !== text) { $("#phase").textContent = text; if (text !== WORKING) say(text); }
  const bar = $("#progress");
  bar.hidden = !isItem || turn.total_items < 2;
  if (isItem) { bar.max = turn.total_items; bar.value = turn.current_item - 1; }
  $("#stop").disabled = turn.cancel_requested;
  if (turn.cancel_requested) $("#tool").textContent = "stopping…";
}

function pausedText(turn) {
  const done = turn.total_items > 1 ? `${turn.done_items} of ${turn.total_items} items are done. ` : "";
  if (turn.error?.code === "USER_CANCELED") return `The turn was stopped. ${done}It can go on where it stopped.`;
  return `The turn is paused. ${done}${asSentence(turn.error?.message ?? "It was interrupted and can go on where it stopped.")}`;
}

setInterval(() => {
  const began = state.active_turn?.started_at;
  if (!began) return;
  const seconds = Math.max(0, Math.round((Date.now() - new Date(began)) / 1000));
  $("#elapsed").textContent = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}, 1000);

// Re-read everything that may have changed; calls that come close together become one. An answer that was
// overtaken by a later one is dropped: nothing on the page goes back in time.
let pending = null;
let asked = 0;
let answered = 0;
function refresh() {
  pending ??= new Promise((resolve) => setTimeout(resolve, 40)).then(async () => {
    pending = null;
    const own = ++asked;
    const [found] = await Promise.all([call("WorkshopGetState", here), transcript.sync()]);
    if (own < answered) return;
    answered = own;
    state = found;
    show();
  }).catch((error) => noteRefusal($("#errors"), error)); // and the way back comes here again
  return pending;
}

const lateNotes = () => $$("[data-send-note]", transcript.root);

// Send a note that came too late: as a message, or while a Draft waits as a request for its changes.
function sendLate(button) {
  const own = button.closest("[data-message]");
  const onDraft = state.has_draft ? { on_draft: true } : {};
  return begin({ text: $("[data-text]", own).textContent, mode: "agent", client_message_id: own.dataset.message, ...onDraft });
}

// The files as they are; those that changed since they were shown last are marked for a moment.
const shownFiles = () => new Map($$("#files .file").map((one) => [$("a", one).title, `${one.className.replace(" just-changed", "")} ${$(".file-size", one).textContent}`]));
async function refreshFiles() {
  const had = shownFiles();
  await loadInto($("#files"), `/bench/${bench}/file-list`);
  const now = shownFiles();
  const changed = [...now.keys()].filter((path) => had.size && now.get(path) !== had.get(path));
  for (const one of $$("#files .file")) if (changed.includes($("a", one).title)) one.classList.add("just-changed");
}

// ---------------------------------------------------------------- what the person does

// Without a model that can answer nothing is sent: what was written stays, and the ways to one are shown.
function send(text, mode) {
  const ways = $("#model-ways");
  if (ways) { ways.scrollIntoView({ block: "nearest" }); ways.focus(); say("There is no model that can answer yet; what you wrote stays", { assertive: true }); return null; } return submit({ text, mode, client_message_id: crypto.randomUUID() }); }

// Begin a turn with what stands in the composer; a refusal puts it back.
function submit(wish) {
  if (isBeginning) return null;
  if (composer.text === wish.text) composer.clear();
  return begin(wish);
}

// Begin a turn; a refusal is shown with what can be done about it, the dialog for consent included.
async function begin(wish) {
  if (isBeginning) return; // a second click is not a second wish
  isBeginning = true;
  dropToast(); // what it offers to take back is over with the next message
  show();
  clearError($("#errors"));
  let answer = null;
  try {
    answer = await onCleanBench(bench, () => post(`/bench/${bench}/turn`, wish)).catch((error) => {
      if (!error.envelope) throw error;
      return { ...error.answer, error: error.envelope };
    });
    if (answer.error?.error_code !== UNREACHABLE) await refresh();
  } finally {
    isBeginning = false;
    show();
  }
  if (answer.error && !answer.message_id && wish.text) composer.fill(wish.text);
  else composer.keep();
  if (answer.error) refused(answer, wish);
  if (answer.error?.error_code !== UNREACHABLE) transcript.toEnd();
}

function refused(answer, wish) {
  const again = answer.message_id && !wish.regenerate ? { message_id: answer.message_id } : wish;
  const isKept = answer.error.error_code === UNREACHABLE && wish.text;
  const envelope = isKept ? { ...answer.error, hints: ["What you wrote stays in the field."] } : answer.error;
  if (envelope.error_code === "EGRESS_CONSENT_REQUIRED") { consent(again); }
  showError($("#errors"), envelope, {
    retry: () => submit(again),
    resume: () => submit(again),
    grant_consent: () => consent(again),
    switch_model: () => $("#model")?.focus(),
    discard_draft: () => $("#ask-discard").showModal(),
    cancel_run: stop,
  });
}

async function consent(again) {
  let isAllowed = false;
  await act(async () => {
    const { allowSending } = await import("./consent.js").catch(unfetched);
    isAllowed = await allowSending({ ...here, model_id: again?.model_id ?? state.model_id });
  });
  if (isAllowed && again) await submit(again);
}

async function stop() { await act(() => call("WorkshopCancelRun", here)); await refresh(); }

// Do something that may be refused; the refusal is shown, and false says so.
async function act(work) {
  try { await onCleanBench(bench, work); return true; } catch (error) {
    if (!error.envelope) throw error;
    showError($("#errors"), error.envelope, { retry: () => act(work), discard_draft: () => $("#ask-discard").showModal(), cancel_run: stop });
    return false;
  }
}

const goingBack = () => import("./going_back.js").catch(unfetched);

async function rewind(message_id) {
  let answer = null;
  const asked = await act(async () => {
    const { askWay, setAside } = await goingBack();
    answer = await askWay(here, "Rewind to here?", message_id, (effects) => [setAside(effects)], "Rewind to here");
  });
  if (!asked || !answer) return;
  const mode = answer === "plain" ? {} : { mode: answer };
  const done = await moved("WorkshopUndoToMessage", { message_id, ...mode });
  if (done) tellMoved(done, "Rewound", "Undo rewind");
}

// What was done stands on its record with the way back; a message of its own comes where the record is not shown, or
// where something is left to do: files that are not as they should be, or that the person's folder has otherwise.
function tellMoved(done, before, label) {
  const own = state.redo_target_id;
  const card = own && $(`[data-redo="${CSS.escape(own)}"]:not([hidden])`)?.closest(".message");
  if (card && !done.proof.wrong) noteOn(card, done.proof.text, folderTold(done));
  else dropToast = showProof(done.proof, { before: [before, folderTold(done)].filter(Boolean).join(". "), seconds: 20, actions: own && label ? { [label]: () => redo(own) } : {} });
}

async function redo(message_id) {
  dropToast();
  const done = await moved("WorkshopRedo", { message_id });
  if (done) showProof(done.proof, { before: [REDONE[done.of], folderTold(done)].filter(Boolean).join(". ") });
}

// Do what moves files and conversation; return what was read back of it, or null where it was refused.
async function moved(command, request) {
  let done;
  const isDone = await act(async () => { done = await call(command, { ...here, ...request }); });
  await refresh(); // also after a refusal: what was shown is not what is there
  return isDone ? { ...done, proof: proofOf(done.changed) } : null;
}

// Of an answer the message it answers is gone back to; without one after it nothing is set aside.
async function regenerate(message_id) {
  const own = document.getElementById(message_id);
  const question = own?.classList.contains("assistant") ? $$(".message.user", transcript.root).filter((one) => one.dataset.turn && one.dataset.turn === own.dataset.turn).at(-1)?.dataset.message : message_id;
  const note = el("textarea", { id: "again-note", rows: "2", maxlength: "4000" });
  const model = $("#model")?.cloneNode(true);
  if (model) { model.id = "again-model"; model.removeAttribute("name"); model.value = state.model_id; }
  const more = [
    el("div", { class: "field" }, el("label", { for: "again-note" }, "With this note, if you like"), note),
    model ? el("div", { class: "field" }, el("label", { for: "again-model" }, "Model, this once"), model) : null,
  ].filter(Boolean);
  const words = ({ discarded_count: count }) => [el("p", {}, count ? `The answer and what came after it are set aside (${count} ${count === 1 ? "record" : "records"}); the agent answers again. Afterwards “Back to the other answer” brings them back.` : "The agent answers this message."), ...more];
  let answer = null;
  const asked = await act(async () => { answer = await (await goingBack()).askWay(here, "Regenerate the answer?", question ?? message_id, words, "Regenerate"); });
  const other = model && model.value !== state.model_id ? { model_id: model.value } : {};
  const added = note.value.trim() ? { note: note.value } : {};
  if (asked && answer) await begin({ regenerate: true, message_id, ...added, ...other, ...(answer === "plain" ? {} : { mode: answer }) });
}

// What was published last and nothing came after is taken back at once: that can itself be undone. Else it is asked.
function isNewest(checkpoint_id, { published_generation }) {
  const card = $(`[data-restore="${CSS.escape(checkpoint_id)}"]`)?.closest(".publish-card");
  return card && card === $$(".message", transcript.root).at(-1) && Number(card.dataset.generation) === published_generation && !$("#folder-bar .folder-bar");
}

async function restore(checkpoint_id) {
  let found = {};
  let box = null;
  if (!(await act(async () => {
    found = await call("CheckpointRestore", { ...here, checkpoint_id, dry_run: true });
    box = found.folder_behind ? await (await goingBack()).folderBox(here, found) : null;
  }))) return;
  const { changed = [] } = found;
  const answer = isNewest(checkpoint_id, found) || await ask("Restore what was Published before?", [
    el("p", {}, "Published goes back to that state, and the conversation to just before this change: what was asked and answered until then stays."),
    el("p", {}, "What is Published now is kept in the history, and “Undo restore” brings the conversation back."),
    preview(changed),
    box,
  ].filter(Boolean), [{ label: "Restore", value: true, tone: "primary" }, { label: "Cancel", value: null }]);
  const write_folder = Boolean(box && $("input", box)?.checked);
  const done = answer && (await moved("CheckpointRestore", { checkpoint_id, ...(write_folder ? { write_folder } : {}) }));
  if (done) tellMoved(done, "Restored", "Undo restore");
}

backs.restore = restore;

let shownTab = null; // of the details
async function details(turn_id) {
  if (!turn_id) return;
  if (!$("#file-pane").hidden) pane?.close();
  if ($("#drawer").dataset.turn !== turn_id) { $("#drawer-body").replaceChildren(skeleton("text", 8)); shownTab = null; }
  $("#drawer").dataset.turn = turn_id;
  $("#drawer").hidden = false;
  $(".bench").classList.add("with-drawer");
  if (!(await loadInto($("#drawer-body"), `/bench/${bench}/turn/${turn_id}`))) $(".skeleton", $("#drawer-body"))?.remove();
  const tab = shownTab && document.getElementById(shownTab);
  if (tab) showTab(tab); // the one that was chosen stays, also where this was read again meanwhile
}
function closeDetails() {
  $("#drawer").hidden = true;
  $(".bench").classList.remove("with-drawer");
}
// Whoever asks for details is led to them, and back to where they asked.
let askedFrom = null;
function openDetails(turn_id, button) {
  askedFrom = button;
  details(turn_id);
  if (turn_id) $("#drawer-name").focus();
}
function leaveDetails() {
  closeDetails();
  (askedFrom?.closest("[data-menu]")?.querySelector("summary") ?? askedFrom)?.focus(); // a menu is closed by now
}

// What can be done with a message stands once in the page: its menu takes a copy when it is opened first.
on(document, "click", "[data-menu] > summary", (_, summary) => {
  if (summary.nextElementSibling) return;
  const own = summary.closest("[data-message]");
  const items = $("#message-menu").content.cloneNode(true);
  for (const act of ["rewind", "regenerate"]) $(`[data-${act}]`, items).dataset[act] = own.dataset.message;
  if (own.classList.contains("user")) $("[data-regenerate] span", items).textContent = "Regenerate from here";
  if (own.dataset.turn) $("[data-details]", items).dataset.details = own.dataset.turn;
  else $("[data-details]", items).remove();
  summary.after(items);
});
on(document, "click", "[data-rewind]", (_, button) => rewind(button.dataset.rewind));
on(document, "click", "[data-regenerate]", (_, button) => regenerate(button.dataset.regenerate));
on(document, "click", "[data-redo]", (_, button) => redo(button.dataset.redo));
document.addEventListener("draft", show); // the bar was made anew
on(document, "click", "[data-send-note]", (_, button) => sendLate(button));
on(document, "click", "[data-details]", (_, button) => openDetails(button.dataset.details, button));
on(document, "click", ".menu-items button", (_, button) => { button.closest("details").open = false; });
on(document, "click", "[data-suggest]", (_, button) => {
  composer.fill(button.textContent);
  button.closest("#tasks details")?.removeAttribute("open");
});
$("#stop").addEventListener("click", stop);
$("#resume").addEventListener("click", () => begin({ message_id: state.resumable_turn.message_id }));
$("#turn-details").addEventListener("click", ({ currentTarget }) => openDetails(state.active_turn?.turn_id, currentTarget));
$("#drawer-close").addEventListener("click", leaveDetails);
$("#drawer").addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); leaveDetails(); } });
on($("#drawer"), "click", "[role=tab]", (_, tab) => selectTab(tab));
on($("#drawer"), "keydown", "[role=tab]", (event, tab) => {
  const tabs = $$("[role=tab]", tab.parentElement);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) selectTab(tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length]);
});
$("#drawer").addEventListener("toggle", async (event) => {
  const entry = event.target.dataset?.entry;
  if (entry && event.target.open) await loadInto($(".call", event.target), `/bench/${bench}/tool/${entry}`);
}, true);
function selectTab(tab) {
  showTab(tab);
  tab.focus();
}
function showTab(tab) {
  shownTab = tab.id;
  for (const one of $$("[role=tab]", tab.parentElement)) {
    const isIt = one === tab;
    one.setAttribute("aria-selected", String(isIt));
    one.tabIndex = isIt ? 0 : -1;
    document.getElementById(one.getAttribute("aria-controls")).hidden = !isIt;
  }
}
// What stands in the composer's place is where the link to it leads.
on(document, "click", ".skip[href='#message']", (event) => {
  const place = ["#turn-line", "#paused", "#draft-actions"].map((id) => $(id)).find((one) => !one.hidden);
  if (!$("#composer").hidden || !place) return;
  event.preventDefault();
  if (!$("#note").hidden) { note.focus(); return; }
  $("#stop, #resume, .buttons a", place)?.focus();
});
const lastUserMessage = () => $$(".message.user:not(.note)", transcript.root).at(-1)?.dataset.message;

// ---------------------------------------------------------------- files

async function add(files) {
  clearError($("#errors"));
  try {
    const { hasRoom, upload } = await import("./upload.js").catch(unfetched);
    if (!(await hasRoom(bench, files.length))) return;
    const add_results = await onCleanBench(bench, () => upload($("#adding"), bench, files));
    if (!add_results) { toast("Stopped; nothing was added"); return; }
    const bad = add_results.filter((one) => ["skipped", "failed"].includes(one.status));
    if (bad.length) toast(`${bad.length} of ${add_results.length} not added: ${bad.slice(0, 3).map((one) => `${one.source_path} (${(one.detail ?? one.reason ?? one.status).replaceAll("_", " ")})`).join(", ")}`, { seconds: 15 });
    else toast(`${add_results.length} ${add_results.length === 1 ? "file" : "files"} added`);
  } catch (error) {
    if (!error.envelope) throw error;
    showError($("#errors"), error.envelope, { retry: () => add(files), discard_draft: () => $("#ask-discard").showModal() });
    return;
  }
  await refreshFiles();
}
for (const picker of ["#pick-files", "#pick-folder"]) {
  $(picker).addEventListener("change", (event) => {
    const files = [...event.target.files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
    event.target.value = "";
    if (files.length) add(files);
  });
}
// Files are dropped anywhere: beside the two places that show it, the browser would leave the page for the file.
const hasFiles = (event) => event.dataTransfer.types.includes("Files");
for (const place of [$("#side"), talk]) {
  place.addEventListener("dragover", (event) => { if (hasFiles(event)) place.classList.add("dropping"); });
  place.addEventListener("dragleave", (event) => { if (!place.contains(event.relatedTarget)) place.classList.remove("dropping"); });
  place.addEventListener("drop", () => place.classList.remove("dropping"));
}
document.addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault(); });
document.addEventListener("drop", (event) => { if (hasFiles(event)) drop(event); }); // text is the field's own
async function drop(event) {
  event.preventDefault();
  const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
  const found = (await Promise.all(items.map((item) => {
    const [entry, file] = [item.webkitGetAsEntry(), item.getAsFile()];
    return entry ? walk(entry, "") : file ? [{ file, path: file.name }] : [];
  }))).flat();
  if (found.length) add(found);
}
async function walk(entry, folder) {
  const path = `${folder}${entry.name}`;
  if (entry.isFile) return [{ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), path }];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    found.push(...some);
  }
  return (await Promise.all(found.map((one) => walk(one, `${path}/`)))).flat();
}

// ---------------------------------------------------------------- model, shortcuts, events

$("#model")?.addEventListener("change", async (event) => {
  const model_id = event.target.value;
  const isSwitched = await act(() => call("WorkshopSwitchModel", { ...here, model_id }));
  if (isSwitched && $("#model-ways")) { location.reload(); return; } // the ways to one are not needed any more
  await refresh();
  refreshWelcome();
});

if (location.search.includes("before=")) refresh(); // the address of older messages is for pages without scripts

// What stands in the talk was sent, also where the page was left before it was told so.
if (composer.text && composer.text.trim() === $$(".message.user [data-text]", transcript.root).at(-1)?.textContent.trim()) composer.fill("", { focus: false });
if (location.hash === "#message") composer.focus(); // from another page, by its key
shortcuts({
  composer: () => { composer.focus(); note.focus(); },
  regenerate: () => { if (state.can_regenerate) regenerate(state.regenerate_target_id); },
  review: () => location.assign(`/bench/${bench}/review`),
  publish: () => { if (state.has_draft && !state.active_turn) openDialog("ask-publish"); },
  discard: () => { if (state.has_draft) $("#ask-discard").showModal(); },
  rewind: () => { const id = document.activeElement?.closest?.(".message:has([data-menu])")?.dataset.message ?? lastUserMessage(); if (id) rewind(id); }, // what has a menu to do it
  cancel: () => { if (state.active_turn) stop(); },
});

// A step is shown and told when it begins: a short one may be over before the page has read of it.
function stepped({ turn_id }, step) {
  if (state.active_turn?.turn_id !== turn_id) return;
  answered = asked + 1; // what is being read now is older than this
  state.active_turn = { ...state.active_turn, ...step };
  showTurn(state.active_turn);
  refreshWork();
}

// What the agent says along with its calls: a line of its own, until it says something else.
function underway(text) {
  $("#underway").textContent = text;
  $("#underway").hidden = !text;
}

function tool(data) {
  const words = TOOLS[data.tool_name] ?? data.tool_name.replaceAll("_", " ");
  const text = [words, data.detail ? `${data.detail} of` : null, data.path].filter(Boolean).join(" ");
  $("#tool").textContent = data.writes ? `${PROPOSALS.applying} ${text}` : text;
  if (Date.now() - lastTool > 5000) { lastTool = Date.now(); say(text); }
}

follow(here, {
  ...ofBench,
  WorkshopMessageAdded: ({ message }) => {
    if (NEWS[message?.event_kind] && !document.body.dataset.leaving) say(NEWS[message.event_kind]);
    if (message?.event_kind === "redo") say(REDONE[message.metadata.of] ?? REDONE.rewind);
    return refresh();
  },
  WorkshopProposalProgress: ({ phase }) => { proposal = PROPOSALS[phase] ?? ""; if (state.active_turn) showTurn(state.active_turn); },
  WorkshopMessageUpdated: ({ message_id }) => transcript.grown(message_id),
  WorkshopAssistantStream: (data) => { if (data.delta_seq === 0 && state.active_turn?.phase !== "implement") say("The answer begins"); transcript.delta(data); },
  WorkshopAgentProgress: ({ text }) => { transcript.withdraw(); underway(text); },
  WorkshopAssistantMessageComplete: (data) => { transcript.complete(data.message_id); if (data.status === "complete") say("The answer is complete"); },
  WorkshopPhaseStarted: (data) => { stepped(data, { phase: data.phase }); return refresh(); },
  WorkshopPhaseCompleted: refresh,
  WorkshopImplementProgress: (data) => { stepped(data, { phase: "implement", current_item: data.current_item, total_items: data.total_items, item_label: data.item_label }); return refresh(); },
  WorkshopToolExecuting: tool,
  WorkshopToolComplete: () => { $("#tool").textContent = ""; refreshWork(); if ($("#drawer").dataset.turn === state.active_turn?.turn_id && !$("#drawer").hidden) details(state.active_turn.turn_id); },
  WorkshopReadingProgress: ({ path, done, total }) => { $("#tool").textContent = path ? `reading ${path} (file ${done + 1} of ${total})` : ""; },
  WorkshopModelProgress: ({ state: doing, waited_ms }) => { if (MODEL_STATES[doing]) $("#tool").textContent = `${MODEL_STATES[doing]} (${Math.round(waited_ms / 1000)} s)`; },
  WorkshopRateLimitWarning: (data) => { $("#tool").textContent = `waiting for the provider${data.wait_ms ? ` (${Math.ceil(data.wait_ms / 1000)} s)` : ""}`; },
  WorkshopNotesRead: () => { say("Your note was read"); return refresh(); },
  WorkshopRunCancelRequested: refresh,
  WorkshopTurnFinished: async (data) => {
    $("#tool").textContent = "";
    underway("");
    proposal = "";
    const isQuestion = state.active_turn?.mode === "ask"; // its answer is read here
    await refresh();
    transcript.withdraw();
    if (ENDS[data.status]) say(ENDS[data.status], { assertive: true });
    if (lateNotes().length) { say("A note of yours came too late to be read; it can be sent now", { assertive: true }); return; }
    if (data.has_draft && data.status === "complete" && !isQuestion) { say("Draft changes are ready for review"); location.assign(`/bench/${bench}/review`); return; }
    composer.focus();
  },
  WorkshopUndoCompleted: () => { if (!isBeginning) say("Rewound"); return refresh(); }, // else it made room for another answer
  WorkshopRedoCompleted: refresh,
  WorkshopRegenerateStarted: refresh,
  WorkshopRegenerateCompleted: refresh,
  WorkshopModelSwitched: (data) => { ofBench.WorkshopModelSwitched(data); refreshWelcome(); return refresh(); },
  ProvidersChanged: () => { if ($("#model-ways") && !$("#way-key")?.value) location.reload(); },
  WorkbenchFilesChanged: () => { ofBench.WorkbenchFilesChanged(); refreshWelcome(); pane?.renew(); if (state.active_turn) refreshWork(); return Promise.all([refreshFiles(), refresh()]); },
  WorkbenchClutterChanged: refreshFiles,
  DraftStateChanged: () => { pane?.renew(); return Promise.all([refreshDraftBar(), refreshFiles(), refresh()]); },
  CheckpointRestored: refresh,
  FolderChanged: ofBench.FolderChanged,
  FolderWriteProgress: ofBench.FolderWriteProgress,
}, { onReconnect: () => { transcript.forgetStreams(); return Promise.all([refresh(), refreshFiles(), refreshDraftBar()]); } });

// An empty conversation: files can be dropped, or asked about. Looking at them may take a moment.
async function refreshWelcome() {
  if (!$("#tasks").contains(document.activeElement)) await loadInto($("#tasks"), `/bench/${bench}/tasks`);
  if (!$("#welcome").hidden && !$("#welcome").contains(document.activeElement)) await loadInto($("#welcome"), `/bench/${bench}/welcome`);
}
if ($("#welcome .skeleton")) refreshWelcome();

$("#look-here")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = $("button", event.currentTarget);
  button.disabled = true;
  $("#found-servers").replaceChildren(skeleton("text", 2));
  try {
    $("#found-servers").replaceChildren(await load(`/bench/${bench}/look`, { method: "POST" }));
  } catch (error) {
    $("#found-servers").replaceChildren();
    noteRefusal($("#found-servers"), error);
  } finally {
    button.disabled = false;
  }
});
on(document, "submit", "form[data-once]", (_, form) => { $("button", form).disabled = true; });

show();
if (location.hash.startsWith("#msg_")) transcript.goTo(location.hash.slice(1));
else if (!hasArrived) composer.focus();
document.dispatchEvent(new Event("backs")); // whoever asked for one before this was here
