// The Workshop page.
import { $, load, toast } from "./dom.js";
import { post } from "./rpc.js";
import { follow } from "./events.js";
import { refreshDraftBar } from "./page.js";

const bench = document.body.dataset.bench;

async function refreshFiles() {
  $("#files").replaceChildren(await load(`/bench/${bench}/file-list`));
}

async function add(files) {
  const body = new FormData();
  for (const file of files) {
    body.append("files", file);
    body.append("paths", file.webkitRelativePath || file.name);
  }
  try {
    const { add_results } = await post(`/bench/${bench}/files`, body);
    const bad = add_results.filter((one) => one.status !== "added");
    toast(bad.length ? `${bad.length} of ${add_results.length} not added: ${bad[0].source_path} (${bad[0].reason})` : `${add_results.length} added`);
  } catch (error) {
    if (!error.envelope) throw error;
    toast(error.envelope.message);
  }
  await refreshFiles();
}
for (const picker of ["#pick-files", "#pick-folder"]) {
  $(picker).addEventListener("change", (event) => add([...event.target.files]));
}
follow({ workbench_id: bench }, { WorkbenchFilesChanged: refreshFiles, DraftStateChanged: () => { refreshDraftBar(); refreshFiles(); } });
