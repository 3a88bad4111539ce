// Reads a stream of events through Node's own fetch, and one that is broken off.
const base = process.argv[2];

async function read(path) {
  const response = await fetch(base + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer k" },
    body: JSON.stringify({ model: "m", stream: true, messages: [] }),
  });
  const decoder = new TextDecoder();
  let body = "";
  for await (const piece of response.body) body += decoder.decode(piece, { stream: true });
  return { status: response.status, type: response.headers.get("content-type"), body };
}

async function leave(path) {
  const controller = new AbortController();
  const response = await fetch(base + path, { method: "POST", body: "{}", signal: controller.signal });
  for await (const piece of response.body) {
    if (piece.length) break;
  }
  controller.abort();
}

const shown = await read("/v1/chat/completions");
await leave("/v1/responses");
console.log(JSON.stringify(shown));
