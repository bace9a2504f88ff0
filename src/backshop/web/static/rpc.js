// JSON-RPC over HTTP: `await call("DraftGetState", {workbench_id})`. Errors carry the envelope of M11.

export class RpcError extends Error {
  constructor(envelope, answer = {}) {
    super(envelope.message);
    this.envelope = envelope;
    this.answer = answer; // what the server said beside the error
  }
}

export const ENDED = "/login?ended=1"; // they were let in, and are not any more
export const UNREACHABLE = "NETWORK_UNAVAILABLE";
export const GONE = "Backshop does not answer; is it still running?";

let last = 0;

export async function call(method, params = {}) {
  const response = await reach("/rpc", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: (last += 1), method, params }),
  });
  const answer = await dataOf(response);
  if (answer.error) throw new RpcError(envelopeOf(answer.error));
  return heard(answer.result);
}

// Note what a command says of folders beside its answer (B3.12), until a person has closed it: the
// page that asked is often left at once. `page.js` shows it.
const WARNED = "backshop.warned";
const FOLDERS = JSON.parse(document.body.dataset.folders || "{}");
export const warned = () => JSON.parse(sessionStorage.getItem(WARNED) || "[]");
export const forgetWarned = (code) => sessionStorage.setItem(WARNED, JSON.stringify(warned().filter((one) => one !== code)));
export const folderWords = (code) => FOLDERS[code];
export function heard(answer) {
  const codes = [...(answer?.warnings ?? []), ...(answer?.salvaged?.length ? ["outside_edits_salvaged"] : [])];
  const fresh = codes.filter((code) => typeof code === "string" && FOLDERS[code]);
  if (fresh.length) {
    sessionStorage.setItem(WARNED, JSON.stringify([...new Set([...warned(), ...fresh])]));
    document.dispatchEvent(new CustomEvent("warned"));
  }
  return answer;
}

// Post to one of our own routes that answers with JSON, or with {"error": envelope}.
export async function post(path, body) {
  const isForm = body instanceof FormData;
  const response = await reach(path, {
    method: "POST",
    headers: isForm ? {} : { "content-type": "application/json" },
    body: isForm ? body : JSON.stringify(body ?? {}),
  });
  const answer = await dataOf(response);
  if (answer.error) throw new RpcError(answer.error, answer);
  return heard(answer);
}

// Fetch; a server that is gone is an error like any other, one that forgot us leads to the login.
export async function reach(path, request) {
  let response;
  try {
    response = await fetch(path, request);
  } catch (error) {
    throw gone();
  }
  const isForgotten = response.status === 401 || (response.redirected && new URL(response.url).pathname === "/login");
  if (isForgotten) { location.assign(ENDED); return new Promise(() => {}); }
  return response;
}

// The answer as data; anything else is of somebody between, such as a proxy whose server is gone.
export const dataOf = (response) => response.json().catch(() => { throw gone(); });
const gone = () => new RpcError({ error_code: UNREACHABLE, message: GONE, actions: ["retry"] });
export const unfetched = () => { throw gone(); }; // a script that was wanted now did not come

// Ask something small, so that a browser which the server does not know any more goes to the login.
export const knock = () => reach("/rpc", { method: "POST", headers: { "content-type": "application/json" }, body: "[]" }).catch(unreachable);

// For work nobody waits for: a server that is gone is said by the line on top, and made up for later.
export function unreachable(error) {
  if (error.envelope?.error_code !== UNREACHABLE) throw error;
}

function envelopeOf(error) {
  const data = error.data?.error || error.data || {};
  return { message: error.message, ...data };
}
