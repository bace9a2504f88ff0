// Sheets and tables of one file as grids of any size, questions to a table in place.
import { $, el, errorBox } from "./dom.js";
import { call } from "./rpc.js";
import { COLS, ROWS, grid } from "./grid.js";
import { workbook } from "./sheet.js";
import { sorting } from "./sorting.js";

const shown = (value) => ({ display: value === null ? "" : String(value), type: typeof value });
const window = (rows, col) => rows.map((row) => row.slice(col, col + COLS).map(shown));

export function begin(about, sheet) {
  if ($("#sheet")) { workbook($("#sheet"), { command: "WorkbenchFileGetGrid", request: about, sheet }); sheetTable(about); }
  if ($("#table")) table($("#table"), about);
}

// A table of the file, or of one sheet: its rows in their order or sorted, or the answer to a question of one's own.
function table(root, about, { query = $("#query"), errors = $("#sql-error") } = {}) {
  const holder = el("div", { class: "grid-holder" });
  const place = el("div");
  let latest = 0;
  const show = async () => {
    const mine = (latest += 1);
    errors.replaceChildren();
    try {
      const first = await ask(0);
      if (mine !== latest) return; // another order was asked for meanwhile
      const columns = first.found.columns;
      const isOwn = Boolean(query?.value.trim());
      if (!isOwn) order.offer(columns);
      place.hidden = isOwn;
      order.told(first.total);
      if ($("#table-count")) $("#table-count").textContent = `${first.total.toLocaleString()} row${first.total === 1 ? "" : "s"}`;
      if (!holder.isConnected) root.replaceChildren(place, holder);
      await grid(holder, {
        headers: columns, label: "Rows",
        onHead: isOwn ? null : (head, col) => order.head(head, columns[col]),
        source: async (row, col) => {
          const { found, total } = row === 0 ? first : await ask(row);
          return { cells: window(found.rows, col), rows: total, cols: columns.length };
        },
        onError: failed,
      }).ready;
    } catch (error) { if (mine === latest) failed(error); }
  };
  const order = sorting(place, { onChange: show });
  const ask = async (row) => {
    const sql = query?.value.trim() || order.query();
    if (!sql) {
      const found = await call("WorkbenchTableReadRows", { ...about, row_start: row + 1, row_count: ROWS });
      return { found, total: found.total_rows };
    }
    const found = await call("WorkbenchTableQuery", { ...about, query: sql, window_rows: ROWS, window_offset: row });
    return { found, total: found.total_row_count };
  };
  const failed = (error) => {
    if (!error.envelope) throw error;
    errors.replaceChildren(errorBox(error.envelope));
  };
  if (query) {
    $("#sql").addEventListener("submit", (event) => { event.preventDefault(); show(); });
    query.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); show(); } });
  }
  show();
}

// The table on the sheet in sight, sorted and filtered, in place of its cells until one goes back to them.
function sheetTable(about) {
  const sheet = $("#sheet");
  const button = el("button", { type: "button", class: "small", "aria-expanded": "false" }, "Sort and filter…");
  const errors = el("div");
  const place = el("div", { hidden: true });
  const set = (isOpen) => {
    button.setAttribute("aria-expanded", String(isOpen));
    button.textContent = isOpen ? "Back to the cells" : "Sort and filter…";
    sheet.hidden = isOpen;
    place.hidden = !isOpen;
    errors.replaceChildren();
  };
  button.addEventListener("click", () => {
    const isOpen = place.hidden;
    set(isOpen);
    if (isOpen) table(place, { ...about, sheet: $("#sheet [role=tab][aria-selected=true]")?.dataset.sheet }, { query: null, errors });
  });
  sheet.before(el("p", { class: "row" }, button), errors, place);
}
