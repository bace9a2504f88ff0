// The question before content of a bench leaves for a model (U3.6).
import { ask, el } from "./dom.js";
import { call } from "./rpc.js";

// Ask whether content may go to a model, the bench's own unless one is named; true: it may now.
export async function allowSending(about) {
  const status = await call("EgressGetConsentStatus", about);
  const files = status.files ?? [];
  const news = new Set(status.new_items ?? []);
  const answer = await ask("Send to a model outside this machine?", [
    el("p", {}, "Backshop is about to send parts of this workbench to ", el("strong", {}, status.provider_id), " (", status.host, "), model ", el("strong", {}, status.model_id), "."),
    el("p", {}, `What may be sent: your messages, the list of files, and content of these ${files.length} files as the agent needs it.`),
    el("ul", { class: "scope" }, files.slice(0, 50).map((file) => el("li", {}, file.path, news.has(file.path) ? " (new)" : ""))),
    files.length > 50 ? el("p", { class: "hint" }, `and ${files.length - 50} more`) : null,
    (status.context ?? []).length ? el("p", {}, `Context items: ${status.context.join(", ")}`) : null,
  ].filter(Boolean), [
    { label: "Allow for this workbench", value: "keep", tone: "primary" },
    { label: "Allow until Backshop ends", value: "once" },
    { label: "Do not send", value: null },
  ]);
  if (!answer) return false;
  const { provider_id, model_id, scope_hash } = status;
  await call("EgressGrantWorkshopConsent", { workbench_id: about.workbench_id, provider_id, model_id, scope_hash, persist: answer === "keep" });
  return true;
}
