// A session and its runs: the graph is walked by keys, zoomed, and grows while an agent works.
import { $, $$, load, loadInto, noteRefusal, on, say } from "./dom.js";
import { answering } from "./answering.js";
import { follow } from "./events.js";

const { session, run } = document.body.dataset;
const canvas = $("#graph");
const drawer = $("#node");
let selected = drawer ? $(".node", drawer)?.dataset.node : null;
let zoom = Number(sessionStorage.getItem("studio-zoom")) || 1;

// ------------------------------------------------------------ drawing

function boxes() { return $$("a.box", canvas); }
function boxOf(id) { return canvas.querySelector(`a.box[data-id="${CSS.escape(id ?? "")}"]`); }

function prepare() {
  const svg = $("svg", canvas);
  svg.setAttribute("width", Math.round(svg.dataset.width * zoom));
  svg.setAttribute("height", Math.round(svg.dataset.height * zoom));
  $("#zoom-level").textContent = `${Math.round(zoom * 100)} %`;
  const at = boxOf(selected) ?? boxes()[0];
  for (const box of boxes()) {
    box.setAttribute("tabindex", box === at ? "0" : "-1"); // one stop for Tab; arrows do the rest
    box.classList.toggle("selected", box.dataset.id === selected);
    if (box.dataset.id === selected) box.setAttribute("aria-current", "true");
    else box.removeAttribute("aria-current");
  }
}

// Bring a box into sight inside the canvas; the page around it stays where it is.
function reveal(box) {
  if (!box) return;
  const [inner, outer] = [box.getBoundingClientRect(), canvas.getBoundingClientRect()];
  const room = 24;
  if (inner.top < outer.top + room) canvas.scrollTop -= outer.top + room - inner.top;
  else if (inner.bottom > outer.bottom - room) canvas.scrollTop += inner.bottom - outer.bottom + room;
  if (inner.left < outer.left + room) canvas.scrollLeft -= outer.left + room - inner.left;
  else if (inner.right > outer.right - room) canvas.scrollLeft += inner.right - outer.right + room;
}

async function open(node, { focus = false } = {}) {
  selected = node;
  prepare();
  reveal(boxOf(node));
  const query = new URLSearchParams(location.search);
  query.set("node", node);
  history.replaceState(null, "", `?${query}`);
  await loadInto(drawer, `/studio/node/${node}`);
  drawer.scrollTop = 0;
  if (focus) drawer.focus();
}

// ------------------------------------------------------------ walking

function relatives(box) {
  const all = boxes();
  const children = all.filter((one) => one.dataset.parent === box.dataset.id);
  const siblings = all.filter((one) => one.dataset.parent === box.dataset.parent);
  return { parent: boxOf(box.dataset.parent), children, siblings };
}

function next(box, key) {
  const { parent, children, siblings } = relatives(box);
  const at = siblings.indexOf(box);
  const all = boxes();
  switch (key) {
    case "ArrowUp": return parent;
    case "ArrowDown": return children.find((one) => one.classList.contains("main")) ?? children[0];
    case "ArrowRight": return siblings[at + 1] ?? children[1];
    case "ArrowLeft": return siblings[at - 1];
    case "Home": return all[0];
    case "End": return $("a.box.current", canvas) ?? all.at(-1);
    default: return undefined;
  }
}

if (canvas) {
  on(canvas, "keydown", "a.box", (event, box) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "+" || event.key === "-") { event.preventDefault(); setZoom(event.key === "+" ? 1 : -1); return; }
    const to = next(box, event.key);
    if (to === undefined && !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    if (!to) return;
    for (const one of boxes()) one.setAttribute("tabindex", one === to ? "0" : "-1");
    to.focus({ preventScroll: true });
    reveal(to);
  });
  on(canvas, "click", "a.box", (event, box) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    open(box.dataset.node, { focus: event.detail === 0 }); // a key, not a pointer
  });
  on(document, "click", "[data-zoom]", (_, button) => setZoom(Number(button.dataset.zoom)));
  prepare();
  reveal(boxOf(selected));
}

function setZoom(step) {
  zoom = step === 0 ? 1 : Math.min(2, Math.max(0.25, zoom * (step > 0 ? 1.25 : 0.8)));
  sessionStorage.setItem("studio-zoom", String(zoom));
  prepare();
}

// ------------------------------------------------------------ what people do

on(document, "click", "a[data-goto]", (event, link) => {
  if (!canvas || !boxOf(link.dataset.goto)) return;
  event.preventDefault();
  open(link.dataset.goto);
});
on(document, "click", "a[data-fork]", async (event, link) => {
  const dialog = $("#fork-node");
  if (!dialog) return;
  event.preventDefault();
  const href = link.getAttribute("href");
  const page = await load(href).catch(() => null);
  if (!page) { location.assign(href); return; } // which says why
  const parts = $$("main .page > :not(h1, p.small:first-child)", page);
  $("#fork-body").replaceChildren(...parts);
  dialog.showModal();
  $("textarea, a", $("#fork-body"))?.focus();
});
answering(async () => {
  await redraw();
  await open(selected, { focus: true });
  say("Recorded; the agent goes on with its next call");
});

// ------------------------------------------------------------ the timeline: walked by keys, in the person's own time

const moments = () => $$("a.moment");
const SECONDS = { hour: "numeric", minute: "2-digit", second: "2-digit" };
const clock = new Intl.DateTimeFormat([], SECONDS);
const fineClock = new Intl.DateTimeFormat([], { ...SECONDS, fractionalSecondDigits: 1 });
function prepareTimeline() {
  const axis = $("svg.timeline[data-fine]") ? fineClock : clock;
  for (const one of $$("[data-clock]")) one.textContent = axis.format(new Date(one.dataset.clock));
  for (const one of $$(".moments time")) {
    const at = new Date(one.dateTime);
    if (at.toDateString() === new Date().toDateString()) one.textContent = clock.format(at);
  }
  moments().forEach((one, at) => one.setAttribute("tabindex", at === 0 ? "0" : "-1"));
}
function nextMoment(from, key) {
  const all = moments();
  const beside = all.filter((one) => one.dataset.lane === from.dataset.lane);
  const lanes = [...new Set(all.map((one) => one.dataset.lane))];
  const lane = lanes.indexOf(from.dataset.lane) + (key === "ArrowDown" ? 1 : -1);
  switch (key) {
    case "ArrowRight": return beside[beside.indexOf(from) + 1];
    case "ArrowLeft": return beside[beside.indexOf(from) - 1];
    case "ArrowUp": case "ArrowDown": return all.find((one) => one.dataset.lane === lanes[lane]);
    case "Home": return beside[0];
    case "End": return beside.at(-1);
    default: return undefined;
  }
}
on(document, "keydown", "a.moment", (event, from) => {
  const to = nextMoment(from, event.key);
  if (!to || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  for (const one of moments()) one.setAttribute("tabindex", one === to ? "0" : "-1");
  to.focus();
});
prepareTimeline();

// ------------------------------------------------------------ live

let queued = null;
function refresh() {
  queued ??= setTimeout(() => { queued = null; redraw().catch((error) => noteRefusal($(".studio-main"), error)); }, 100);
}

async function redraw() {
  if (!run) {
    const page = await load(location.pathname + location.search);
    if ($("dialog[open]")) return;
    for (const part of [".studio-main", "#runs"]) $(part).replaceChildren(...$(part, page).childNodes);
    prepareTimeline();
    return;
  }
  const before = new Set(boxes().map((box) => box.dataset.id));
  const oldTip = $("svg", canvas).dataset.tip;
  const held = document.activeElement?.closest?.("a.box")?.dataset.id;
  const { ghosts, around } = canvas.dataset;
  const query = new URLSearchParams({ ...(ghosts && { ghosts }), ...(around && around !== oldTip && { around }) });
  const place = { top: canvas.scrollTop, left: canvas.scrollLeft };
  const live = await load(`/studio/run/${run}/graph?${query}`);
  for (const part of $$("[data-part]", live)) {
    document.getElementById(part.dataset.part).replaceChildren(...part.childNodes);
    part.remove();
  }
  canvas.replaceChildren(live);
  const fresh = boxes().filter((box) => !before.has(box.dataset.id));
  for (const box of fresh) box.classList.add("fresh");
  prepare();
  canvas.scrollTo(place);
  if (held) boxOf(held)?.focus();
  const svg = $("svg", canvas);
  if (fresh.length) say(`New: ${fresh.at(-1).getAttribute("aria-label")}`);
  const isReading = drawer.contains(document.activeElement) && document.activeElement !== drawer;
  if (!isReading && selected) await open(selected === oldTip ? svg.dataset.tip : selected);
}

function changed(data) {
  if (!run || data.runId === run || data.runId === undefined) refresh();
}
follow({ session_id: session }, { RailsRunChanged: changed, RailsSessionChanged: changed }, { onReconnect: refresh });
