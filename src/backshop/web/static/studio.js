// The list of sessions: stays true while agents work; a bundle can be picked as a file.
import { $, loadInto, on } from "./dom.js";
import { follow } from "./events.js";

let queued = null;
function refresh() {
  queued ??= setTimeout(async () => {
    queued = null;
    const list = $("#sessions");
    const held = document.activeElement?.closest("#sessions")?.querySelector("a:focus")?.getAttribute("href");
    await loadInto(list, `/studio/list?${list.dataset.query}`);
    if (held) $(`#sessions a[href="${CSS.escape(held)}"]`)?.focus();
  }, 300);
}
follow({}, { RailsRunChanged: refresh, RailsSessionChanged: refresh, AccessChanged: refresh }, { onReconnect: refresh });

on(document, "change", "#bundle-file", async (_, picker) => {
  const [file] = picker.files;
  if (file) $("#bundle").value = await file.text();
});
