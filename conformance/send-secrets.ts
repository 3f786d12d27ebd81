/** Sends secrets with every request of the suite: as a client that has a key of another service sends it. */
import { SENT } from "./sent.ts";

const send = globalThis.fetch;

globalThis.fetch = (input, init) => {
  const request = new Request(input as RequestInfo, init);
  const { hostname } = new URL(request.url);
  if (hostname !== "127.0.0.1" && hostname !== "localhost") return send(request);
  for (const [name, value] of Object.entries(SENT)) {
    if (request.headers.has(name)) continue;
    request.headers.set(name, name === "cookie" ? `session=${value}` : value);
  }
  return send(request);
};
