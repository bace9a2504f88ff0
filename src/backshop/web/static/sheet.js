// A workbook: one tab per sheet, each a grid. Shared by the review and the viewer.
import { el, errorBox, skeleton, visible } from "./dom.js";
import { call } from "./rpc.js";
import { COLS, ROWS, grid, letters, placeOf, typedCell } from "./grid.js";

// How many cells of a sheet differ, all of them, whatever was loaded.
function countOf(one) {
  if (!one?.cell_count) return null;
  const [change, sign] = one.added ? ["added", "+"] : one.removed ? ["removed", "−"] : ["changed", "~"];
  return el("span", { class: `badge ${change}` }, `${sign} ${one.cell_count.toLocaleString("en")} ${one.cell_count === 1 ? "cell" : "cells"}`);
}

// A changed cell as the grid marks it: in one line what it was, and what changed.
function markOf(cell) {
  const isContent = cell.kind === "value" || cell.kind === "formula";
  const change = isContent && cell.before == null ? "added" : isContent && cell.after == null ? "removed" : "changed";
  const isFormula = typeof cell.before === "string" && cell.kind === "formula" && cell.before.startsWith("=");
  const before = cell.kind === "style" ? "" : (isFormula ? null : cell.shown?.before) ?? cell.before ?? (cell.kind === "result" ? "(not stored)" : "");
  return { change, what: cell.what, before, formats: (cell.formats ?? []).join("; ") };
}

// The rows or columns of a sheet, from 0, that came, or before which some went.
function headsOf(lines, name, axis) {
  const found = new Map();
  for (const one of lines) {
    if (one.sheet !== name || one.axis !== axis) continue;
    if (one.kind === "removed") {
      const what = `${one.count.toLocaleString("en")} ${one.count === 1 ? axis.slice(0, -1) : axis} removed before this`;
      if (!found.has(one.beside - 1)) found.set(one.beside - 1, { change: "removed", what });
    } else {
      for (let at = one.at - 1; at < one.at - 1 + Math.min(one.count, 20000); at += 1) found.set(at, { change: "added", what: "inserted" });
    }
  }
  return found;
}

// A field that goes to a cell of the sheet in sight (U8.11).
function goTo(name, made) {
  const fault = el("p", { class: "go-to-fault small", id: `${name}-go-fault`, role: "alert" });
  const field = el("input", { id: `${name}-go`, placeholder: "B12", size: 9, maxlength: 200, autocomplete: "off" });
  const form = el("form", { class: "go-to" }, el("label", { for: field.id, class: "small" }, "Go to cell"), field, el("button", { class: "small" }, "Go"), fault);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const shown = made();
    if (!shown || !field.value.trim()) return;
    const place = typedCell(field.value);
    const end = shown.end();
    const isBeyond = !place.fault && (place.row > end.row || place.col > end.col);
    fault.textContent = place.fault ?? (isBeyond ? `There is nothing there: the sheet ends at ${letters(end.col)}${end.row + 1}.` : "");
    field.setAttribute("aria-invalid", String(Boolean(fault.textContent)));
    if (fault.textContent) field.setAttribute("aria-describedby", fault.id);
    else await shown.select(place.row, place.col, { focus: true });
  });
  return form;
}

export async function workbook(root, { command, request, sheet = "", sheets = [], lines = [], first: firstChange = null, row = 0 }) {
  const tabs = el("div", { class: "sheet-tabs", role: "tablist", "aria-label": "Sheets" });
  const holder = el("div", { class: "grid-holder", role: "tabpanel", id: `${root.id || "book"}-panel` });
  const waiting = skeleton("grid", 90); // over the grid until its first cells are there
  waiting.classList.add("grid-waiting");
  holder.append(waiting);
  root.replaceChildren(el("div", { class: "sheet-bar" }, tabs, goTo(root.id || "book", () => made)), holder);
  root.hidden = false;
  const fetch = (name, from, col, more = {}) => call(command, { ...request, ...more, ...(name ? { sheet: name } : {}), row_start: from, row_count: ROWS, col_start: col, col_count: COLS });
  const starts = new Map(); // the first window of each sheet is asked for once, whoever needs it
  const ask = (name, from, col, more = {}) => {
    const key = JSON.stringify([name, more]);
    if (from || col) return fetch(name, from, col, more);
    if (!starts.has(key)) starts.set(key, fetch(name, 0, 0, more).catch((error) => { starts.delete(key); throw error; }));
    return starts.get(key);
  };
  const touched = new Map(sheets.map((one) => [one.sheet, one]));
  let made = null;
  let current = null;

  async function versionOf(name) {
    // A sheet that went is only in the reference.
    if (command !== "ReviewGetXlsxPreviewGrid") return {};
    const found = await ask(name, 0, 0);
    return found.missing ? { version: "REFERENCE" } : {};
  }
  async function show(name, at = null) {
    current = name;
    for (const tab of tabs.children) {
      const isHere = tab.dataset.sheet === name;
      tab.setAttribute("aria-selected", String(isHere));
      tab.tabIndex = isHere ? 0 : -1;
    }
    const version = await versionOf(name);
    const marks = new Map();
    let isUnknown = null;
    made = grid(holder, {
      label: `Sheet ${name}`,
      marks,
      lines: { rows: headsOf(lines, name, "rows"), columns: headsOf(lines, name, "columns") },
      at,
      source: async (from, col) => {
        const found = await ask(name, from, col, version);
        for (const one of found.changes ?? []) marks.set(one.cell, markOf(one));
        if (found.changes === null && !isUnknown) {
          isUnknown = el("p", { class: "notice" }, "Which cells changed could not be found out everywhere on this sheet.");
          holder.prepend(isUnknown);
        }
        const { row_end = -1, col_end = -1 } = touched.get(name)?.bounds ?? {}; // also where cells went at its end
        return { cells: found.cells, rows: Math.max(found.row_count, row_end + 1), cols: Math.max(found.col_count, col_end + 1) };
      },
      onError: (error) => { if (!error.envelope) throw error; holder.replaceChildren(errorBox(error.envelope)); },
    });
    holder.append(waiting);
    await made.ready;
    waiting.remove();
  }
  try {
    const first = await ask("", 0, 0);
    if (first.sheet) starts.set(JSON.stringify([first.sheet, {}]), Promise.resolve(first));
    const names = [...new Set([...first.sheets, ...touched.keys()])];
    const hidden = new Set(first.hidden_sheets);
    tabs.append(...names.map((name) => el("button", {
      type: "button", role: "tab", "data-sheet": name, "aria-controls": holder.id,
      onclick: () => show(name),
    }, visible(name), hidden.has(name) ? el("span", { class: "muted small" }, " hidden") : null, countOf(touched.get(name)))));
    tabs.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const place = names.indexOf(current) + step;
      if (place >= 0 && place < names.length) { show(names[place]); tabs.children[place].focus(); }
    });
    const begin = names.includes(sheet) ? sheet : first.sheet || names[0];
    await show(begin, firstChange?.sheet === begin ? placeOf(firstChange.cell) : { row: Number(row) || 0, col: 0 });
  } catch (error) {
    if (!error.envelope) throw error;
    root.replaceChildren(errorBox(error.envelope));
  }
  return {
    async jump(name, cell) {
      if (name !== current) await show(name, placeOf(cell));
      else await made.select(placeOf(cell).row, placeOf(cell).col);
    },
  };
}
