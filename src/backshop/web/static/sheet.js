// A workbook: one tab per sheet, each a grid. Shared by the review and the viewer.
import { el, errorBox } from "./dom.js";
import { call } from "./rpc.js";
import { COLS, ROWS, grid, placeOf } from "./grid.js";

// How many cells of a sheet differ; a sheet where all of them are new is new.
function countOf(marks) {
  if (!marks) return null;
  const isNew = [...marks.values()].every((one) => one.change === "added");
  return el("span", { class: `badge ${isNew ? "added" : "changed"}` }, `${isNew ? "+" : "~"} ${marks.size}`);
}

export async function workbook(root, { command, request, sheet = "", changes = [], row = 0 }) {
  const tabs = el("div", { class: "sheet-tabs", role: "tablist", "aria-label": "Sheets" });
  const holder = el("div", { class: "grid-holder", role: "tabpanel", id: `${root.id || "book"}-panel` });
  root.replaceChildren(tabs, holder);
  root.hidden = false;
  const ask = (name, from, col, more = {}) => call(command, { ...request, ...more, ...(name ? { sheet: name } : {}), row_start: from, row_count: ROWS, col_start: col, col_count: COLS });
  const touched = new Map();
  for (const one of changes) {
    if (!touched.has(one.sheet)) touched.set(one.sheet, new Map());
    touched.get(one.sheet).set(one.cell, one);
  }
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
    made = grid(holder, {
      label: `Sheet ${name}`,
      marks: touched.get(name) || new Map(),
      at,
      source: async (from, col) => {
        const found = await ask(name, from, col, version);
        return { cells: found.cells, rows: found.row_count, cols: found.col_count };
      },
      onError: (error) => { if (!error.envelope) throw error; holder.replaceChildren(errorBox(error.envelope)); },
    });
    await made.ready;
  }
  try {
    const first = await ask("", 0, 0);
    const names = [...new Set([...first.sheets, ...touched.keys()])];
    tabs.append(...names.map((name) => el("button", {
      type: "button", role: "tab", "data-sheet": name, "aria-controls": holder.id,
      onclick: () => show(name),
    }, name, countOf(touched.get(name)))));
    tabs.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const place = names.indexOf(current) + step;
      if (place >= 0 && place < names.length) { show(names[place]); tabs.children[place].focus(); }
    });
    const begin = names.includes(sheet) ? sheet : first.sheet || names[0];
    const mark = touched.get(begin)?.keys().next().value;
    await show(begin, mark ? placeOf(mark) : { row: Number(row) || 0, col: 0 });
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
