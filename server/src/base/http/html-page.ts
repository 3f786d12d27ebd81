import { createHash } from "node:crypto";

/** Inline scripts and styles of a page, as the text between the tags. */
export interface InlineBlocks {
  scripts: string[];
  styles: string[];
}

/**
 * Responds with a page of ours. The policy lists the hashes of the blocks in `ours`, so that injected scripts and
 * styles do not run, and calls go to this server only.
 */
export function htmlPage(
  html: string,
  ours: InlineBlocks,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return new Response(html, { status, headers: { ...policyHeaders(ours), ...headers } });
}

/** Extracts all inline blocks of a page. Only for text that holds no user input yet. */
export function inlineBlocks(html: string): InlineBlocks {
  const contents = (element: string): string[] =>
    [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))].map(([, content]) => content!);
  return { scripts: contents("script"), styles: contents("style") };
}

function policyHeaders({ scripts, styles }: InlineBlocks): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src ${sourceHashes(scripts)}`,
    `style-src ${sourceHashes(styles)}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    "Content-Type": "text/html; charset=UTF-8",
    "Content-Security-Policy": policy.join("; "),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
  };
}

const sourceHashes = (blocks: string[]): string =>
  blocks.map((block) => `'sha256-${createHash("sha256").update(block).digest("base64")}'`).join(" ") || "'none'";
