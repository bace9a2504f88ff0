// Two versions of a part scroll together (U8.5, U8.7): sheets by their cells, documents by the blocks that both have.
//
//   paired(scene, sight) — `sight` says from where to where a leaf is in sight; answers with {level(), follow(leaf)}; null where nothing scrolls on two sides.
import { $, $$ } from "./dom.js";

// What stands there in one leaf stands at the same height in the other: just above a change that is shown (stage.js).
const lineOf = (leaf, { top, bottom }) => Math.max(0, Math.min(top - leaf.getBoundingClientRect().top + (bottom - top) / 3 - 24, leaf.scrollTop));
const isShown = (one) => one.getClientRects().length > 0;

export function paired(scene, sight) {
  const leaves = $$(".leaf:not(.is-fitted)", scene);
  if (leaves.length < 2) return null;
  const isPaper = leaves[0].classList.contains("is-paper");
  const led = new WeakMap(); // where a leaf was put by the other one: that is no wish of its own

  // Both are as large as the larger one, so that neither ends before the other.
  function level() {
    const sheets = leaves.map((leaf) => leaf.firstElementChild);
    const places = leaves.map((leaf) => [leaf.scrollTop, leaf.scrollLeft]); // measuring them may move them
    for (const one of sheets) one.style.minWidth = one.style.minHeight = "";
    if (!leaves.every(isShown)) return;
    const [width, height] = ["scrollWidth", "scrollHeight"].map((side) => Math.max(...leaves.map((leaf) => leaf[side])));
    const missing = leaves.map((leaf) => [width - leaf.scrollWidth, height - leaf.scrollHeight]);
    for (const [at, one] of sheets.entries()) {
      const look = getComputedStyle(one);
      const zoom = Number(look.zoom) || 1;
      if (missing[at][0] > 0 && !isPaper) one.style.minWidth = `${parseFloat(look.width) + missing[at][0] / zoom}px`;
      if (missing[at][1] > 0) one.style.minHeight = `${parseFloat(look.height) + missing[at][1] / zoom}px`;
    }
    for (const [at, leaf] of leaves.entries()) [leaf.scrollTop, leaf.scrollLeft] = places[at];
  }
  function follow(leaf) {
    for (const other of leaves) {
      if (other === leaf || !leaves.every(isShown)) continue;
      const before = [other.scrollTop, other.scrollLeft];
      other.scrollTop = isPaper ? other.scrollTop + apart(leaf, other, lineOf(leaf, sight(leaf))) : leaf.scrollTop;
      if (!isPaper) other.scrollLeft = leaf.scrollLeft;
      if (before[0] !== other.scrollTop || before[1] !== other.scrollLeft) led.set(other, [other.scrollTop, other.scrollLeft]);
    }
  }
  for (const leaf of leaves) {
    leaf.addEventListener("scroll", () => {
      const [top, left] = led.get(leaf) ?? [];
      led.delete(leaf);
      if (top !== leaf.scrollTop || left !== leaf.scrollLeft) follow(leaf);
    }, { passive: true });
  }
  new ResizeObserver(level).observe(scene);
  return { level, follow };
}

// The blocks that both sides have, by a number that is the same on both: where each begins and ends in its leaf.
function blocks(leaf) {
  const own = (leaf.dataset.own ?? "").split(" ").filter(Boolean).map(Number);
  const top = leaf.getBoundingClientRect().top;
  const found = new Map();
  for (const part of $(".paper", leaf).children) {
    const place = (part.matches("[data-place]") ? part : $("[data-place]", part))?.dataset.place;
    const number = Number(/\d+/.exec(place ?? "")?.[0] ?? NaN);
    if (Number.isNaN(number) || own.includes(number) || part.matches(".paper-aside")) continue;
    const box = part.getBoundingClientRect();
    found.set(number - own.filter((one) => one < number).length, [box.top - top, box.bottom - top]);
  }
  return found;
}

// How far the other leaf is from where this one is, in pixels.
function apart(leaf, other, line) {
  const [here, there] = [blocks(leaf), blocks(other)];
  let from = [-leaf.scrollTop, -other.scrollTop];
  let to = [leaf.scrollHeight - leaf.scrollTop, other.scrollHeight - other.scrollTop];
  for (const [number, ends] of here) {
    const others = there.get(number);
    for (const at of others ? [0, 1] : []) {
      if (ends[at] <= line) from = [ends[at], others[at]];
      else { to = [ends[at], others[at]]; break; }
    }
    if (others && ends[1] > line) break;
  }
  const share = to[0] > from[0] ? (line - from[0]) / (to[0] - from[0]) : 0;
  return from[1] + share * (to[1] - from[1]) - line;
}
