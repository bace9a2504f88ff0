// Answers of the person to steps that wait, in place: the page says what was recorded and shows what is so now.
import { $$, clearError, load, on, showError } from "./dom.js";

const FORMS = ".input-form, .wish-form";

// `then(form)` is called when the answer is recorded; one that was not is said in its form, which stays as it was.
export function answering(then) {
  on(document, "submit", FORMS, async (event, form) => {
    event.preventDefault();
    const buttons = $$("button", form);
    const body = new URLSearchParams(new FormData(form, event.submitter));
    clearError(form);
    for (const one of buttons) one.disabled = true; // a second click is not a second answer
    try {
      await load(form.action, { method: "POST", body });
    } catch (error) {
      for (const one of buttons) one.disabled = false;
      if (!error.envelope) throw error;
      showError(form, error.envelope, { retry: () => form.requestSubmit(event.submitter) });
      return;
    }
    await then(form);
  });
}
