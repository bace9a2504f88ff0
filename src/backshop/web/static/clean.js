// What needs a bench without a Draft asks what shall become of it, and then goes on (W18.6).
import { ask, el } from "./dom.js";
import { call } from "./rpc.js";

// Do `work`; if a Draft is in its way, ask, and do it again. Cancel leaves everything, and the refusal stands.
export async function onCleanBench(workbench_id, work) {
  try {
    return await work();
  } catch (error) {
    if (error.envelope?.error_code !== "DRAFT_EXISTS" || !workbench_id) throw error;
    if (!(await settle(workbench_id))) throw error;
    return work();
  }
}

async function settle(workbench_id) {
  const { tree } = await call("DraftGetState", { workbench_id });
  const answer = await ask("A Draft is in the way", [
    el("p", {}, "This needs a workbench without a Draft. What shall become of the Draft?"),
    el("p", {}, "Published, it replaces the files; the version of before stays in the History. Discarded, everything it changed goes, and Published stays as it is."),
  ], [
    { label: "Publish", value: "publish", tone: "primary" },
    { label: "Discard", value: "discard", tone: "danger" },
    { label: "Cancel", value: null },
  ]);
  if (answer === "publish") await call("DraftPublish", { workbench_id, ...(tree ? { reviewed_tree: tree } : {}) });
  else if (answer === "discard") await call("DraftDiscard", { workbench_id });
  return Boolean(answer);
}
