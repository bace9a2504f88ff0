// A sheet or table of any size: only the cells in sight are in the page, rows come in windows (U1.5).
//
//   grid(root, { source, headers, marks, lines, row }) — `source(row, col)` answers with
//   {cells: [[{display, formula, before}]], rows, cols} for a window of ROWS × COLS.
import { $, el, visible } from "./dom.js";

const SIGNS = { added: "+", changed: "~", removed: "−" };
export const ROWS = 200;
export const COLS = 50;
const HEIGHT = 25;
const WIDTH = 124; // of a column, until something in it needs more
const LETTER = 9; // of the bold ones that a mark has
const PADDING = 26; // with the sign of a mark
const WIDEST = { number: 420, string: 260 }; // a number is never cut, a text has the bar above
const HEAD = 58;
const REST_MS = 80; // rows are fetched when the scrolling rests, not for every one that flies by

export const letters = (index) => {
  let name = "";
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  return name;
};
export const placeOf = (cell) => {
  const [, column, row] = /^([A-Z]+)(\d+)$/.exec(cell) || [, "A", "1"];
  return { row: Number(row) - 1, col: [...column].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1 };
};

// A cell as somebody types it: {row, col}, or a sentence that says what is wrong with it.
const LAST = { row: 1048575, col: 16383 };
export function typedCell(text) {
  const [, column, row] = /^\s*\$?([a-z]{0,3})\$?(\d{0,7})\s*$/i.exec(text) ?? [];
  if (!column && !row) return { fault: `“${visible(text.trim().slice(0, 40))}” is no cell. Type a column and a row, such as B12.` };
  const place = placeOf(`${(column || "A").toUpperCase()}${row || 1}`);
  if (place.row < 0 || place.row > LAST.row || place.col > LAST.col) return { fault: "No sheet has this cell. The first one is A1, the last one XFD1048576." };
  return place;
}

// What became of a marked cell, in one line.
const telling = ({ what, before, formats }) => [what, before ? `before: ${before}` : "", formats].filter(Boolean).join(", ");

// A head of a row or column, with a sign where that came or something went before it.
const marked = (head, mark) => {
  if (!mark) return head;
  head.classList.add("marked", mark.change);
  head.title = mark.what;
  head.prepend(el("span", { class: "mark-sign", "aria-hidden": "true" }, SIGNS[mark.change]));
  head.append(el("span", { class: "unseen" }, ` ${mark.what}`));
  return head;
};

export function grid(root, { source, headers = null, marks = new Map(), lines = null, label = "Sheet", at = null, onHead = null, onError }) {
  const windows = new Map();
  const shown = new Map();
  let rows = 0;
  let cols = 0;
  let selected = { row: 0, col: 0 };
  let columns = "";
  let queued = false;
  let resting = null;
  const widths = [];
  let lefts = [0];

  const bar = el("p", { class: "cell-bar small", role: "status" });
  const head = el("div", { class: "grid-row grid-head" });
  const body = el("div", { class: "grid-space", role: "rowgroup" });
  const scroll = el("div", { class: "grid-scroll", tabindex: "0", role: "grid", "aria-label": label, "aria-readonly": "true" },
    el("div", { role: "rowgroup", class: "grid-head-group" }, head), body);
  root.replaceChildren(bar, scroll);

  const windowOf = (row, col) => `${Math.floor(row / ROWS)}:${Math.floor(col / COLS)}`;
  const cellAt = (row, col) => {
    const found = windows.get(windowOf(row, col));
    return found?.cells ? found.cells[row % ROWS]?.[col % COLS] ?? null : undefined;
  };
  async function need(row, col) {
    const key = windowOf(row, col);
    if (windows.has(key)) return windows.get(key).ready;
    const entry = {};
    windows.set(key, entry);
    entry.ready = (async () => {
      try {
        const found = await source(Math.floor(row / ROWS) * ROWS, Math.floor(col / COLS) * COLS);
        entry.cells = found.cells;
        const grew = fit(found.cells, Math.floor(col / COLS) * COLS);
        if (grew || found.rows !== rows || found.cols !== cols) { rows = found.rows; cols = found.cols; resize(); redraw(); }
        else renew(Math.floor(row / ROWS) * ROWS);
      } catch (error) {
        windows.delete(key);
        onError?.(error);
      }
    })();
    return entry.ready;
  }
  const resize = () => {
    scroll.setAttribute("aria-rowcount", rows + 1);
    scroll.setAttribute("aria-colcount", cols + 1);
    lefts = [0];
    for (let col = 0; col < cols; col += 1) lefts.push(lefts[col] + widthOf(col));
    columns = "";
    body.style.height = `${rows * HEIGHT}px`;
    for (const part of [head, body]) part.style.width = `${HEAD + lefts[cols]}px`;
  };
  const widthOf = (col) => widths[col] ?? WIDTH;
  const columnAt = (x) => {
    let low = 0;
    let high = cols;
    while (low < high) { const middle = (low + high) >> 1; if (lefts[middle + 1] <= x) low = middle + 1; else high = middle; }
    return low;
  };
  // Make room for what these cells show; whether a column grew.
  function fit(cells, from) {
    let grew = false;
    for (const row of cells) {
      for (let at = 0; at < row.length; at += 1) {
        const text = row[at]?.display;
        if (!text || text.length * LETTER + PADDING <= widthOf(from + at)) continue;
        const wanted = Math.min(text.length * LETTER + PADDING, row[at].type === "number" ? WIDEST.number : WIDEST.string);
        if (wanted > widthOf(from + at)) { widths[from + at] = wanted; grew = true; }
      }
    }
    return grew;
  }
  const spacer = (count) => { const made = el("span", { role: "presentation" }); made.style.flex = `0 0 ${lefts[count]}px`; return made; };

  function drawHead(first, end) {
    const made = [el("span", { class: "grid-corner", role: "columnheader" }, el("span", { class: "unseen" }, "Row")), spacer(first)];
    for (let col = first; col < end; col += 1) {
      const one = el("span", { class: "grid-colhead", role: "columnheader", "aria-colindex": col + 2, title: headers ? visible(headers[col]) : null }, headers ? visible(headers[col]) : letters(col));
      if (widths[col]) one.style.flexBasis = `${widths[col]}px`;
      onHead?.(one, col);
      made.push(marked(one, lines?.columns.get(col)));
    }
    head.setAttribute("role", "row"); // a row has cells: before it has any it is none
    head.replaceChildren(...made);
  }
  function drawRow(row, first, end) {
    const made = el("div", { class: "grid-row", role: "row", "aria-rowindex": row + 2 }, marked(el("span", { class: "grid-rowhead", role: "rowheader" }, String(row + 1)), lines?.rows.get(row)), spacer(first));
    made.style.top = `${row * HEIGHT}px`;
    for (let col = first; col < end; col += 1) {
      made.append(drawCell(row, col, cellAt(row, col)));
    }
    return made;
  }
  function drawCell(row, col, cell) { // by hand: hundreds of these are made while scrolling
    const made = document.createElement("span");
    const mark = marks.size ? marks.get(`${letters(col)}${row + 1}`) : null;
    made.className = cell?.type === "number" ? "grid-cell num" : "grid-cell";
    made.setAttribute("role", "gridcell");
    made.setAttribute("aria-colindex", col + 2);
    made.dataset.at = `${row}:${col}`;
    if (widths[col]) made.style.flexBasis = `${widths[col]}px`;
    made.textContent = cell === undefined ? "…" : visible(cell?.display) ?? "";
    if (cell?.formula) made.title = visible(cell.formula);
    if (row === selected.row && col === selected.col) {
      made.classList.add("here");
      made.id = `${root.id || "grid"}-here`;
      made.setAttribute("aria-selected", "true");
    }
    if (mark) {
      made.classList.add("marked", mark.change);
      const told = telling(mark);
      made.title = told;
      made.prepend(el("span", { class: "mark-sign", "aria-hidden": "true" }, SIGNS[mark.change]));
      made.append(el("span", { class: "unseen" }, ` ${told}`));
    }
    return made;
  }
  function renew(from) {
    for (const [row, element] of shown) if (row >= from && row < from + ROWS) { element.remove(); shown.delete(row); }
    later();
  }
  function draw() {
    queued = false;
    const top = scroll.scrollTop;
    const first = Math.max(0, Math.floor(top / HEIGHT) - 6);
    const end = Math.min(rows, Math.ceil((top + scroll.clientHeight) / HEIGHT) + 6);
    const left = Math.max(0, columnAt(scroll.scrollLeft) - 1);
    const right = Math.min(cols, columnAt(scroll.scrollLeft + scroll.clientWidth) + 2);
    if (columns !== `${left}:${right}`) { columns = `${left}:${right}`; shown.forEach((row) => row.remove()); shown.clear(); drawHead(left, right); }
    for (const [row, element] of shown) if (row < first || row >= end) { element.remove(); shown.delete(row); }
    for (let row = first; row < end; row += 1) {
      if (shown.has(row)) continue;
      const made = drawRow(row, left, right);
      shown.set(row, made);
      body.append(made);
    }
    clearTimeout(resting);
    resting = setTimeout(() => {
      for (const row of shown.keys()) for (let col = left; col < right; col += 1) if (cellAt(row, col) === undefined) need(row, col);
    }, REST_MS);
    scroll.setAttribute("aria-activedescendant", $(".here", body) ? `${root.id || "grid"}-here` : "");
  }
  const later = () => { if (!queued) { queued = true; requestAnimationFrame(draw); } };
  const redraw = () => { shown.forEach((row) => row.remove()); shown.clear(); later(); };

  function describe() {
    if (headers && !rows) { bar.replaceChildren("\u00a0"); return; } // no row, so none is the chosen one
    const name = headers ? `${headers[selected.col] ?? ""}, row ${selected.row + 1}` : `${letters(selected.col)}${selected.row + 1}`;
    const cell = cellAt(selected.row, selected.col);
    const mark = marks.get(`${letters(selected.col)}${selected.row + 1}`);
    const formula = cell?.formula ? el("code", {}, visible(cell.formula)) : null;
    const value = formula && cell.type === "blank" ? [formula, ": not computed"] : [formula, formula ? " = " : null, visible(cell?.display) ?? ""];
    bar.replaceChildren(...[
      el("strong", {}, name), " ", ...value,
      mark ? el("span", { class: "was" }, ` ${mark.what}`, mark.before ? [", before: ", el("del", {}, visible(mark.before))] : null, mark.formats ? `, ${visible(mark.formats)}` : null) : null,
    ].filter((part) => part !== null));
  }
  async function select(row, col, { focus = false } = {}) {
    selected = { row: Math.max(0, Math.min(rows - 1, row)), col: Math.max(0, Math.min(cols - 1, col)) };
    const top = selected.row * HEIGHT;
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top + 2 * HEIGHT > scroll.scrollTop + scroll.clientHeight - HEIGHT) scroll.scrollTop = top + 3 * HEIGHT - scroll.clientHeight;
    const left = lefts[selected.col] ?? 0;
    const right = HEAD + left + widthOf(selected.col);
    if (left < scroll.scrollLeft) scroll.scrollLeft = left;
    else if (right > scroll.scrollLeft + scroll.clientWidth) scroll.scrollLeft = right - scroll.clientWidth;
    redraw();
    await need(selected.row, selected.col);
    describe();
    if (focus) scroll.focus();
  }
  scroll.addEventListener("scroll", later, { passive: true });
  scroll.addEventListener("click", (event) => {
    const cell = event.target.closest("[data-at]");
    if (cell) { const [row, col] = cell.dataset.at.split(":").map(Number); select(row, col); }
  });
  scroll.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-20, 0], PageDown: [20, 0] }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    select(selected.row + step[0], selected.col + step[1]);
  });
  new ResizeObserver(later).observe(scroll);
  const ready = need(at?.row ?? 0, at?.col ?? 0).then(() => { if (at) select(at.row, at.col); else { draw(); describe(); } });
  return { select, ready, redraw, scroll, end: () => ({ row: rows - 1, col: cols - 1 }) };
}
