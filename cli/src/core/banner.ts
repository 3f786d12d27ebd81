import { sampleInput } from "./sample-input.ts";

export interface BannerInput {
  url: string;
  version: string;
  config: string;
  dataDir: string;
  database: string;
  graphs: Graphs;
}

export type Graphs = Record<string, { ok: boolean; error?: string }>;

/** What a started server tells whoever started it: where it is, what it serves, what to try, how to stop it. */
export async function banner(input: BannerInput): Promise<string> {
  const { url, graphs } = input;
  const serving = Object.keys(graphs).filter((id) => graphs[id]!.ok);
  const lines = [
    "",
    `Heddle ${input.version} serves ${input.config}`,
    "",
    `  API       ${url}`,
    `  Docs      ${url}/docs`,
    `  Data      ${input.dataDir}`,
    `  Database  ${input.database}`,
    describeGraphs(graphs),
  ];
  const first = serving.includes("agent") ? "agent" : serving[0];
  if (first !== undefined) {
    const body = JSON.stringify({ assistant_id: first, input: await inputFor(url, first) });
    lines.push(
      "",
      "A first request:",
      "",
      `  curl -s ${url}/runs/wait -H 'content-type: application/json' \\`,
      `    -d '${body.replaceAll("'", "'\\''")}'`,
    );
  }
  lines.push("", "Stop with Ctrl-C.", "");
  return lines.join("\n");
}

/** The graphs that serve in one line, and below it those that do not, with the reason. */
export function describeGraphs(graphs: Graphs): string {
  const serving = Object.keys(graphs).filter((id) => graphs[id]!.ok);
  const lines = [`  Graphs    ${serving.join(", ") || "none"}`];
  for (const [id, { ok, error }] of Object.entries(graphs)) {
    if (!ok) lines.push("", `  Graph "${id}" does not load:`, indent(error ?? "unknown error"));
  }
  return lines.join("\n");
}

async function inputFor(url: string, graph: string): Promise<Record<string, unknown>> {
  if (graph === "agent") return { messages: [{ role: "user", content: "What is the weather in Berlin?" }] };
  try {
    const found = await fetch(`${url}/assistants/search`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ graph_id: graph, limit: 1 }),
      signal: AbortSignal.timeout(3_000),
    });
    const [assistant] = (await found.json()) as { assistant_id: string }[];
    const response = await fetch(`${url}/assistants/${assistant!.assistant_id}/schemas`, {
      signal: AbortSignal.timeout(3_000),
    });
    const { input_schema: schema } = (await response.json()) as { input_schema?: unknown };
    return schema ? sampleInput(schema) : {};
  } catch {
    // A sample is a courtesy; the server is up without it.
    return {};
  }
}

function indent(text: string): string {
  return text
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}
