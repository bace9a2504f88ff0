// Asking for changes of a Draft from its review; the turn is followed in the Workshop, which leads back here.
import { $, clearError, on, showError } from "./dom.js";
import { post } from "./rpc.js";

// Comments go with a wish for changes, and are enough for one; with a question none does (W24.2).
export function commentsAlong(form, count = form.dataset.openComments) {
  const isQuestion = form.elements.mode.value === "ask";
  const open = Number(count);
  form.dataset.openComments = String(open);
  const badge = $("#open-comments");
  badge.hidden = !open;
  $(".number", badge).textContent = String(open);
  $("#changes-text", form).required = isQuestion || !open;
  const told = $("#comments-along", form);
  told.hidden = !open;
  told.textContent = isQuestion ? "Comments do not go with a question." : `${open} open comment${open === 1 ? " goes" : "s go"} with it.`;
}

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
    const consent = async () => {
      const { allowSending } = await import("./consent.js");
      if (await allowSending({ workbench_id })) await begin(again);
    };
    showError(errors, answer.error, { retry: () => begin(again), grant_consent: consent, switch_model: () => $("#model")?.focus() });
    if (answer.error.error_code === "EGRESS_CONSENT_REQUIRED") await consent();
  };
  on(form, "click", "[data-ask]", (_, button) => { $("#changes-text", form).value = button.textContent; $("#changes-text", form).focus(); });
  form.addEventListener("change", () => commentsAlong(form));
  const box = form.closest("details");
  box?.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !box.open) return;
    event.stopPropagation();
    box.open = false;
    $("summary", box).focus();
  });
  let isAsking = false; // a second click is not a second wish
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isAsking) return;
    isAsking = true;
    const wish = Object.fromEntries(new FormData(form));
    try { await begin({ ...wish, client_message_id: crypto.randomUUID() }); } finally { isAsking = false; }
  });
}
