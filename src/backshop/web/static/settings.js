// Settings: what models used, disk use, clean-up, shortcuts, finding a setting, and answers of tests shown in place.
import { $, $$, copyText, el, explained, loadInto, on, showError, toast } from "./dom.js";
import { call } from "./rpc.js";
import { ACTIONS, bindings, combination, saveBindings } from "./shortcuts.js";

async function used() {
  if ($("#used")) await loadInto($("#used"), "/settings/usage");
}

async function disk() {
  if ($("#disk")) await loadInto($("#disk"), "/settings/disk");
}

// Look for contents that nothing needs, or remove them; what was found or done is said in place.
async function collect(apply) {
  try {
    const found = await call("StoreGc", { apply });
    const what = `${found.blobs.toLocaleString()} stored ${found.blobs === 1 ? "content" : "contents"} that nothing needs, ${(found.bytes / 1024 / 1024).toFixed(1)} MB`;
    const text = found.refused ? `Nothing was removed: ${found.refused}` : found.applied ? `Removed: ${what}.` : found.blobs ? `${what}. ` : "There is nothing to remove.";
    const isOffered = !found.refused && !found.applied && found.blobs;
    $("#gc").replaceChildren(el("p", { role: "status" }, text, isOffered ? el("button", { type: "button", class: "danger small", onclick: () => collect(true) }, "Remove them") : null));
    if (found.applied) await disk();
  } catch (error) {
    if (!error.envelope) throw error;
    showError($("#gc"), error.envelope);
  }
}
on(document, "click", "#gc-look", () => collect(false));

// What is wrong with a provider, in sentences: `provider_line` of sentences.py.
function lineOf(line, isOwn) {
  const [error_code, reason] = line.split(": ");
  const { any, own } = JSON.parse($("#tested").textContent);
  const told = (isOwn && (own[`${error_code}:${reason}`] ?? own[error_code])) || any[`${error_code}:${reason}`] || any[error_code];
  if (told) return told.join(" ");
  const { sentence, then } = explained({ error_code, reason });
  return `${sentence} ${then}`;
}

// A test or a probe says what it found and the page stays.
on(document, "done", 'form[data-command="ProvidersValidate"], form[data-command="ProvidersProbe"]', (event, form) => {
  event.preventDefault();
  form.closest(".provider")?.querySelector(".notice-box")?.remove(); // what it said when it was added is of then
  const found = event.detail;
  if (found.ok === false) toast(lineOf(found.error, form.closest("[data-own]") !== null), { seconds: 20 });
  else if (found.models) toast(`${found.models.length} model${found.models.length === 1 ? "" : "s"}, which read${found.models.length === 1 ? "s" : ""} ${found.context_tokens.toLocaleString()} tokens at once${found.warnings?.length ? `; ${found.warnings.join("; ")}` : ""}`, { seconds: 20 });
  else toast(form.closest(".provider")?.querySelector("[name=api_key]") ? "The key works" : "It answers");
});

const link = $("#login-link");
if (link) {
  const whole = new URL(link.dataset.path, location.href).href;
  link.textContent = whole;
  $("#copy-link").addEventListener("click", () => copyText(whole));
}

// A setting is found by its name or its sentence; the others stay in the form and are saved with it.
function finding() {
  const field = $("#find-setting");
  if (!field) return;
  field.hidden = false;
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = $$(".raw tbody tr");
    for (const row of rows) row.hidden = !words.every((word) => row.cells[0].textContent.toLowerCase().includes(word));
    $("#no-setting").hidden = rows.some((row) => !row.hidden);
  });
}

function keyboard() {
  if (!$("#shortcuts")) return;
  const { off, keys } = bindings();
  const store = (change) => { saveBindings({ off, ...keys, ...change }); keyboard(); };
  $("#shortcuts").replaceChildren(
    el("label", { class: "inline" }, el("input", { type: "checkbox", checked: !off, onchange: (event) => store({ off: !event.target.checked }) }), "Use shortcuts"),
    el("table", {}, el("tbody", {}, Object.entries(ACTIONS).map(([name, [text, usual]]) => el("tr", {},
      el("td", {}, text),
      el("td", {}, el("input", { value: keys[name], "aria-label": text, size: 16, onkeydown: (event) => {
        if (event.key === "Tab" || ["Shift", "Alt", "Control", "Meta"].includes(event.key)) return;
        event.preventDefault();
        store({ [name]: combination(event) });
      } })),
      el("td", {}, keys[name] === usual ? null : el("button", { type: "button", class: "small", onclick: () => store({ [name]: usual }) }, "Usual key")))))));
}
keyboard();
finding();
document.addEventListener("renewed", () => { keyboard(); finding(); used(); disk(); });
await Promise.all([used(), disk()]);
