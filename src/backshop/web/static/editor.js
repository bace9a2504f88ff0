// The workflow editor: findings while typing, at their lines; building blocks at the caret.
import { $, $$, el, on, say } from "./dom.js";
import { GONE } from "./rpc.js";

const form = $("#editor");
const source = $("#source");
const clean = source.value;
let saving = false;
let asked = 0;
let timer = null;
let found = $$("#findings [data-line]").map((one) => ({ line: Number(one.dataset.line), severity: one.closest("li").querySelector(".danger") ? "error" : "warning" }));

async function check() {
  const turn = (asked += 1);
  const answer = await checked(new URLSearchParams(new FormData(form)));
  if (turn !== asked) return; // somebody has typed on
  if (answer.error) { $("#verdict").textContent = answer.error.message; return; }
  const words = answer.valid ? "can run" : "cannot run yet";
  if ($("#verdict").textContent.trim() !== words) {
    $("#verdict").replaceChildren(el("span", { class: `badge ${answer.valid ? "ok" : "danger"}` }, words));
  }
  found = answer.findings;
  number();
  $("#findings").replaceChildren(...(answer.findings.length ? answer.findings.map(shown) : [el("li", { class: "muted" }, "Nothing to say.")]));
}

// A text nobody could look at is said to be that, and keeps its place: no page is left for it.
async function checked(body) {
  const response = await fetch("/workflows/check", { method: "POST", body, headers: { "x-fragment": "1" } }).catch(() => null);
  const answer = await response?.json().catch(() => null);
  return answer ?? { error: { message: response?.status === 401 ? LEFT : `Not checked. ${GONE}` } };
}
const LEFT = "Not checked: you are logged out. Log in in another tab; what you typed stays here.";

function shown(one) {
  return el("li", {},
    el("span", { class: `badge ${one.severity === "error" ? "danger" : ""}` }, one.code), " ",
    el("button", { type: "button", class: "place quiet", "data-line": one.line }, `line ${one.line} ${one.pointer}`), el("br"),
    el("span", { class: "wrap" }, ticked(one.message)),
    one.fix ? el("p", { class: "hint" }, one.fix) : null);
}

// What stands between backticks is code, as in the page itself.
function ticked(text) {
  const parts = text.split("`");
  return parts.length % 2 ? parts.map((part, at) => (at % 2 ? el("code", {}, part) : part)) : text;
}

// ------------------------------------------------------------ lines and their numbers

const gutter = $("#gutter");
for (const one of [gutter, $("#keys"), $("#templates")]) one.hidden = false; // they need scripts

// A number for every line; those with a finding are marked, an error before a warning.
function number() {
  const marks = new Map();
  for (const { line, severity } of found) if (marks.get(line) !== "error") marks.set(line, severity);
  const count = source.value.split("\n").length;
  gutter.replaceChildren(...Array.from({ length: count }, (_, at) => el("div", { class: marks.get(at + 1) ?? "" }, String(at + 1))));
  follow();
}
function follow() { gutter.scrollTop = source.scrollTop; }
number();

source.addEventListener("scroll", follow);
source.addEventListener("input", () => { number(); clearTimeout(timer); timer = setTimeout(check, 250); });

// ------------------------------------------------------------ keys: Tab indents until Escape lets it go

const INDENT = "  ";
let leaves = false;
source.addEventListener("focus", () => { leaves = false; });
source.addEventListener("keydown", (event) => {
  if (event.key === "s" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
  if (event.key === "Escape") { leaves = true; say("Tab now leaves the field"); return; }
  if (event.key === "Tab" && !leaves && !event.ctrlKey && !event.altKey && !event.metaKey) { event.preventDefault(); indent(event.shiftKey); }
  if (!["Tab", "Shift"].includes(event.key)) leaves = false;
});

// Indent the lines of the selection, or put spaces at the caret; what is typed can be undone by the browser.
function indent(back) {
  const { value, selectionStart, selectionEnd } = source;
  if (!back && selectionStart === selectionEnd) { type(INDENT); return; }
  const start = value.lastIndexOf("\n", selectionStart - 1) + 1;
  const lines = value.slice(start, selectionEnd).split("\n");
  const changed = lines.map((line) => (back ? line.replace(/^ {1,2}/, "") : INDENT + line)).join("\n");
  if (changed === lines.join("\n")) return;
  source.setSelectionRange(start, selectionEnd);
  type(changed);
  source.setSelectionRange(lines.length > 1 ? start : start + changed.length, start + changed.length);
}
function type(text) {
  if (!document.execCommand("insertText", false, text)) {
    source.setRangeText(text, source.selectionStart, source.selectionEnd, "end");
    source.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

// A template goes in after the line of the caret.
$("#template").addEventListener("change", ({ target }) => {
  const end = source.value.indexOf("\n", source.selectionStart);
  const at = end < 0 ? source.value.length : end + 1;
  source.focus();
  source.setSelectionRange(at, at);
  type((end < 0 && source.value ? "\n" : "") + target.value);
  target.value = "";
  say("Inserted");
});
on(document, "click", "[data-line]", (_, button) => {
  const lines = source.value.split("\n");
  const line = Math.min(Number(button.dataset.line), lines.length);
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  source.focus();
  source.setSelectionRange(start, start + lines[line - 1].length);
  source.scrollTop = Math.max(0, (line - 5) * parseFloat(getComputedStyle(source).lineHeight));
});
on(document, "click", "[data-insert]", (_, button) => {
  source.focus();
  source.setRangeText(button.dataset.insert, source.selectionStart, source.selectionEnd, "end");
  source.dispatchEvent(new Event("input", { bubbles: true }));
  say("Inserted");
});
form.addEventListener("submit", () => { saving = true; });
addEventListener("beforeunload", (event) => { if (!saving && source.value !== clean) event.preventDefault(); });
