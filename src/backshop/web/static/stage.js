// The picture of a document (U8): fetched into its frame, its outlines linked with the list and the comments.
//
//   stage(root, { onMove }) — `root` has the address of the picture in `data-stage`; answers with
//   {ready, go(number), goRemark(number), show(query), again()}.
import { $, $$, el, errorBox, fragment, load, on, say, skeleton } from "./dom.js";
import { dress } from "./document.js";
import { faces } from "./faces.js";
import { reach } from "./rpc.js";

const SIDES = "picture-sides"; // which versions somebody looks at, kept for the next file
const PARTS = { page: 1, grid: 72, text: 14 }; // of the skeleton of each shape
const isNarrow = () => matchMedia("(max-width: 900px)").matches;

export function stage(root, { onMove = () => {} } = {}) {
  const place = new URL(root.dataset.stage, location.href).pathname;
  const shape = $(".skeleton", root)?.className.split(" ")[1]?.replace("-shape", "") ?? "page";
  let asked = 0;
  let shown = new URL(root.dataset.stage, location.href).search.slice(1); // what of it is in sight

  // A part of the picture by what stands behind the question mark of its address; the frame shows at once.
  async function show(query) {
    const turn = (asked += 1);
    shown = query;
    const before = root.offsetHeight;
    const waiting = el("div", { class: "stage-waiting" }, skeleton(shape, PARTS[shape]));
    if (before) waiting.style.minHeight = `${Math.min(before, 720)}px`;
    root.replaceChildren(waiting);
    const made = await load(`${place}?${query}`).catch((error) => {
      if (!error.envelope) throw error;
      return el("div", { class: "drawn-fault" }, errorBox(error.envelope));
    });
    if (turn !== asked) return;
    root.replaceChildren(made);
    await begin(query);
  }
  // The same part once more, with what was said of it since; what is in sight stays there meanwhile.
  async function quietly(query) {
    const turn = (asked += 1);
    const made = await load(`${place}?${query}`);
    if (turn !== asked) return;
    for (const [at, one] of $$(".outlines", made).entries()) $$(".outlines", root)[at]?.replaceWith(one);
    for (const [at, one] of $$(".leaf.is-paper", made).entries()) $$(".leaf.is-paper", root)[at]?.replaceChildren(...one.childNodes);
    dress(root);
  }
  async function begin(query = "") {
    faces();
    dress(root);
    for (const one of $$("[data-show], [data-remark], .stage-sides", root)) one.hidden = false;
    choose(isNarrow() ? localStorage.getItem(SIDES) ?? "after" : localStorage.getItem(SIDES) ?? "both");
    for (const pair of $$(".is-pair", root)) together($$(".leaf:not(.is-paper)", pair));
    await Promise.all($$("[data-svg]", root).map(draw));
    const remark = new URLSearchParams(query).get("remark");
    if (remark) goRemark(remark);
    else if (!$(".at-place", root)) reveal($$("[data-outline]", root), { isQuiet: true });
  }

  // ------------------------------------------------------------ drawings
  async function draw(box) {
    try {
      const response = await reach(box.dataset.svg, { headers: { accept: "image/svg+xml" } });
      if (!response.ok) throw new Error(`status ${response.status}`);
      const made = fragment(await response.text());
      const svg = $("svg", made);
      svg.classList.add("drawing");
      box.prepend(svg);
    } catch (error) {
      box.append(el("p", { class: "drawn-fault over" }, "This picture could not be fetched. Reload the page to try again."));
      if (!error.envelope && !/^status/.test(error.message)) throw error;
    } finally { box.classList.remove("is-waiting"); }
  }
  // Two versions of one sheet scroll together.
  function together(boxes) {
    if (boxes.length < 2) return;
    const led = new WeakMap(); // where a box was put by the other one: that is no wish of its own
    for (const box of boxes) {
      box.addEventListener("scroll", () => {
        const [top, left] = led.get(box) ?? [];
        led.delete(box);
        if (top === box.scrollTop && left === box.scrollLeft) return;
        for (const other of boxes) {
          if (other === box) continue;
          const before = [other.scrollTop, other.scrollLeft];
          other.scrollTop = box.scrollTop;
          other.scrollLeft = box.scrollLeft;
          if (before[0] !== other.scrollTop || before[1] !== other.scrollLeft) led.set(other, [other.scrollTop, other.scrollLeft]);
        }
      }, { passive: true });
    }
  }
  function choose(which) {
    const desk = $(".desk", root);
    if (!desk) return;
    desk.dataset.sides = which;
    for (const one of $$("[data-sides][aria-pressed]", root)) one.setAttribute("aria-pressed", String(one.dataset.sides === which));
  }

  // ------------------------------------------------------------ outline, entry, comment
  const outlines = (number) => $$(`[data-outline="${number}"]`, root);
  const isShown = (one) => one.getClientRects().length > 0;
  function unmark() { for (const one of $$(".at-place", root)) one.classList.remove("at-place"); }
  // Whether one has to scroll: it begins out of sight, or ends there and would fit. A whole row never fits.
  const isAway = (begin, end, first, last) => begin < first || begin > last - 24 || (end > last && end - begin < last - first - 48);
  // Scroll the boxes of a picture to outlines, not the page away from what is read.
  function reveal(found, { isQuiet = false } = {}) {
    const seen = new Set();
    for (const one of found) {
      const leaf = one.closest(".leaf");
      if (!leaf || seen.has(leaf) || !isShown(one)) continue;
      seen.add(leaf);
      const box = leaf.getBoundingClientRect();
      const at = one.getBoundingClientRect();
      if (isAway(at.top, at.bottom, box.top, box.bottom)) leaf.scrollTop += at.top - box.top - Math.max(24, (box.height - at.height) / 3);
      if (isAway(at.left, at.right, box.left, box.right)) leaf.scrollLeft += at.left - box.left - Math.max(40, (box.width - at.width) / 3);
    }
    if (!isQuiet) found.filter(isShown).at(-1)?.closest(".panel-side")?.scrollIntoView({ block: "nearest" });
  }
  function go(number, { isFromPicture = false } = {}) {
    unmark();
    const entry = $(`#entry-${number}`, root);
    const found = outlines(number);
    for (const one of [entry, ...found]) one?.classList.add("at-place");
    if (!isFromPicture) reveal(found);
    if (isFromPicture && entry) { entry.scrollIntoView({ block: "nearest" }); entry.focus({ preventScroll: true }); }
    return Boolean(entry);
  }
  function goRemark(number) {
    unmark();
    const found = $$(`[data-remark-at="${number}"]`, root);
    for (const one of found) one.classList.add("at-place");
    reveal(found);
    if (found.length) say(`comment ${number} in the picture`);
    return found.length > 0;
  }

  on(root, "click", "a[data-stage-link]", (event, link) => {
    event.preventDefault();
    const query = new URL(link.href).searchParams;
    query.delete("still");
    onMove(query);
    for (const one of $$("[data-stage-link]", root)) one.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    show(query.toString());
  });
  on(root, "click", "[data-sides][aria-pressed]", (_, button) => { localStorage.setItem(SIDES, button.dataset.sides); choose(button.dataset.sides); });
  on(root, "click", "[data-show]", (_, button) => go(button.dataset.show));
  on(root, "click", "a[href^='#entry-']", (event, link) => { event.preventDefault(); go(link.getAttribute("href").slice(7), { isFromPicture: true }); });
  on(root, "click", "a[href^='#comment-']", (event, link) => {
    const comment = $(link.getAttribute("href")); // of a link in a drawing, which has no hash
    if (!comment) return;
    event.preventDefault();
    comment.scrollIntoView({ block: "center" });
    comment.tabIndex = -1;
    comment.focus({ preventScroll: true });
  });
  on(root, "click", ".entry", (event, entry) => { if (!event.target.closest("button, a")) go(entry.dataset.entry); });
  const query = new URL(root.dataset.stage, location.href).search.slice(1);
  const ready = $(".desk", root) ? begin(query) : show(query);
  return { ready, go, goRemark, show, again: () => quietly(shown) };
}
