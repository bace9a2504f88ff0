// The picture of a document (U8): fetched into its frame, its outlines linked with the list and the comments.
//
//   stage(root, { onMove }) — `root` has the address of the picture in `data-stage`; answers with
//   {ready, go(number), goRemark(number), show(query), again()}.
import { $, $$, el, errorBox, fragment, load, on, say, skeleton } from "./dom.js";
import { dress } from "./document.js";
import { faces } from "./faces.js";
import { reach } from "./rpc.js";

const SIDES = "picture-sides"; // which versions somebody looks at, kept for the next file
const LEAST = 72; // pixels of a leaf that count as in sight, also where the window ends above it
const PARTS = { page: 1, grid: 72, text: 14 }; // of the skeleton of each shape
// How much of a leaf what stays in sight covers, at the top and at the left, in pixels of the screen.
const away = (leaf) => { const box = $(".frozen.is-corner", leaf)?.getBoundingClientRect(); return { top: box?.height ?? 0, left: box?.width ?? 0 }; };
// From where to where a leaf is in sight: between its own edges, those of the window and the bars in that (U4.41).
const sight = (leaf) => {
  const box = leaf.getBoundingClientRect();
  const bars = $$(".keys, .review-acts").map((one) => one.getBoundingClientRect()).filter((one) => one.height && one.bottom > innerHeight - 2);
  const top = Math.min(Math.max(box.top, leaf.closest("main")?.getBoundingClientRect().top ?? 0), box.bottom - LEAST);
  return { top, bottom: Math.max(Math.min(box.bottom, innerHeight, ...bars.map((one) => one.top)), top + LEAST) };
};
// Signs find their places, frozen cells stay: their scripts come with the first picture that has any.
const settle = async (box) => { if ($(".sign-box", box)) (await import("./signs.js")).settle(box); };
const freeze = async (box) => { if (box.dataset.kept) await (await import("./frozen.js")).freeze(box); };
const isNarrow = () => matchMedia("(max-width: 900px)").matches;

export function stage(root, { onMove = () => {} } = {}) {
  const place = new URL(root.dataset.stage, location.href).pathname;
  const shape = $(".skeleton", root)?.className.split(" ")[1]?.replace("-shape", "") ?? "page";
  const pairs = new Map(); // scenes of which two versions scroll, and how they follow one another
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
    for (const [at, one] of $$(".outlines", made).entries()) {
      const old = $$(".outlines", root)[at];
      if (!old) continue;
      one.id = old.id; // layers of frozen cells show it too
      one.style.margin = old.style.margin;
      old.replaceWith(one);
      settle(one.closest(".drawn"));
    }
    for (const [at, one] of $$(".leaf.is-paper", made).entries()) $$(".leaf.is-paper", root)[at]?.replaceChildren(...one.childNodes);
    dress(root);
  }
  async function begin(query = "") {
    faces();
    dress(root);
    for (const one of $$("[data-show], [data-remark], .stage-sides", root)) one.hidden = false;
    const tab = $(".stage-tabs [aria-current]", root);
    if (tab) tab.parentElement.scrollLeft = tab.offsetLeft + tab.offsetWidth / 2 - tab.parentElement.clientWidth / 2; // in sight where there are many
    choose(isNarrow() ? localStorage.getItem(SIDES) ?? "after" : localStorage.getItem(SIDES) ?? "both");
    await Promise.all([...$$("[data-svg]", root).map(draw), ...$$("[data-texts]", root).map(settle)]);
    await join();
    const remark = new URLSearchParams(query).get("remark");
    const here = $$(".outlines .here", root);
    if (remark) goRemark(remark);
    else if (here.length) { reveal(here, { isQuiet: true }); say(`${new URLSearchParams(query).get("cell")} in sight`); }
    else if (!$(".at-place", root)) reveal(outlines(Math.min(...$$("[data-outline]", root).filter(isShown).map((one) => Number(one.dataset.outline)))), { isQuiet: true });
  }
  // Two versions of one part scroll together; the script for it comes with the first pair.
  async function join() {
    pairs.clear();
    const scenes = $$(".is-pair", root);
    if (!scenes.length) return;
    const { paired } = await import("./pair.js");
    for (const scene of scenes) {
      const made = paired(scene, sight);
      if (made) pairs.set(scene, made);
      made?.level();
    }
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
      await freeze(box);
      await settle(box);
    } catch (error) {
      box.append(el("p", { class: "drawn-fault over" }, "This picture could not be fetched. Reload the page to try again."));
      if (!error.envelope && !/^status/.test(error.message)) throw error;
    } finally { box.classList.remove("is-waiting"); }
  }
  function choose(which) {
    const desk = $(".desk", root);
    if (!desk) return;
    const leads = [...pairs.keys()].map((scene) => $$(".leaf", scene).filter(isShown).at(-1));
    desk.dataset.sides = which;
    for (const [at, made] of [...pairs.values()].entries()) { made.level(); if (leads[at]) made.follow(leads[at]); }
    for (const box of $$(".drawn", desk)) settle(box);
    for (const one of $$("[data-sides][aria-pressed]", root)) one.setAttribute("aria-pressed", String(one.dataset.sides === which));
  }

  // ------------------------------------------------------------ outline, entry, comment
  const outlines = (number) => $$(`[data-outline="${number}"]`, root);
  const isShown = (one) => one.getClientRects().length > 0;
  function unmark() { for (const one of $$(".at-place", root)) one.classList.remove("at-place"); }
  // Whether one has to scroll: it begins out of sight, or ends there and would fit. A whole row never fits.
  const isAway = (begin, end, first, last) => begin < first || begin > last - 24 || (end > last && end - begin < last - first - 48);
  // What stands at the end of a box that ends below the window needs room after it.
  function scrollTo(leaf, top) {
    const missing = top + leaf.clientHeight - leaf.scrollHeight;
    const scene = leaf.closest(".scene:has(.leaf:not(.is-fitted))");
    if (missing > 0 && scene) scene.style.setProperty("--rest", `${missing + (parseFloat(scene.style.getPropertyValue("--rest")) || 0)}px`);
    leaf.scrollTop = top;
  }
  // Scroll the boxes of a picture to outlines, to where the window shows them; the page itself only as far as the picture.
  function reveal(found, { isQuiet = false } = {}) {
    if (!isQuiet) found.filter(isShown).at(-1)?.closest(".panel-side")?.scrollIntoView({ block: "nearest" });
    const leads = new Map(); // of two that scroll together the later version leads
    for (const one of found.filter(isShown)) {
      const leaf = one.closest(".leaf");
      const scene = leaf?.closest(".is-pair");
      const key = pairs.has(scene) ? scene : leaf;
      if (leaf && leads.get(key)?.closest(".leaf") !== leaf) leads.set(key, one);
    }
    for (const [key, one] of leads) {
      const leaf = one.closest(".leaf");
      const was = [leaf.scrollTop, leaf.scrollLeft];
      const box = { ...leaf.getBoundingClientRect().toJSON(), ...sight(leaf) };
      const whole = leaf.firstElementChild.getBoundingClientRect();
      const at = one.getBoundingClientRect();
      const kept = away(leaf); // frozen cells cover what scrolls below them, and are always in sight themselves
      const [top, left] = [box.top + kept.top, box.left + kept.left];
      const room = box.right - left;
      const isLone = pairs.has(key) && found.every((other) => !isShown(other) || leaf.contains(other)); // the other version has only what stands beside it
      if (at.top - whole.top >= kept.top - 1 && isAway(at.top, at.bottom, top, box.bottom)) scrollTo(leaf, leaf.scrollTop + at.top - top - Math.max(24, (box.bottom - top - (leaf.matches(".is-paper") ? 0 : at.height)) / 3));
      if (at.left - whole.left >= kept.left - 1 && isAway(at.left, at.right, left, box.right)) leaf.scrollLeft += at.left - left - Math.max(40, room - at.width - 24, isLone ? room * 2 / 3 : 0); // what stands before it is seen with it
      if (leaf.scrollTop !== was[0] || leaf.scrollLeft !== was[1]) pairs.get(key)?.follow(leaf);
    }
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
  on(root, "submit", "[data-go-to]", async (event, form) => {
    event.preventDefault();
    const query = new URLSearchParams(new FormData(form));
    query.delete("still");
    onMove(query);
    await show(query.toString());
    $("#go-to-cell", root)?.focus();
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
