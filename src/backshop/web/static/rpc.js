// JSON-RPC over HTTP: `await call("DraftGetState", {workbench_id})`. Errors carry the envelope of M11.

export class RpcError extends Error {
  constructor(envelope) {
    super(envelope.message);
    this.envelope = envelope;
  }
}

let last = 0;

export async function call(method, params = {}) {
  let response;
  try {
    response = await fetch("/rpc", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: (last += 1), method, params }),
    });
  } catch (error) {
    throw new RpcError({ error_code: "NETWORK_UNAVAILABLE", message: "Backshop does not answer; is it still running?", actions: ["retry"] });
  }
  if (response.status === 401) { location.assign("/login"); return new Promise(() => {}); }
  const answer = await response.json();
  if (answer.error) throw new RpcError(envelopeOf(answer.error));
  return answer.result;
}

// Post to one of our own routes that answers with JSON, or with {"error": envelope}.
export async function post(path, body) {
  const isForm = body instanceof FormData;
  const response = await fetch(path, {
    method: "POST",
    headers: isForm ? {} : { "content-type": "application/json" },
    body: isForm ? body : JSON.stringify(body ?? {}),
  });
  const answer = await response.json();
  if (answer.error) throw new RpcError(answer.error);
  return answer;
}

function envelopeOf(error) {
  const data = error.data?.error || error.data || {};
  return { message: error.message, ...data };
}
