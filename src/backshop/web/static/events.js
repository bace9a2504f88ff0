// Follow `/events` (S5.2). The page says from where; EventSource comes back with Last-Event-ID.
//
//   follow({ workbench_id }, { DraftStateChanged: (data) => … }, { after: position, onCatchUp });
//
// A browser has few connections per host, and pages opened beside each other are many: a page takes
// its connection when it is looked at, lets it go soon after it was hidden, and catches up by
// position when it is looked at again.
import { $, $$ } from "./dom.js";
import { remake } from "./live.js";
import { knock, reach, unreachable } from "./rpc.js";

const HIDDEN_MS = 5000;
const SHOW_AFTER_MS = 2000;

export function follow(about, handlers, { after = document.body.dataset.position, onReconnect } = {}) {
  let last = after;
  let source = null;
  let lost = null;
  let hidden = null;

  const connect = () => {
    const query = new URLSearchParams({ ...about, ...(last ? { after: last } : {}) });
    source = new EventSource(`/events?${query}`);
    source.onopen = () => { steady(); if (connect.again) Promise.resolve(onReconnect?.()).catch(unreachable); connect.again = true; };
    source.onerror = () => {
      lost ??= setTimeout(() => { $("#connection").hidden = false; }, SHOW_AFTER_MS);
      if (source.readyState === EventSource.CLOSED) setTimeout(again, 1000);
    };
    if (Object.keys(about).length) source.addEventListener("AccessChanged", ({ data }) => {
      const { user_id, role } = JSON.parse(data);
      if (role === "none") leave();
      else if (user_id === document.body.dataset.visitor) remake("What you may do here has changed.");
    });
    for (const [name, handler] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => {
        if (event.lastEventId) last = event.lastEventId;
        Promise.resolve(handler(JSON.parse(event.data))).catch(unreachable);
      });
    }
  };
  // The server answered something else than events: it starts, or it does not know us any more.
  const again = async () => { await knock(); await leave(); if (!document.hidden) connect(); };
  // Access was taken: nothing of it stays on the screen, and the server says why.
  const leave = async () => {
    const isRefused = (await reach(location.href, { method: "HEAD" }).catch(unreachable))?.status === 403;
    if (isRefused) { document.body.replaceChildren(); location.reload(); }
  };
  const steady = () => {
    clearTimeout(lost);
    lost = null;
    $("#connection").hidden = true;
    const refusals = $$(".error[data-gone]");
    if (refusals.length) import("./back.js").then(({ isBack }) => isBack(refusals)).catch(() => {}); // gone once more
    document.documentElement.dataset.live = "yes";
  };

  document.addEventListener("visibilitychange", () => {
    clearTimeout(hidden);
    if (document.hidden) hidden = setTimeout(() => { source?.close(); source = null; }, HIDDEN_MS);
    else if (source === null || source.readyState === EventSource.CLOSED) connect();
  });
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); }); // from the cache of the back button: as old as it looks
  if (!document.hidden) connect();
  return () => source?.close();
}
