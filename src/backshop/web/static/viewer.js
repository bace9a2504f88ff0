// One file: sheets and tables as grids of any size, questions to a table in place.
import { $, $$, errorBox, on, skeleton } from "./dom.js";
import { call } from "./rpc.js";
import { COLS, ROWS, grid } from "./grid.js";
import { workbook } from "./sheet.js";
import { stage } from "./stage.js";

const shown = (value) => ({ display: value === null ? "" : String(value), type: typeof value });
const window = (rows, col) => rows.map((row) => row.slice(col, col + COLS).map(shown));

// The file as the page has it now; it is begun again when the page was made again (`renewed`).
function begin(sheet = "") {
  const file = $(".viewer");
  if (!file) return;
  const about = { workbench_id: document.body.dataset.bench, path: file.dataset.path, view: file.dataset.view };
  if ($("#sheet")) workbook($("#sheet"), { command: "WorkbenchFileGetGrid", request: about, sheet });
  if ($("#table")) table($("#table"), about);
  if ($("[data-stage]")) stage($("[data-stage]"), { onMove: (query) => history.replaceState(null, "", `?${query}`) });
}

function table(root, about) {
  const query = $("#query");
  const ask = async (row) => {
    const sql = query.value.trim();
    if (!sql) {
      const found = await call("WorkbenchTableReadRows", { ...about, row_start: row + 1, row_count: ROWS });
      return { found, total: found.total_rows };
    }
    const found = await call("WorkbenchTableQuery", { ...about, query: sql, window_rows: ROWS, window_offset: row });
    return { found, total: found.total_row_count };
  };
  const failed = (error) => {
    if (!error.envelope) throw error;
    $("#sql-error").replaceChildren(errorBox(error.envelope));
  };
  const show = async () => {
    $("#sql-error").replaceChildren();
    try {
      const first = await ask(0);
      const columns = first.found.columns;
      $("#table-count").textContent = `${first.total.toLocaleString()} row${first.total === 1 ? "" : "s"}`;
      root.classList.add("grid-holder");
      await grid(root, {
        headers: columns, label: "Rows",
        source: async (row, col) => {
          const { found, total } = row === 0 ? first : await ask(row);
          return { cells: window(found.rows, col), rows: total, cols: columns.length };
        },
        onError: failed,
      }).ready;
    } catch (error) { failed(error); }
  };
  $("#sql").addEventListener("submit", (event) => { event.preventDefault(); show(); });
  query.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); show(); } });
  show();
}

// A way to look at a file shows as chosen at once, with the shape of what is made below it: pages take a while.
on(document, "click", ".viewer > nav.tabs a", (event, tab) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button || tab.hasAttribute("aria-current")) return;
  const nav = tab.closest("nav");
  for (const one of $$("a", nav)) one.removeAttribute("aria-current");
  tab.setAttribute("aria-current", "true");
  while (nav.nextElementSibling) nav.nextElementSibling.remove();
  nav.after(/as=pages/.test(tab.href) ? skeleton("page", 1) : skeleton("text", 14));
});

let at = "";
document.addEventListener("renewing", () => { at = $("#sheet [role=tab][aria-selected=true]")?.dataset.sheet ?? at; });
document.addEventListener("renewed", () => begin(at));
begin();
document.body.dataset.ready = "yes";
