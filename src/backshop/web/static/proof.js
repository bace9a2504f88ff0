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
  const proved = changed.filter((one) => one.verified === true).length;
  return { wrong: false, text: proved ? `${counted(proved)} read back, each as it should be` : "" };
}

export function showProof({ wrong, text }, { before = "", ...options } = {}) {
  const words = [before, text].filter(Boolean).join(". ");
  if (wrong) say(words, { assertive: true });
  return words ? toast(words, { seconds: 12, ...options, isSaid: false, ...(wrong ? { seconds: 0 } : {}) }) : () => {};
}
