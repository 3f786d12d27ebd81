import { createHash } from "node:crypto";

/** Scripts and styles of a page, by their text between the tags. */
export interface InlineBlocks {
  scripts: string[];
  styles: string[];
}

/**
 * A page of ours. `ours` is what it may run and look like: the policy names these blocks by their hashes, so that
 * whatever else gets into the page does not run, and calls go to this server only.
 */
export function htmlPage(
  html: string,
  ours: InlineBlocks,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return new Response(html, { status, headers: { ...headersOf(ours), ...headers } });
}

/** All blocks of a page. Only for text that is whole before anybody's input is in it. */
export function inlineBlocks(html: string): InlineBlocks {
  const contents = (element: string): string[] =>
    [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))].map(([, content]) => content!);
  return { scripts: contents("script"), styles: contents("style") };
}

function headersOf({ scripts, styles }: InlineBlocks): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(scripts)}`,
    `style-src ${hashesOf(styles)}`,
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

const hashesOf = (blocks: string[]): string =>
  blocks.map((block) => `'sha256-${createHash("sha256").update(block).digest("base64")}'`).join(" ") || "'none'";
