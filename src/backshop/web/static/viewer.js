// One file: its picture; sheets and tables as grids, whose scripts come with them.
import { $, $$, on, skeleton } from "./dom.js";
import { stage } from "./stage.js";

// The file as the page has it now; it is begun again when the page was made again (`renewed`).
async function begin(sheet = "") {
  const file = $(".viewer");
  if (!file) return;
  const about = { workbench_id: document.body.dataset.bench, path: file.dataset.path, view: file.dataset.view };
  if ($("#sheet") || $("#table")) (await import("./tables.js")).begin(about, sheet);
  if ($("[data-stage]")) stage($("[data-stage]"), { onMove: (query) => history.replaceState(null, "", `?${query}`) });
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

// Where a renamed file is to be found is typed with its name.
on(document, "input", "#new-path", (_, field) => {
  const path = field.value.trim().split("/").map(encodeURIComponent).join("/");
  field.form.elements.next.value = `/bench/${document.body.dataset.bench}/file/${path}`;
});

let at = "";
document.addEventListener("renewing", () => { at = $("#sheet [role=tab][aria-selected=true]")?.dataset.sheet ?? at; });
document.addEventListener("renewed", () => begin(at));
await begin();
document.body.dataset.ready = "yes";
