import { createHash } from "node:crypto";

/**
 * A page of ours, whose scripts and styles are known when the server starts: the policy names them by their hashes,
 * so that nothing that gets into the page otherwise runs, and calls go to this server only.
 */
export function htmlPage(html: string): () => Response {
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(html, "script")}`,
    `style-src ${hashesOf(html, "style")}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  const headers = {
    "Content-Type": "text/html; charset=UTF-8",
    "Content-Security-Policy": policy,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
  };
  return () => new Response(html, { headers });
}

function hashesOf(html: string, element: "script" | "style"): string {
  const contents = [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))].map(
    ([, content]) => content!,
  );
  const hashes = contents.map((content) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`);
  return hashes.join(" ") || "'none'";
}
