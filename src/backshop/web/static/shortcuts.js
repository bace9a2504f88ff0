// Keyboard shortcuts (W20.2): one table, remappable and able to be switched off in Settings.
import { $$, ask, el, isTyping } from "./dom.js";

export const ACTIONS = {
  composer: ["Go to the composer", "Alt+Shift+C"],
  regenerate: ["Regenerate", "Alt+Shift+R"],
  review: ["Open review", "Alt+Shift+V"],
  publish: ["Publish", "Alt+Shift+P"],
  discard: ["Discard the Draft", "Alt+Shift+X"],
  rewind: ["Rewind to the focused message, else to your last one", "Alt+Shift+Z"],
  cancel: ["Stop the running turn", "Escape"],
};
const FIXED = [
  ["Send", "Enter, Ctrl+Enter"],
  ["New line", "Shift+Enter"],
  ["This list", "?"],
  ["In a list of changes: next, previous change", "j, k"],
  ["In a list of changes: next, previous file", "n, p"],
  ["In a list of changes: mark as viewed", "v"],
];
const KEY = "backshop.shortcuts";

export function bindings() {
  let own = {};
  try { own = JSON.parse(localStorage.getItem(KEY) ?? "{}"); } catch { own = {}; }
  return { off: Boolean(own.off), keys: Object.fromEntries(Object.entries(ACTIONS).map(([name, [, key]]) => [name, own[name] ?? key])) };
}
export function saveBindings(values) { localStorage.setItem(KEY, JSON.stringify(values)); }

export function combination(event) {
  const key = event.code.startsWith("Key") ? event.code.slice(3) : event.key;
  return [event.ctrlKey && "Ctrl", event.metaKey && "Meta", event.altKey && "Alt", event.shiftKey && key.length !== 1 ? "Shift" : event.shiftKey && (event.altKey || event.ctrlKey || event.metaKey) && "Shift", key].filter(Boolean).join("+");
}

// `handlers` maps an action to what it does here; an action without a handler is not a shortcut here.
export function shortcuts(handlers) {
  document.addEventListener("keydown", (event) => {
    const { off, keys } = bindings();
    if (off || event.isComposing || event.defaultPrevented) return;
    if (event.key === "?" && !isTyping(event) && !event.ctrlKey && !event.altKey) { event.preventDefault(); showKeys(keys); return; }
    if (event.key === "Escape" && $$("dialog[open]").length) return;
    const pressed = combination(event);
    const hit = Object.keys(keys).find((name) => keys[name] === pressed && handlers[name]);
    if (!hit) return;
    event.preventDefault();
    handlers[hit]();
  });
}

export function showKeys(keys = bindings().keys) {
  const rows = [...Object.entries(ACTIONS).map(([name, [text]]) => [text, keys[name]]), ...FIXED];
  ask("Keyboard", el("table", {}, el("tbody", {}, rows.map(([text, key]) =>
    el("tr", {}, el("td", {}, text), el("td", {}, key.split(", ").flatMap((one, at) => [at ? " " : "", el("kbd", {}, one)])))))),
  [{ label: "Close", value: null }]);
}
