// Files into a bench: sent in pieces with a bar and a button to stop, added all together or not at all.
import { ask, el, say } from "./dom.js";
import { ENDED, RpcError, UNREACHABLE, call, heard } from "./rpc.js";

const PIECE_FILES = 200;
const PIECE_BYTES = 16 * 1024 * 1024;

// Send `files`, a list of {file, path}, showing how far it is in `root`. Resolves to the results of
// the add, or to null if it was stopped; a refusal is an RpcError and nothing was added.
export async function upload(root, bench, files) {
  try {
    return await attempt(root, bench, files, "reject");
  } catch (error) {
    if (error.envelope?.reason !== "duplicate") throw error;
    const choice = await ask("Some of these files are there already", [error.envelope.detail || error.envelope.message, "What shall become of those?"],
      [{ label: "Keep both", value: "keep_both", tone: "primary" }, { label: "Replace them", value: "replace" }, { label: "Add nothing", value: null }]);
    return choice ? attempt(root, bench, files, choice) : null;
  }
}

async function attempt(root, bench, files, onConflict) {
  const key = crypto.randomUUID();
  const total = files.reduce((sum, one) => sum + one.file.size, 0) || 1;
  const shown = bar(files.length);
  root.replaceChildren(shown.root);
  let sent = 0;
  let count = 0;
  try {
    for (const piece of pieces(files)) {
      const size = piece.reduce((sum, one) => sum + one.file.size, 0);
      count += piece.length;
      const isLast = count === files.length;
      const body = form(key, isLast ? "add" : "more", piece, onConflict);
      const answer = await send(`/bench/${bench}/files`, body, shown.stopped, (part) => shown.show(count, Math.min(1, (sent + part * size) / total), isLast && part === 1));
      sent += size;
      if (isLast) return answer.add_results;
    }
    return [];
  } catch (error) {
    if (!shown.stopped.aborted) throw error;
    await send(`/bench/${bench}/files`, form(key, "stop", []), new AbortController().signal, () => {});
    say("Stopped; nothing was added");
    return null;
  } finally {
    shown.root.remove();
  }
}

// Say before anything is sent that a bench does not take so many files; false: not this time.
export async function hasRoom(bench, count) {
  const about = { workbench_id: bench };
  const [scope, list] = await Promise.all([call("WorkbenchGetScope", about), call("WorkbenchFilesList", { ...about, limit: 1 })]);
  const { max_files } = scope.limits;
  if (list.total + count <= max_files) return true;
  const number = (value) => value.toLocaleString();
  const grow = await ask("That is a lot of files", `${number(count)} files do not fit: this workbench takes ${number(max_files)} and has ${number(list.total)}. A large workbench takes 200,000. The more files there are, the less of each an agent can look at.`,
    [{ label: "Make it a large workbench and add them", value: true, tone: "primary" }, { label: "Do not add them", value: null }]);
  if (!grow) return false;
  await call("WorkbenchSetLimits", { ...about, profile: "large" });
  return true;
}

function* pieces(files) {
  let piece = [];
  let bytes = 0;
  for (const one of files) {
    if (piece.length && (piece.length === PIECE_FILES || bytes + one.file.size > PIECE_BYTES)) {
      yield piece;
      [piece, bytes] = [[], 0];
    }
    piece.push(one);
    bytes += one.file.size;
  }
  if (piece.length) yield piece;
}

function form(key, step, piece, onConflict = "reject") {
  const body = new FormData();
  body.append("upload", key);
  body.append("step", step);
  body.append("on_conflict", onConflict);
  for (const { file, path } of piece) { body.append("files", file, file.name); body.append("paths", path); }
  return body;
}

function bar(files) {
  const stop = new AbortController();
  const number = (value) => value.toLocaleString();
  const line = el("span", { class: "small grow" }, `Sending ${number(files)} ${files === 1 ? "file" : "files"}…`);
  const progress = el("progress", { max: 1, value: 0, "aria-label": "Sending files" });
  const button = el("button", { type: "button", class: "small", onclick: () => { button.disabled = true; stop.abort(); } }, "Stop");
  const root = el("div", { class: "uploading", role: "status" }, el("div", { class: "row between" }, line, button), progress);
  const show = (count, part, isAll) => {
    progress.value = part;
    line.textContent = isAll ? `Adding ${number(files)} ${files === 1 ? "file" : "files"}…` : `${number(count)} of ${number(files)} files…`;
    if (isAll) { progress.removeAttribute("value"); button.disabled = true; }
  };
  return { root, show, stopped: stop.signal };
}

// Only this way of asking tells how much of a request is on its way.
function send(path, body, stopped, onPart) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = () => reject(new RpcError({ error_code: UNREACHABLE, message: "Backshop does not answer; is it still running?", actions: ["retry"] }));
    request.open("POST", path);
    request.upload.onprogress = (event) => onPart(event.loaded / (event.total || 1));
    request.onload = () => {
      if (request.status === 401) { location.assign(ENDED); return; }
      let answer;
      try { answer = JSON.parse(request.responseText); } catch (error) { fail(); return; }
      if (answer.error) reject(new RpcError(answer.error, answer));
      else resolve(heard(answer));
    };
    request.onerror = fail;
    request.onabort = fail;
    stopped.addEventListener("abort", () => request.abort());
    if (stopped.aborted) fail();
    else request.send(body);
  });
}
