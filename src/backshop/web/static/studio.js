// The front page of Studio and the list of sessions: true while agents work; answers in place; a bundle as a file.
import { $, $$, el, load, loadInto, noteRefusal, on, say, toast } from "./dom.js";
import { answering } from "./answering.js";
import { follow } from "./events.js";

const WAIT_MS = 300;
const AGE_MS = 60_000; // an agent that is silent for long is not at work any more
const list = $("#sessions") ?? $("#runs");

let queued = null;
function refresh() {
  queued ??= setTimeout(() => { queued = null; renew().catch((error) => noteRefusal($(".page"), error)); }, WAIT_MS);
}

async function renew() {
  const held = document.activeElement?.closest("a[href]")?.getAttribute("href");
  if (list.id === "sessions") await loadInto(list, `/studio/list?${list.dataset.query}`);
  else await renewParts();
  if (held && document.activeElement === document.body) $(`#main a[href="${CSS.escape(held)}"]`)?.focus();
}

async function renewParts() {
  const fresh = await load(`/studio/parts?${list.dataset.query}`);
  const held = document.activeElement;
  const { selectionStart, selectionEnd } = held;
  for (const part of $$("[data-part]", fresh)) {
    const place = document.getElementById(part.dataset.part);
    if (part.dataset.part === "waits") keepTyped(place, part);
    if (place.tagName === "SELECT") renewChoices(place, part);
    else if (place.innerHTML !== part.innerHTML) place.replaceChildren(...part.childNodes);
  }
  if (document.activeElement !== document.body || held === document.body || !held.isConnected) return;
  held.focus({ preventScroll: true }); // somebody writes there, and was moved with what they write
  if (Number.isInteger(selectionStart)) held.setSelectionRange?.(selectionStart, selectionEnd);
}

// What there is to filter by, with its counts; a list that somebody has in hand stays, and so does what they chose.
function renewChoices(list, fresh) {
  if (list.innerHTML === fresh.innerHTML || list === document.activeElement) return;
  const { value } = list;
  list.replaceChildren(...fresh.childNodes);
  list.value = value;
  if (list.selectedIndex < 0) list.selectedIndex = 0;
}

// What somebody is writing as an answer stays as it is while the list around it changes.
function keepTyped(place, part) {
  for (const one of $$(".wait", place)) {
    const isWritten = $$("input:not([type=hidden]), textarea", one).some((field) => field.value !== field.defaultValue);
    const isInUse = isWritten || $$("select", one).some((field) => field.selectedIndex > 0) || one.contains(document.activeElement);
    if (isInUse) $(`.wait[data-wait="${CSS.escape(one.dataset.wait)}"]`, part)?.replaceWith(one);
  }
}

follow({}, { RailsRunChanged: refresh, RailsSessionChanged: refresh, AccessChanged: refresh }, { onReconnect: refresh });
if (list.id === "runs") setInterval(() => { if (!document.hidden) refresh(); }, AGE_MS);

answering(async (form) => {
  form.closest(".wait").remove();
  await renewParts();
  $("#waits-heading").focus();
  toast("Recorded; the agent goes on with its next call");
});

on(document, "change", "#bundle-file", async (_, picker) => {
  const [file] = picker.files;
  if (file) $("#bundle").value = await file.text();
});
on(document, "done", "#import-form", (event, form) => {
  event.preventDefault();
  form.reset();
  form.closest("dialog").close();
  const words = "Imported. ";
  const link = el("a", { href: `/studio/session/${event.detail.sessionId}` }, "Open the session");
  $("#told").replaceChildren(el("p", { class: "notice" }, words, link));
  say(words);
  link.focus();
  refresh();
});
