// Small words for the page: find, make, listen, say, ask, show a toast.
import { GONE, RpcError, UNREACHABLE, dataOf, reach } from "./rpc.js";

export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

// Make an element. Properties with a dash or of `data`/`aria` become attributes; `on…` listens.
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key in made && !key.includes("-")) made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// Signs that turn the direction of writing as marks to be seen: with them a text reads as another than it is.
export const visible = (text) => typeof text === "string" ? text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (sign) => `⟦U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟧`) : text;

export function icon(name) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(ns, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

// What kind a file is, and a file as a chip: `kind_icon` and `chip` of kit.html.
const KINDS = { xlsx: "X", xls: "X", xlsb: "X", ods: "X", csv: "C", tsv: "C", docx: "W", odt: "W", pptx: "P", pdf: "F", image: "I", text: "T" };
export const kindMark = (kind) => el("span", { class: `kind kind-${kind in KINDS ? kind : "other"}`, "aria-hidden": "true" }, KINDS[kind] ?? "·");
export const chip = (name, kind, { href = null, note = null } = {}) => el(href ? "a" : "span", { class: "chip", href, title: name },
  kindMark(kind), el("span", { class: "chip-name" }, visible(name)), note ? el("span", { class: "chip-note" }, visible(note)) : null);

// The shape of what is being fetched, at once: `skeleton` of kit.html; "text", "page" or "grid".
export const skeleton = (shape = "text", parts = 4) => el("div", { class: `skeleton ${shape}-shape`, role: "status" },
  el("span", { class: "unseen" }, "Loading…"), Array.from({ length: parts }, () => el("i", { "aria-hidden": "true" })));

// HTML that our own server rendered and cleaned; the only way HTML enters a page.
const policy = globalThis.trustedTypes
  ? globalThis.trustedTypes.createPolicy("backshop", { createHTML: (text) => text })
  : { createHTML: (text) => text };

export function fragment(text) {
  const holder = document.createElement("template");
  holder.innerHTML = policy.createHTML(text);
  const made = holder.content;
  localTimes(made);
  return made;
}

// Fetch a part of a page; a refusal is an RpcError, because the server sends the envelope in place of a page.
export async function load(path, { method = "GET", body } = {}) {
  const response = await reach(path, { method, body, headers: { accept: "text/html", "x-fragment": "1" } });
  if (response.ok) return fragment(await response.text());
  const { error } = await dataOf(response);
  throw new RpcError(error.error || error);
}

// Fetch a part of a page into an element; false: it was refused, which is said there, and what it showed stays.
// What came and is shown already stays too: a click that is under way would fall on nothing.
export async function loadInto(root, path) {
  try {
    const fresh = await load(path);
    const holder = document.createElement("div");
    holder.append(fresh.cloneNode(true));
    if (holder.innerHTML !== root.innerHTML) holdingFocus(root, () => root.replaceChildren(fresh));
    return true;
  } catch (error) {
    noteRefusal(root, error);
    return false;
  }
}

// Make a part of the page anew; the focus stays where it was, on what stands there now (U4.47).
export function holdingFocus(root, replace) {
  const held = root.contains(document.activeElement) ? placeOf(document.activeElement) : null;
  replace();
  if (held) $(held)?.focus({ preventScroll: true });
}

// How to find an element again after its part of the page was made anew, if there is a way.
export function placeOf(element) {
  if (!element || element === document.body) return null;
  if (element.id) return `#${CSS.escape(element.id)}`;
  const href = element.getAttribute("href");
  const part = element.closest("[id]")?.id;
  return href && part ? `#${CSS.escape(part)} a[href="${CSS.escape(href)}"]` : null;
}

// Say what was refused of work nobody waits for, without taking the focus; of a server that is gone the line on top tells.
export function noteRefusal(root, error) {
  if (!error.envelope) throw error;
  if (error.envelope.error_code === UNREACHABLE) return;
  clearError(root);
  root.prepend(errorBox(error.envelope));
}

// Listen for events of elements that come and go.
export function on(root, type, selector, listener) {
  root.addEventListener(type, (event) => {
    const hit = event.target instanceof Element ? event.target.closest(selector) : null;
    if (hit && root.contains(hit)) listener(event, hit);
  });
}

// Tell a screen reader, once.
export function say(text, { assertive = false } = {}) {
  const region = $(assertive ? "#assertive" : "#polite");
  region.append(el("p", {}, visible(text)));
  while (region.childElementCount > 20) region.firstElementChild.remove();
}

// A short message in the corner; `actions` maps a label to what it does. What an event says is not said again.
export function toast(text, { actions = {}, seconds = 8, isSaid = true, onEnd = () => {} } = {}) {
  const made = el("div", { class: "toast" }, el("span", { class: "grow" }, visible(text)));
  const end = () => { made.remove(); onEnd(); };
  for (const [label, act] of Object.entries(actions)) {
    made.append(el("button", { type: "button", onclick: () => { end(); act(); } }, label));
  }
  made.append(el("button", { type: "button", "aria-label": "Close", onclick: end }, icon("close")));
  $("#toasts").append(made);
  if (isSaid) say(text);
  if (seconds) setTimeout(end, seconds * 1000);
  return end;
}

// Ask in a dialog. `choices` is a list of {label, value, tone}; resolves to a value, or null.
export function ask(title, body, choices) {
  return new Promise((resolve) => {
    let answer = null;
    const close = (value) => { answer = value; made.close(); };
    const made = el("dialog", { class: "dialog", "aria-label": visible(title) },
      el("div", { class: "dialog-head" }, el("h2", {}, visible(title)),
        el("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => close(null) }, icon("close"))),
      ...(Array.isArray(body) ? body : [body]).map((part) => (typeof part === "string" ? el("p", {}, visible(part)) : part)),
      el("div", { class: "buttons" }, choices.map((choice) =>
        el("button", { type: "button", class: choice.tone || "", onclick: () => close(choice.value) }, choice.label))));
    made.addEventListener("close", () => { made.remove(); resolve(answer); });
    document.body.append(made);
    made.showModal();
  });
}

// Show an error where it happened (U1.6, U9.1): a sentence, what to do next, the envelope's actions; the code, the
// reference id and the error's own words behind "Details". Its role says it aloud; nobody else has to.
export function errorBox(envelope, acts = {}) {
  const known = (envelope.actions || []).filter((action) => acts[action] || isReachable(ACTIONS[action]?.[1]));
  const told = explained(envelope);
  return el("div", { class: told.calm ? "error calm" : "error", role: "alert", tabindex: "-1", "data-error": envelope.error_code || envelope.code, "data-gone": isOurs(envelope.message) },
    el("p", { class: "error-message" }, icon(told.calm ? "info" : "alert"), " ", visible(told.sentence)),
    told.then ? el("p", { class: "error-detail" }, visible(told.then)) : null,
    (envelope.hints || []).map((hint) => el("p", { class: "error-detail" }, visible(hint))),
    known.length ? el("div", { class: "buttons" }, known.map((action) =>
      acts[action]
        ? el("button", { type: "button", class: "small", onclick: () => acts[action](envelope) }, ACTIONS[action]?.[0] ?? action)
        : el("a", { class: "button small", href: leadsTo(ACTIONS[action][1]) }, ACTIONS[action][0]))) : null,
    el("details", { class: "error-foot" }, el("summary", {}, "Details"),
      told.original ? el("p", {}, visible(told.original)) : null,
      envelope.detail ? el("p", {}, visible(envelope.detail)) : null,
      el("p", {}, el("code", {}, codeOf(envelope)), envelope.detail_ref ? [" Reference ", el("code", {}, envelope.detail_ref)] : null)));
}

// An error as people read it, by the table of `sentences.py`; of a server that is gone the message says it.
const { said: SENTENCES = {}, calm: CALM = [] } = JSON.parse(document.getElementById("sentences")?.textContent || "{}");
export function explained({ error_code, code, reason, message = "", suggestion = "" }) {
  const name = error_code || code || "";
  const [text, then] = (isOurs(message) ? null : SENTENCES[`${name}:${reason}`] ?? SENTENCES[name]) ?? ["", ""];
  const own = message || "The server cannot be reached";
  return { sentence: text || asSentence(own), then: then || suggestion, original: text ? message : "", calm: CALM.includes(name) };
}
export const asSentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
const isOurs = (message) => message === GONE; // it is Backshop that does not answer, no provider

// What each action of an error is called, and the page it leads to if it leads to one (`words.py`).
const ACTIONS = JSON.parse(document.body.dataset.actions || "{}");
const isReachable = (page) => page && (document.body.dataset.bench || !page.includes("{bench}"));
const leadsTo = (page) => page.replace("{bench}", document.body.dataset.bench).replace("{here}", encodeURIComponent(location.pathname));

// Put an error box first into an element, in place of an older one, and take the focus there.
export function showError(root, envelope, acts) {
  clearError(root);
  const box = errorBox(envelope, acts);
  root.prepend(box);
  box.focus();
  return box;
}
export const clearError = (root) => $$(":scope > .error", root).forEach((old) => old.remove());

// Times in the person's own zone and words. The formats are made once: making one takes longer than using it.
const HOUR = { hour: "numeric", minute: "2-digit" };
const FORMATS = {
  whole: new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "medium" }),
  today: new Intl.DateTimeFormat([], HOUR),
  earlier: new Intl.DateTimeFormat([], { year: "numeric", month: "short", day: "numeric", ...HOUR }),
};
// A reason that only repeats the code is not said twice.
function codeOf({ error_code, code, reason }) {
  const name = error_code || code || "NETWORK";
  return reason && reason !== name.toLowerCase() ? `${name}: ${reason}` : name;
}
export function localTimes(root) {
  const today = new Date().toDateString();
  for (const one of $$("time[datetime]", root)) {
    const at = new Date(one.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    one.title = FORMATS.whole.format(at);
    one.textContent = (today === at.toDateString() ? FORMATS.today : FORMATS.earlier).format(at);
  }
}

export const copyText = (text) => import("./copying.js").then(({ copy }) => copy(text), () => toast(GONE));

// Whether a key belongs to a text field and is no shortcut there.
export const isTyping = (event) =>
  event.target instanceof HTMLElement && (event.target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName));
