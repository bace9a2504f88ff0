// What is asked before a conversation or what is Published goes back; the page fetches it on its first use.
import { $, ask, el } from "./dom.js";
import { call } from "./rpc.js";
import { preview } from "./proof.js";

const DRAFT_WORDS = {
  none: null,
  keep: "The Draft stays as it is.",
  restore: "The Draft goes back to what it was at this point.",
  discard: "The Draft goes: it was made after this point.",
};
const MODES = {
  chat_only: ["Only the conversation", "All files stay as they are now."],
  discard_draft: ["Conversation, and discard the Draft", "Published stays as it is now."],
  restore_published: ["Conversation and Published files", "Published goes back to that time; the version of now stays in the History."],
};

// What going back does to the files: the words of one way, which is what its button does.
function consequences({ effects, changed = [] }) {
  const shown = new Set(changed.map((one) => one.path));
  const lost = (effects.files_lost ?? []).filter((path) => !shown.has(path)); // those are listed with their sign
  return [
    DRAFT_WORDS[effects.draft] ? el("p", {}, DRAFT_WORDS[effects.draft]) : null,
    lost.length ? el("div", {}, el("p", {}, `These files go away again (${lost.length}):`), el("ul", { class: "scope" }, lost.slice(0, 50).map((path) => el("li", {}, path))), lost.length > 50 ? el("p", { class: "hint" }, `and ${lost.length - 50} more`) : null) : null,
    preview(changed),
  ].filter(Boolean);
}
export const setAside = ({ discarded_count: count }) => el("p", {}, !count ? "Nothing was said after this, so nothing is set aside." : `${count} later ${count === 1 ? "message is" : "messages are"} set aside. Until you send the next message this can be undone.`);

// Ask how to go back: one plain way, or where files were published since, each way with what it does.
export async function askWay(here, title, message_id, first, label) {
  const tell = (mode) => call("WorkshopUndoToMessage", { ...here, message_id, dry_run: true, ...(mode ? { mode } : {}) });
  const found = await tell(null);
  const choices = found.effects.choices ?? [];
  if (!choices.length) {
    return ask(title, [...first(found.effects), ...consequences(found)], [{ label, value: "plain", tone: "primary" }, { label: "Cancel", value: null }]);
  }
  const ways = await Promise.all(choices.map(async (mode) => [mode, await tell(mode)]));
  return ask(title, [
    ...first(found.effects),
    found.effects.published_changed ? el("p", {}, "Files were published or restored since then. What shall go back?") : el("p", {}, "The Draft of that point is not kept any more. What shall go back?"),
    ...ways.map(([mode, told]) => el("section", { class: "way" }, el("h3", {}, MODES[mode]?.[0] ?? mode), el("p", {}, MODES[mode]?.[1] ?? ""), mode === "restore_published" && $("#folder-bar .folder-bar") ? el("p", {}, "The files in your folder stay as they are; “Write into the folder” brings them there afterwards.") : null, ...(mode === "chat_only" ? [] : consequences(told)))),
  ], [...ways.map(([mode]) => ({ label: MODES[mode]?.[0] ?? mode, value: mode, tone: mode === "chat_only" ? "primary" : "" })), { label: "Cancel", value: null }]);
}

// Whether the person's own folder gets the files too: so unless somebody else changed one of them there (B23.19).
export async function folderBox(here, { changed = [], folder_behind: behind = 0 }) {
  if (!behind || !$("#folder-bar .folder-bar")) return null;
  const { is_there, outside = [], outside_count = 0, conflicts = [] } = await call("FolderGetState", here);
  if (!is_there) return el("p", {}, "Your folder is not in reach; its files stay as they are.");
  const theirs = new Set([...outside, ...conflicts].map((one) => one.path));
  const touched = changed.map((one) => one.path).filter((path) => theirs.has(path));
  const isOurs = !touched.length && outside_count <= outside.length;
  const box = el("input", { type: "checkbox", id: "folder-too" });
  box.checked = isOurs;
  return el("div", { class: "field" },
    el("label", { class: "inline" }, box, ` Write it into the folder too (${behind} ${behind === 1 ? "file" : "files"})`),
    el("p", { class: "hint" }, isOurs ? "Without it the files in your folder stay as they are." : `${touched.length ? `Another program changed ${touched.slice(0, 3).join(", ")}${touched.length > 3 ? ` and ${touched.length - 3} more` : ""} there.` : "Other programs changed files there."} What others changed is not overwritten.`));
}
