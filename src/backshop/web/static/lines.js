// Folded lines of a text difference are fetched when asked for.
import { $$, el, errorBox, on, visible } from "./dom.js";
import { call } from "./rpc.js";

const MOST = 500;

export function unfold(root, workbench_id) {
  for (const button of $$("[data-expand]", root)) {
    button.hidden = false;
    button.closest("tr").hidden = false;
    button.parentElement.querySelector(".plain-fold")?.remove();
  }
  if (root.dataset.unfolds) return;
  root.dataset.unfolds = "yes";
  on(root, "click", "[data-expand]", async (_, button) => {
    const first = Number(button.dataset.first);
    const count = Math.min(Number(button.dataset.count), MOST);
    const shift = Number(button.dataset.shift);
    const row = button.closest("tr");
    const path = button.closest("[data-path]").dataset.path;
    try {
      const found = await call("WorkbenchFileRead", { workbench_id, path, view: "draft", line_start: first, line_count: count });
      const texts = found.text === "" && button.dataset.last !== undefined ? [] : found.text.split("\n").slice(0, count);
      const split = row.closest("table").classList.contains("split");
      row.before(...texts.map((text, place) => line(visible(text), first + place, shift, split)));
      const left = Number(button.dataset.count) - texts.length;
      const ended = button.dataset.last !== undefined ? !found.chunk_info?.has_more || !texts.length : left <= 0;
      if (ended || !texts.length) { row.remove(); return; }
      button.dataset.first = String(first + texts.length);
      if (button.dataset.last === undefined) { button.dataset.count = String(left); button.lastChild.textContent = ` Show ${left} more unchanged lines`; }
    } catch (error) {
      if (!error.envelope) throw error;
      row.after(el("tr", {}, el("td", { colspan: "4" }, errorBox(error.envelope))));
    }
  });
}

function line(text, number, shift, split) {
  const old = el("td", { class: "no" }, String(number + shift));
  const now = el("td", { class: "no" }, String(number));
  return split
    ? el("tr", { class: "context" }, old, el("td", { class: "code context" }, text), now, el("td", { class: "code context" }, text))
    : el("tr", { class: "context" }, old, now, el("td", { class: "sign" }, " "), el("td", { class: "code" }, text));
}
