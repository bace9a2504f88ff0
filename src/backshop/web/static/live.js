// Pages made from facts are made again when those change.
// At once where nobody is typing or choosing, else on request, with a line that says so. The document hears `renewing` before it and `renewed` after.
import { $, $$, el, fragment, placeOf, say } from "./dom.js";
import { reach, unreachable } from "./rpc.js";

const PARTS = ["main", "side"];
const WAIT_MS = 60;

let queued = null;
export function renew() {
  queued ??= setTimeout(async () => {
    queued = null;
    if (isInUse()) offer();
    else await replace().catch(unreachable); // and the way back comes here again
  }, WAIT_MS);
}

// Whether something on the page would be lost: a dialog, a text, a choice.
function isInUse() {
  if ($("dialog[open]")) return true;
  return $$("#main input, #main textarea, #main select, #side input, #side textarea").some((one) => {
    if (one.type === "hidden") return false;
    if (one.tagName === "SELECT") return one.selectedIndex !== Math.max(0, [...one.options].findLastIndex((option) => option.defaultSelected));
    return one.type === "checkbox" || one.type === "radio" ? one.checked !== one.defaultChecked : one.value !== one.defaultValue;
  });
}

function offer(text = "This has changed elsewhere.", show = replace) {
  if ($("#outdated")) return;
  $("#main").prepend(el("p", { id: "outdated", class: "notice" }, text, " ", el("button", { type: "button", class: "small", onclick: show }, "Show it as it is now")));
  say(text);
}

// The whole page is another one now, its head and its dialogs too.
export function remake(text) {
  if (isInUse()) offer(text, () => location.reload());
  else location.reload();
}

// Whether what came is a page of another make: it needs scripts or styles that are not here.
function isAnother(fresh) {
  const has = new Set($$("link[rel=stylesheet], script[src]").map((one) => one.getAttribute("href") ?? one.getAttribute("src")));
  return $$("link[rel=stylesheet], script[src]", fresh).some((one) => !has.has(one.getAttribute("href") ?? one.getAttribute("src")));
}

async function replace() {
  const response = await reach(location.href, { headers: { accept: "text/html" } });
  const fresh = response.ok && new URL(response.url).pathname === location.pathname ? fragment(await response.text()) : null;
  if (!fresh || !$("#main", fresh) || isAnother(fresh)) { location.reload(); return; }
  document.dispatchEvent(new CustomEvent("renewing"));
  const held = placeOf(document.activeElement);
  const open = $$("#main details").map((one) => one.open);
  for (const id of PARTS) {
    const [now, then] = [$(`#${id}`), $(`#${id}`, fresh)];
    if (!now || !then) continue;
    const { scrollTop } = now;
    now.replaceChildren(...then.childNodes);
    now.scrollTop = scrollTop;
  }
  const details = $$("#main details");
  if (details.length === open.length) details.forEach((one, at) => { one.open = open[at]; });
  if (held) $(held)?.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent("renewed"));
}
