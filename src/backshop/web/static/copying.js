// Copying what a button offers; what is fetched only when somebody does.
import { el, toast } from "./dom.js";

export async function copy(text) {
  const isDone = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  if (isDone || copiedByHand(text)) toast("Copied", { seconds: 2 });
  else toast("The browser does not let this page copy: select the text and copy it yourself", { seconds: 20 });
}

// Without TLS, on another machine, browsers keep the clipboard from pages; what is selected can be copied all the same.
function copiedByHand(text) {
  const held = document.activeElement;
  const field = el("textarea", { class: "unseen", value: text, "aria-hidden": "true" });
  (held?.closest("dialog") ?? document.body).append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  held?.focus({ preventScroll: true });
  return isDone;
}
