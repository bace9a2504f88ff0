// Run a saved workflow: what does not fit is said in its form, and then nothing was said to the agent.
import { clearError, on, showError } from "./dom.js";
import { post } from "./rpc.js";

on(document, "submit", "form[data-run]", async (event, form) => {
  event.preventDefault();
  clearError(form);
  const bench = `/bench/${document.body.dataset.bench}`;
  const button = event.submitter;
  if (button) button.disabled = true;
  try {
    await post(`${bench}/turn`, Object.fromEntries(new FormData(form)));
  } catch (error) {
    if (!error.envelope) throw error;
    if (!error.answer.message_id) { // refused before anything was said
      showError(form, error.envelope);
      if (button) button.disabled = false;
      return;
    }
  }
  location.assign(`${bench}?stay=1`); // where the turn is shown, or why nobody takes it up
});
