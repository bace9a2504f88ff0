// Answers of the person to steps that wait, in place: the page says what was recorded and shows what is so now.
import { on, showError } from "./dom.js";

const FORMS = ".input-form, .wish-form";

// `then(form)` is called when the answer is recorded.
export function answering(then) {
  on(document, "submit", FORMS, async (event, form) => {
    event.preventDefault();
    const buttons = [...form.querySelectorAll("button")];
    const body = new URLSearchParams(new FormData(form, event.submitter));
    for (const one of buttons) one.disabled = true; // a second click is not a second answer
    const response = await fetch(form.action, { method: "POST", body });
    if (response.ok) { await then(form); return; }
    for (const one of buttons) one.disabled = false;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const message = page.querySelector(".error-message")?.textContent.trim() ?? "That did not work.";
    showError(form, { message, code: page.querySelector("[data-error]")?.dataset.error });
  });
}
