// Asking for changes of a Draft from its review; the turn is followed in the Workshop, which leads back here.
import { $, clearError, showError } from "./dom.js";
import { post } from "./rpc.js";
import { allowSending } from "./consent.js";

export function askForChanges(form, workbench_id) {
  const errors = $("#ask-errors", form);
  const begin = async (wish) => {
    clearError(errors);
    const answer = await post(`/bench/${workbench_id}/turn`, wish).catch((error) => {
      if (!error.envelope) throw error;
      return { ...error.answer, error: error.envelope };
    });
    if (!answer.error) { location.assign(`/bench/${workbench_id}${wish.mode === "ask" ? "?stay=1" : ""}`); return; } // an answer is read there
    const again = answer.message_id ? { message_id: answer.message_id, mode: wish.mode } : wish; // what was said is not said twice
    const consent = async () => { if (await allowSending({ workbench_id })) await begin(again); };
    showError(errors, answer.error, { retry: () => begin(again), grant_consent: consent, switch_model: () => $("#model")?.focus() });
    if (answer.error.error_code === "EGRESS_CONSENT_REQUIRED") await consent();
  };
  let isAsking = false; // a second click is not a second wish
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isAsking) return;
    isAsking = true;
    const wish = Object.fromEntries(new FormData(form));
    try { await begin({ ...wish, client_message_id: crypto.randomUUID() }); } finally { isAsking = false; }
  });
}
