// Others changed Published: the three ways to go on (B9.16), then the review of what came of it. Fetched where it happens.
import { el, showError } from "./dom.js";
import { call } from "./rpc.js";

export function offer(form, envelope) {
  const workbench_id = document.body.dataset.bench;
  const box = showError(form, { ...envelope, actions: [] });
  const choose = (keep) => async () => {
    try {
      await call("PublishedReconcile", { workbench_id, keep });
      location.assign(`/bench/${workbench_id}/review`);
    } catch (error) {
      if (!error.envelope) throw error;
      showError(form, error.envelope);
    }
  };
  box.append(el("p", {}, "What should the Draft go on with? Nothing of either side is lost; you review the result before it is published."),
    el("div", { class: "buttons" }, ["theirs", "ours", "both"].map((keep) => el("button", { type: "button", class: "small", onclick: choose(keep) }, `Keep ${keep}`))));
}
