// The list of workbenches: delete with undo, rename, a bench from a folder.
import { $, loadInto, on, showError, toast } from "./dom.js";
import { call } from "./rpc.js";
import { hasRoom, upload } from "./upload.js";
import { follow } from "./events.js";

on(document, "done", 'form[data-command="WorkbenchDelete"]', (event, form) => {
  event.preventDefault();
  const card = form.closest("[data-bench-card]");
  const name = card.querySelector("h2").textContent.trim();
  const workbench_id = card.dataset.benchCard;
  card.remove();
  toast(`“${name}” is in the trash`, {
    seconds: 20,
    actions: { Undo: async () => {
      try {
        await call("WorkbenchUndelete", { workbench_id });
        await show(workbench_id);
      } catch (error) {
        if (!error.envelope) throw error;
        showError($("#main .page"), error.envelope);
      }
    } },
  });
});

on(document, "done", 'form[data-command="WorkbenchFork"]', async (event, form) => {
  event.preventDefault();
  const name = form.closest("[data-bench-card]").querySelector("h2").textContent.trim();
  const { workbench_id } = event.detail;
  await show(workbench_id);
  toast(`A copy of “${name}” is made`, { actions: { Open: () => location.assign(`/bench/${workbench_id}`) } });
});

// The list as it is now; a card that came has the focus, where it is on this part of the list.
async function show(workbench_id) {
  await loadInto($("#bench-cards"), `/bench-cards${location.search}`);
  $(`[data-bench-card="${CSS.escape(workbench_id)}"] h2 a`)?.focus();
}

on(document, "done", 'form[data-command="WorkbenchOpenFolder"]', (event) => {
  event.preventDefault();
  location.assign(`/bench/${event.detail.workbench_id}`);
});
on(document, "change", "#folder-path", (_, input) => { input.value = input.value.trim(); });

on(document, "click", "[data-rename]", (_, button) => {
  const dialog = $("#rename-bench");
  dialog.querySelector("[name=workbench_id]").value = button.dataset.rename;
  dialog.querySelector("[name=new_name]").value = button.dataset.name;
  dialog.showModal();
});

$("#from-folder").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  const files = [...$("#folder-files").files];
  const folder = files[0]?.webkitRelativePath.split("/")[0] ?? "";
  let workbench_id = null;
  const takeBack = () => call("WorkbenchDelete", { workbench_id, confirm: workbench_id }); // it was made for these files alone
  try {
    ({ workbench_id } = await call("WorkbenchCreate", { name: form.elements.name.value || folder }));
    const found = files.map((file) => ({ file, path: file.webkitRelativePath.split("/").slice(1).join("/") || file.name }));
    const isAdded = await hasRoom(workbench_id, found.length) && await upload($("#folder-adding"), workbench_id, found);
    if (isAdded) location.assign(`/bench/${workbench_id}`);
    else await takeBack();
  } catch (error) {
    if (!error.envelope) throw error;
    if (workbench_id) await takeBack().catch(() => {}); // what went wrong first is what is said
    showError(form, error.envelope);
  }
});

// Other programs make, rename and change benches too; cards somebody is using stay as they are.
let pending = null;
function refresh() {
  pending ??= setTimeout(async () => {
    pending = null;
    if ($("#bench-cards details[open]")) { refresh(); return; }
    await loadInto($("#bench-cards"), `/bench-cards${location.search}`);
  }, 400);
}
follow({}, { WorkbenchChanged: refresh, WorkbenchFilesChanged: refresh, DraftStateChanged: refresh, BenchHealthChanged: refresh, AccessChanged: refresh }, { onReconnect: refresh });
