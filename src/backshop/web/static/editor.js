// The workflow editor: findings while typing, at their lines; building blocks at the caret.
import { $, el, on, say } from "./dom.js";

const form = $("#editor");
const source = $("#source");
const clean = source.value;
let saving = false;
let asked = 0;
let timer = null;

async function check() {
  const number = (asked += 1);
  const body = new URLSearchParams(new FormData(form));
  const response = await fetch("/workflows/check", { method: "POST", body });
  const answer = await response.json();
  if (number !== asked) return; // somebody has typed on
  if (answer.error) { $("#verdict").textContent = answer.error.message; return; }
  const words = answer.valid ? "can run" : "cannot run yet";
  if ($("#verdict").textContent.trim() !== words) {
    $("#verdict").replaceChildren(el("span", { class: `badge ${answer.valid ? "ok" : "danger"}` }, words));
  }
  $("#findings").replaceChildren(...(answer.findings.length ? answer.findings.map(shown) : [el("li", { class: "muted" }, "Nothing to say.")]));
}

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

source.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(check, 250); });
source.addEventListener("keydown", (event) => {
  if (event.key === "s" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
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
