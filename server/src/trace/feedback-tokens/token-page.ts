import { htmlPage } from "../../base/http/html-page.ts";

const STYLE = `body{margin:0;min-height:100vh;display:grid;place-items:center;font:1.125rem/1.5 system-ui,sans-serif;
background:#fff;color:#1a1a1a}main{max-width:32rem;padding:2rem;text-align:center}h1{font-size:1.5rem;margin:0 0 .5rem}
p{margin:0}@media(prefers-color-scheme:dark){body{background:#16181d;color:#f0f0f0}}`;

/** Renders the result page of a feedback link. No scripts and no external resources. */
export function feedbackPage(status: number, title: string, text: string, headers: Record<string, string>): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escape(title)}</title>
<style>${STYLE}</style>
</head>
<body><main><h1>${escape(title)}</h1><p>${escape(text)}</p></main></body>
</html>
`;
  return htmlPage(html, { scripts: [], styles: [STYLE] }, { status, headers });
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text: string): string => text.replace(/[&<>"]/g, (char) => ENTITIES[char]!);
