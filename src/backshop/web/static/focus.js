// The focus is never lost: when the element that had it goes away, it lands beside where that was (U9.3).
//
// In the same element made anew, else in the neighbour of its row or card, else on the heading of the nearest part
// that is still there. What was only switched off or hidden for a while gets it back.
const ROW = "li, tr, article, .card";
const HEADINGS = "h1, h2, h3";
const REACHABLE = "a[href], button:not(:disabled), summary, input:not([type=hidden], :disabled), select, textarea";

let held = null; // what had the focus, where it stood and what stood beside it
let hidden = null; // what had it and is not to be seen now, and where the focus stands meanwhile

document.addEventListener("focusin", ({ target }) => {
  const row = target.closest(ROW);
  held = { target, trail: trailOf(target), beside: [row?.nextElementSibling, row?.previousElementSibling].filter(Boolean), isOff: false };
});
function trailOf(element) {
  const found = [];
  for (let one = element; one && one !== document.body; one = one.parentElement) found.push(one);
  return found;
}
// A person who clicks beside everything has let go of it.
document.addEventListener("pointerdown", ({ target }) => { if (held && !target.closest(REACHABLE)) held = null; });

const isShown = (element) => element.isConnected && element.getClientRects().length > 0;
const sameNow = (element) => element.isConnected ? element : element.id ? document.getElementById(element.id) : null;

function land() {
  giveBack();
  if (!held || (document.activeElement && document.activeElement !== document.body)) return;
  const { target, trail, beside, isOff } = held;
  if (target.isConnected && target.disabled) return;
  if (target.isConnected && isShown(target)) { if (isOff) target.focus({ preventScroll: true }); return; }
  const place = placeFor(trail, beside);
  if (!place) return;
  if (!place.matches(REACHABLE)) place.tabIndex = -1;
  place.focus({ preventScroll: true });
  hidden = target.isConnected ? { target, stand: place } : null;
}
function giveBack() {
  if (!hidden || !isShown(hidden.target)) return;
  const isOurs = [document.body, hidden.stand].includes(document.activeElement);
  if (isOurs) hidden.target.focus({ preventScroll: true });
  hidden = null;
}
function placeFor([self, ...parents], beside) {
  const again = sameNow(self);
  if (again && again !== self && isShown(again)) return again;
  for (const one of beside) {
    const next = isShown(one) ? one.querySelector(REACHABLE) : null;
    if (next && isShown(next)) return next;
  }
  for (const one of parents) {
    const now = sameNow(one);
    if (!now || !isShown(now)) continue;
    const heading = [...now.querySelectorAll(HEADINGS)].find(isShown);
    if (heading) return heading;
  }
  return document.getElementById("main");
}

new MutationObserver(() => {
  if (held?.target.disabled) held.isOff = true;
  requestAnimationFrame(land);
}).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["hidden", "disabled"] });
