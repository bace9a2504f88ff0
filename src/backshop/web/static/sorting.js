// Rows in another order, or only some of them: a view of the file, made by the server window by window. The file stays
// as it is (U5.56).
//
//   const order = sorting(place, { onChange }) — `order.query()` is what to ask the server, "" for the file's own order;
//   `order.head(element, name)` makes the head of a column of a grid a button; `order.told(total)` says what is shown.
import { el, visible } from "./dom.js";

const WAIT_MS = 250; // after the last letter
const ROW = "Row in the file";
const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
const literal = (text) => `'${text.replaceAll("'", "''")}'`;

export function sorting(place, { onChange }) {
  let sorted = null; // {name, isDown}
  let columns = [];
  let waiting = null;
  let turned = null; // whose head was pressed: it is made anew and keeps the focus
  const chosen = el("select", { "aria-label": "Column to look in" });
  const words = el("input", { type: "search", "aria-label": "Show rows that contain", placeholder: "Show rows that contain…", autocomplete: "off" });
  const clear = el("button", { type: "button", class: "small", hidden: true, onclick: () => { sorted = null; words.value = ""; onChange(); } }, "As in the file");
  const note = el("span", { class: "muted small", role: "status" });
  place.replaceChildren(el("div", { class: "row sorting" }, chosen, words, clear, note));
  words.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(onChange, WAIT_MS); });
  chosen.addEventListener("change", () => { if (words.value) onChange(); });

  function turn(name) {
    turned = name;
    if (sorted?.name !== name) sorted = { name, isDown: false };
    else sorted = sorted.isDown ? null : { name, isDown: true };
    onChange();
  }
  return {
    // The columns there are; those of the view itself are not asked about.
    offer(names) {
      const own = names.filter((name) => name !== ROW);
      if (own.join("\n") === columns.join("\n")) return;
      columns = own;
      chosen.replaceChildren(el("option", { value: "" }, "in any column"), ...own.map((name) => el("option", { value: name }, `in ${visible(name)}`)));
    },
    query() {
      const text = words.value.trim();
      if (!sorted && !text) return "";
      const looked = chosen.value ? [chosen.value] : columns;
      const has = looked.map((name) => `contains(lower(CAST(${quoted(name)} AS VARCHAR)), lower(${literal(text)}))`).join(" OR ");
      const order = sorted ? `${quoted(sorted.name)} ${sorted.isDown ? "DESC" : "ASC"} NULLS LAST, __row` : "__row";
      return `SELECT *, __row AS ${quoted(ROW)} FROM data${text ? ` WHERE ${has}` : ""} ORDER BY ${order}`;
    },
    head(element, name) {
      if (name === ROW) return;
      const isHere = sorted?.name === name;
      if (isHere) element.setAttribute("aria-sort", sorted.isDown ? "descending" : "ascending");
      const sign = isHere ? (sorted.isDown ? " ↓" : " ↑") : "";
      const button = el("button", { type: "button", class: "sort-head", title: `Sort by ${visible(name)}`, onclick: () => turn(name) }, `${visible(name)}${sign}`);
      element.replaceChildren(button);
      if (turned === name) requestAnimationFrame(() => { turned = null; button.focus({ preventScroll: true }); });
    },
    told(total) {
      const isOther = Boolean(sorted || words.value.trim());
      clear.hidden = !isOther;
      const count = `${total.toLocaleString()} row${total === 1 ? "" : "s"}`;
      const order = sorted ? `, sorted by ${visible(sorted.name)}, ${sorted.isDown ? "descending" : "ascending"}` : "";
      note.textContent = isOther ? `${count}${order}. A view only: the file does not change.` : count;
    },
  };
}
