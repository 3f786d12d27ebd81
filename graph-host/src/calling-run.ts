import { subscribe } from "node:diagnostics_channel";

const HEADER = "x-heddle-calling-run";
const LOOPBACK = /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):(\d+)$/;

interface FetchRequest {
  origin: string | URL;
  addHeader(name: string, value: string): unknown;
}

/**
 * Names the run whose code sends a request with `fetch` to its own server, so that the server can reject a wait that
 * would never end.
 */
export function nameCallingRun(port: string | undefined, currentRun: () => string | undefined): void {
  subscribe("undici:request:create", (message) => {
    const { request } = message as { request: FetchRequest };
    if (LOOPBACK.exec(String(request.origin).replace(/\/$/, ""))?.[1] !== port) return;
    const runId = currentRun();
    if (runId !== undefined) request.addHeader(HEADER, runId);
  });
}
