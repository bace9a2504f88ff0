// What of a sheet stays in sight while its picture scrolls (U8.10): heads, frozen rows and columns.
//
//   freeze(box) — `box` has a drawing, its outlines, and in `data-kept` how far what stays reaches. The layers
//   show the drawing and its outlines once more; a click on one is a click on what it shows.
import { $, $$, el, fragment } from "./dom.js";
import { reach } from "./rpc.js";

const SVG = "http://www.w3.org/2000/svg";
const MOST = 0.6; // of the box: what takes more room does not stay, or there were none left to scroll
let made = 0;

const svg = (tag, props = {}, ...children) => {
  const one = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) one.setAttribute(name, value);
  one.append(...children);
  return one;
};
const named = (one) => { one.id ||= `drawn-${(made += 1)}`; return `#${one.id}`; };

export async function freeze(box) {
  const kept = box.dataset.kept ? JSON.parse(box.dataset.kept) : null;
  const drawing = $(".drawing", box);
  const outlines = $(".outlines", box);
  if (!kept || !drawing) return;
  const leaf = box.closest(".leaf");
  const pieces = kept.pieces;
  const [wide, tall] = ["width", "height"].map((name) => Number(drawing.getAttribute(name)));
  let { x, y } = kept;
  let [moreX, moreY] = [pieces.columns?.width ?? 0, pieces.rows?.height ?? 0]; // frozen cells of other windows stand before this one
  const isRoomy = (size, whole) => size <= MOST * whole;
  if (!isRoomy(y + moreY, Math.min(leaf.clientHeight || Infinity, innerHeight * 0.72))) { y = kept.head_y; moreY = 0; }
  if (!isRoomy(x + moreX, leaf.clientWidth || innerWidth)) { x = kept.head_x; moreX = 0; }
  const shown = await fetched(box, pieces, { rows: moreY, columns: moreX, corner: moreX && moreY });
  for (const one of [drawing, outlines]) { one.style.marginTop = `${moreY}px`; one.style.marginLeft = `${moreX}px`; }
  const main = { refs: [named(drawing), named(outlines)] };
  const other = (name) => ({ refs: [shown[name]], ...pieces[name] });
  // Each part: of which drawing, from where in it, how large, and where in the layer it stands.
  const heads = { of: main, from: [0, 0], size: [wide, y], at: [moreX, 0] };
  const side = { of: main, from: [0, 0], size: [x, tall], at: [0, moreY] };
  const top = [heads];
  const left = [side];
  const corner = [{ of: main, from: [0, 0], size: [x, y], at: [0, 0] }];
  if (moreY) {
    const rows = other("rows");
    heads.size[1] = kept.head_y;
    top.push({ of: rows, from: [rows.x, rows.y], size: [wide - kept.head_x, moreY], at: [moreX + kept.head_x, kept.head_y] });
    corner[0].size[1] = kept.head_y;
    corner.push({ of: rows, from: [0, rows.y], size: [rows.x, moreY], at: [kept.head_x - rows.x, kept.head_y] });
    if (!moreX) corner.push({ of: rows, from: [rows.x, rows.y], size: [x - kept.head_x, moreY], at: [kept.head_x, kept.head_y] });
  }
  if (moreX) {
    const columns = other("columns");
    side.size[0] = kept.head_x;
    left.push({ of: columns, from: [columns.x, columns.y], size: [moreX, tall - kept.head_y], at: [kept.head_x, moreY + kept.head_y] });
    corner[0].size[0] = kept.head_x;
    corner.push({ of: columns, from: [columns.x, 0], size: [moreX, columns.y], at: [kept.head_x, 0] });
    if (!moreY) corner.push({ of: columns, from: [columns.x, columns.y], size: [moreX, y - kept.head_y], at: [kept.head_x, kept.head_y] });
  }
  if (moreX && moreY) {
    const both = other("corner");
    corner.push({ of: both, from: [both.x, both.y], size: [moreX, moreY], at: [kept.head_x, kept.head_y] });
  }
  const across = x + moreX;
  const down = y + moreY;
  box.append(layer("is-top", wide + moreX, down, top, outlines), layer("is-left", across, tall + moreY, left, outlines), layer("is-corner", across, down, corner, outlines, kept.head_x));
  leaf.style.scrollPadding = `${down + 4}px 4px 4px ${across + 4}px`;
}

// The drawings of frozen cells that the window itself does not have, kept where nobody sees them.
async function fetched(box, pieces, wanted) {
  const found = {};
  const store = svg("svg", { class: "frozen-store", width: 0, height: 0, "aria-hidden": "true" });
  await Promise.all(Object.entries(pieces).map(async ([name, { address }]) => {
    if (!wanted[name]) return;
    const response = await reach(address, { headers: { accept: "image/svg+xml" } });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const one = $("svg", fragment(await response.text()));
    found[name] = named(one);
    store.append(svg("defs", {}, one));
  }));
  box.append(store);
  return found;
}

function layer(name, width, height, parts, outlines, head = 0) {
  const copy = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, svg("rect", { class: "frozen-ground", width, height }), ...(head ? [svg("rect", { class: "frozen-head", width: head, height })] : []),
    ...parts.map(({ of, from, size, at }) => svg("svg", { x: at[0], y: at[1], width: Math.max(0, size[0]), height: Math.max(0, size[1]), viewBox: [...from, ...size.map((one) => Math.max(one, 0.01))].join(" ") },
      ...of.refs.map((ref) => svg("use", { href: ref })))));
  // The outlines of the copy are no further stops for Tab, and nothing anybody hears: those they show are.
  const shown = el("div", { class: `frozen ${name}`, "aria-hidden": "true" }, el("div", { inert: true }, copy));
  shown.addEventListener("click", (event) => {
    const box = shown.getBoundingClientRect();
    const point = [(event.clientX - box.left) / box.width * width, (event.clientY - box.top) / box.height * height];
    const part = parts.find(({ of, size, at }) => of.refs.length > 1 && point.every((one, way) => one >= at[way] && one < at[way] + size[way]));
    if (!part) return;
    const place = point.map((one, way) => one - part.at[way] + part.from[way]);
    const ring = $$("a.ring", outlines).reverse().find((one) => holds($(".around", one), place));
    ring?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
  });
  return shown;
}
function holds(around, [x, y]) {
  const [left, top, width, height] = ["x", "y", "width", "height"].map((name) => Number(around.getAttribute(name)));
  return x >= left && x <= left + width && y >= top && y <= top + height;
}
