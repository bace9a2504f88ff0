// The Context page: a model makes an item of a text; a refusal is shown in the form with what can be done.
import { $, $$, clearError, on, showError, toast } from "./dom.js";
import { call } from "./rpc.js";
import { onCleanBench } from "./clean.js";
import { allowSending } from "./consent.js";

const here = { workbench_id: document.body.dataset.bench };

async function process(form) {
  const { text, overwrite_direct_edits } = form.elements;
  const wish = { ...here, category: form.dataset.process, input: { mode: "text", text: text.value }, overwrite_direct_edits: Boolean(overwrite_direct_edits?.checked) };
  const button = $(".buttons button", form);
  clearError(form);
  button.disabled = true;
  try {
    await onCleanBench(here.workbench_id, () => call("ContextProcess", wish));
    location.reload();
  } catch (error) {
    if (!error.envelope) throw error;
    const again = () => process(form);
    showError(form, error.envelope, { retry: again, grant_consent: async ({ model_id }) => { if (await allowSending({ ...here, ...(model_id ? { model_id } : {}) })) await again(); } });
  } finally {
    button.disabled = false;
  }
}

on(document, "submit", "form[data-process]", (event, form) => { event.preventDefault(); process(form); });

// What was deleted comes back as it was sent, written by hand.
const tellWithUndo = (text, command, wish) => toast(text, { seconds: 20, actions: { Undo: async () => {
  try {
    await call(command, { ...here, ...wish });
  } catch (error) {
    if (!error.envelope) throw error;
    showError($("#main"), error.envelope);
  }
} } });
on(document, "done", 'form[data-command="ContextDelete"]', (event, form) => {
  event.preventDefault();
  const card = form.closest(".context-card");
  const files = $$("h3 code", card).map((name) => ({ path: name.textContent, content: name.closest("h3").nextElementSibling.textContent }));
  tellWithUndo(`${$("h2", card).textContent} was deleted`, "ContextUpdateDirect", { category: card.id, files, create: true });
});
on(document, "done", 'form[data-command="DigestClear"]', (event) => {
  event.preventDefault();
  tellWithUndo("The digest was cleared", "DigestSet", { body: $("#digest pre").textContent, pin: false });
});
