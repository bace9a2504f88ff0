// Files that a publish, a restore or a step back changes: what would, and what was read back (B9.15).
import { el, say, toast } from "./dom.js";

const LISTED = 50;
const SIGNS = { ADDED: "+", MODIFIED: "~", RENAMED: "→", DELETED: "−" };
const counted = (number) => `${number} ${number === 1 ? "file" : "files"}`;
const sized = (bytes) => (bytes < 1000 ? `${bytes} B` : bytes < 1_024_000 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`);

function sizes({ bytes_before, bytes_after }) {
  const known = [bytes_before, bytes_after].filter((one) => one != null).map(sized);
  return known.length ? ` (${known.join(" → ")})` : "";
}

// What a dialog says before: how many files, and each with its sizes.
export function preview(changed) {
  if (!changed.length) return null;
  const more = changed.length - LISTED;
  return el("div", { class: "preview" }, [
    el("p", {}, `${counted(changed.length)} ${changed.length === 1 ? "changes" : "change"}:`),
    el("ul", { class: "scope" }, changed.slice(0, LISTED).map((one) => el("li", {}, `${SIGNS[one.kind]} ${one.path}${sizes(one)}`))),
    more > 0 ? el("p", { class: "hint" }, `and ${more} more`) : null,
  ].filter(Boolean));
}

// What is said after: that each was read back, or which one is not what it should be. Empty without files.
export function proofOf(changed = []) {
  const wrong = changed.filter((one) => one.verified === false).map((one) => one.path);
  if (wrong.length) return { wrong: true, text: `Not as it should be in its folder: ${wrong.slice(0, 5).join(", ")}${wrong.length > 5 ? ` and ${wrong.length - 5} more` : ""}` };
  const proved = changed.filter((one) => one.verified === true);
  const gone = proved.filter((one) => one.kind === "DELETED").length;
  const read = proved.length - gone;
  const said = [read ? `${counted(read)} read back, each as it should be` : "", gone ? `${counted(gone)} gone, as ${gone === 1 ? "it" : "they"} should be` : ""];
  return { wrong: false, text: said.filter(Boolean).join("; ") };
}

const IN_THE_WAY = { changed: "another program changed it", missing: "it was deleted or renamed there", not_a_file: "something else is in its place", open: "another program has it open" };
const named = (list) => `${list.slice(0, 3).map(({ path, reason }) => (IN_THE_WAY[reason] ? `${path} (${IN_THE_WAY[reason]})` : path)).join(", ")}${list.length > 3 ? ` and ${list.length - 3} more` : ""}`;

// What became of it in the person's own folder, or that nothing did (B23.19). Empty where none is followed.
export function folderTold({ folder, folder_behind = 0, changed = [] }) {
  if (!folder) return folder_behind ? `Your folder was not changed: ${counted(folder_behind)} in it ${folder_behind === 1 ? "is" : "are"} not what is Published now` : "";
  const { written = [], in_the_way = [], failed = [], left = 0, reason } = folder;
  const kept = [...in_the_way, ...failed];
  const went = new Set(changed.filter((one) => one.kind === "DELETED").map((one) => one.path));
  const removed = written.filter((path) => went.has(path)).length;
  const put = written.length - removed;
  const said = [
    put ? `${counted(put)} written into your folder` : "",
    removed ? `${counted(removed)} removed from your folder` : "",
    kept.length ? `left as ${kept.length === 1 ? "it is" : "they are"} in your folder: ${named(kept)}` : "",
    !kept.length && left ? `${counted(left)} not written into your folder${reason ? ": it cannot be used" : ""}` : "",
  ].filter(Boolean).join("; ");
  return said ? `${said[0].toUpperCase()}${said.slice(1)}` : "";
}

export function showProof({ wrong, text }, { before = "", ...options } = {}) {
  const words = [before, text].filter(Boolean).join(". ");
  if (wrong) say(words, { assertive: true });
  return words ? toast(words, { seconds: 12, ...options, isSaid: false, ...(wrong ? { seconds: 0 } : {}) }) : () => {};
}

// The same on the record that shows what was done, in place of a message that would cover it.
export function noteOn(card, ...texts) {
  const words = texts.filter(Boolean).join(". ");
  card.querySelector(".card-note")?.remove();
  if (words) card.append(el("p", { class: "card-note muted small wrap" }, `${words}.`));
}
