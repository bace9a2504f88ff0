// Settings: disk use, clean-up, shortcuts, and answers of tests shown in place.
import { $, el, load, on, showError, toast } from "./dom.js";
import { call } from "./rpc.js";
import { ACTIONS, bindings, combination, saveBindings } from "./shortcuts.js";

async function disk() {
  if ($("#disk")) $("#disk").replaceChildren(await load("/settings/disk"));
}

on(document, "click", "#gc-look", async () => {
  const found = await call("StoreGc", { apply: false });
  const bytes = found.bytes ?? found.freed_bytes ?? 0;
  $("#gc").replaceChildren(el("p", {}, `${found.blobs ?? found.removed ?? 0} stored contents that nothing needs, ${(bytes / 1024 / 1024).toFixed(1)} MB. `,
    el("button", { type: "button", class: "danger small", onclick: async () => {
      try { await call("StoreGc", { apply: true }); toast("Cleaned up"); $("#gc").replaceChildren(); await disk(); }
      catch (error) { showError($("#gc"), error.envelope); }
    } }, "Remove them")));
});

// A test or a probe says what it found and the page stays.
on(document, "done", 'form[data-command="ProvidersValidate"], form[data-command="ProvidersProbe"]', (event) => {
  event.preventDefault();
  const found = event.detail;
  if (found.ok === false) toast(`Refused: ${found.error}`);
  else if (found.models) toast(`${found.models.length} models, window ${found.context_tokens} tokens${found.warnings?.length ? `; ${found.warnings.join("; ")}` : ""}`, { seconds: 20 });
  else toast("The key works");
});

const link = $("#login-link");
if (link) {
  const whole = new URL(link.dataset.path, location.href).href;
  link.textContent = whole;
  $("#copy-link").addEventListener("click", async () => { await navigator.clipboard.writeText(whole); toast("Copied", { seconds: 2 }); });
}

function keyboard() {
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
document.addEventListener("renewed", () => { keyboard(); disk(); });
await disk();
