import type { CodeRequest } from "./code-frames.ts";

/** Describes a request for Python code. `path`: the path below the mount prefix. */
export function describeRequest(request: Request, path = new URL(request.url).pathname): CodeRequest {
  const url = new URL(request.url);
  const host = request.headers.get("host") ?? url.host;
  const port = Number(/:(\d+)$/.exec(host)?.[1] ?? (url.protocol === "https:" ? 443 : 80));
  return {
    method: request.method,
    path: decode(path),
    raw_path: path,
    query: url.search.slice(1),
    headers: [...request.headers],
    scheme: url.protocol.slice(0, -1),
    root_path: "",
    client: null,
    server: [host.replace(/:\d+$/, ""), port],
  };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
