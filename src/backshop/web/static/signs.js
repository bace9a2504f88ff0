// Where the signs of outlines stand (U8.12): beside what is written, where there is room for it.
//
//   settle(box) — moves each sign of a drawing to the first place around its outline where it covers no text and
//   no other sign, else to the one where it covers least.
import { $, $$ } from "./dom.js";

const cut = (one, other) => Math.max(0, Math.min(one.right, other.right) - Math.max(one.left, other.left)) * Math.max(0, Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top));

export function settle(box) {
  const drawing = $(".drawing", box);
  const outlines = $(".outlines", box);
  const frame = outlines?.getBoundingClientRect();
  if (!drawing || !frame?.width || !$(".sign-box", outlines)) return;
  const scale = frame.width / outlines.viewBox.baseVal.width;
  const taken = box.dataset.texts ? JSON.parse(box.dataset.texts).map((one) => laid(one, frame, scale)) : $$("text", drawing).map((one) => one.getBoundingClientRect());
  const { head_x = 0, head_y = 0 } = JSON.parse(box.dataset.kept ?? "{}"); // letters and numbers of the lines of a sheet
  const head = frame.top + head_y * scale;
  if (head_y) taken.push({ left: frame.left, right: frame.right, top: frame.top, bottom: head }, { left: frame.left, right: frame.left + head_x * scale, top: frame.top, bottom: frame.bottom });
  const seen = (box.closest(".leaf") ?? box).clientWidth - head_x * scale;
  for (const ring of $$("a.ring", outlines)) {
    const sign = $("g", ring);
    sign.removeAttribute("transform");
    const around = $(".around", ring).getBoundingClientRect();
    const from = $(".sign-box", sign).getBoundingClientRect();
    const near = taken.filter((one) => cut(grown(around, from), one) > 0);
    let best = null;
    const room = around.width > seen ? seen : 0; // what is wider than the box has its sign where it begins
    for (const [left, top] of places(around, from, ring.classList.contains("remark"), around.top - from.height < head, room)) {
      const place = { left, top, right: left + from.width, bottom: top + from.height };
      if (place.left < frame.left || place.top < frame.top || place.right > frame.right || place.bottom > frame.bottom) continue;
      const covered = near.reduce((sum, one) => sum + cut(place, one), 0);
      if (!best || covered < best.covered) best = { place, covered };
      if (!covered) break;
    }
    if (!best) continue;
    sign.setAttribute("transform", `translate(${((best.place.left - from.left) / scale).toFixed(1)} ${((best.place.top - from.top) / scale).toFixed(1)})`);
    taken.push(best.place);
  }
}
// Where a rectangle of the picture is on the screen: LibreOffice's page has no letters of its own.
const laid = ([x, y, width, height], { left, top }, scale) => ({ left: left + x * scale, top: top + y * scale, right: left + (x + width) * scale, bottom: top + (y + height) * scale });
const grown = (one, by) => ({ left: one.left - by.width - 2, right: one.right + by.width + 2, top: one.top - by.height - 2, bottom: one.bottom + by.height + 2 });
// Above the outline, also further along where only a part of it is seen, beside it, below it, then inside along its edges; right below the head of a sheet first inside.
function places(around, { width, height }, isRight, isBelowHead, room) {
  const [left, right] = [around.left, around.right - width];
  const [first, last] = isRight ? [right, left] : [left, right];
  const [above, below] = [around.top - height, around.bottom];
  const middle = (around.top + around.bottom - height) / 2;
  const beside = isRight ? [[around.right, middle], [around.left - width, middle]] : [[around.left - width, middle], [around.right, middle]];
  const along = Array.from({ length: Math.max(0, Math.floor((room - width) / 8)) }, (_, at) => around.left + 8 * (at + 1));
  const inside = [[last, around.top], [first, around.top]];
  const outside = [[first, above], ...[above, middle, below].flatMap((top) => along.map((at) => [at, top])), ...beside, [last, above], [first, below], [last, below]];
  return [...(isBelowHead ? [...inside, ...outside] : [...outside, ...inside]), [right, below - height], [left, below - height]];
}
