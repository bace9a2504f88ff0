// Follow `/events` (S5.2). The page says from where; EventSource comes back with Last-Event-ID.
//
//   follow({ workbench_id }, { DraftStateChanged: (data) => … }, { after: position, onCatchUp });
//
// A hidden page lets its connection go after a while (a browser has few per host) and catches up
// by position when it is looked at again.
import { $ } from "./dom.js";

const HIDDEN_MS = 60_000;
const SHOW_AFTER_MS = 2000;

export function follow(about, handlers, { after = document.body.dataset.position, onReconnect } = {}) {
  let last = after;
  let source = null;
  let lost = null;
  let hidden = null;

  const connect = () => {
    const query = new URLSearchParams({ ...about, ...(last ? { after: last } : {}) });
    source = new EventSource(`/events?${query}`);
    source.onopen = () => { steady(); if (connect.again) onReconnect?.(); connect.again = true; };
    source.onerror = () => {
      lost ??= setTimeout(() => { $("#connection").hidden = false; }, SHOW_AFTER_MS);
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 1000);
    };
    for (const [name, handler] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => {
        if (event.lastEventId) last = event.lastEventId;
        handler(JSON.parse(event.data));
      });
    }
  };
  const steady = () => {
    clearTimeout(lost);
    lost = null;
    $("#connection").hidden = true;
    document.documentElement.dataset.live = "yes";
  };

  document.addEventListener("visibilitychange", () => {
    clearTimeout(hidden);
    if (document.hidden) hidden = setTimeout(() => { source.close(); source = null; }, HIDDEN_MS);
    else if (source === null) connect();
  });
  addEventListener("pagehide", () => source?.close());
  connect();
  return () => source?.close();
}
