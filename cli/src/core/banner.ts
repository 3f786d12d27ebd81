import { sampleInput } from "./sample-input.ts";

export interface BannerInput {
  url: string;
  version: string;
  config: string;
  dataDir: string;
  database: string;
  graphs: Graphs;
  /** Absent when tracing was not requested. */
  traces: { url: string } | { problem: string } | undefined;
  console: { url: string } | { problem: string } | undefined;
  /** Whether requests need a key. */
  keysNeeded: boolean;
  /** Access policy with its reason, as text. */
  access: string;
  /** Whether the project's own auth replaces API keys. */
  hasOwnAuth: boolean;
  /** Key created by this start, which is shown only once. */
  firstKey: string | null;
}

export type Graphs = Record<string, { ok: boolean; error?: string; notes?: string[] }>;

/**
 * Returns the startup banner of a server: URLs, graphs, a sample request, and how to stop it.
 */
export async function banner(input: BannerInput): Promise<string> {
  const { url, graphs } = input;
  const serving = Object.keys(graphs).filter((id) => graphs[id]!.ok);
  const lines = [
    "",
    `Heddle ${input.version} serves ${input.config}`,
    "",
    `  API       ${url}`,
    `  Docs      ${url}/docs`,
    ...(input.traces ? [describePart("Traces", input.traces)] : []),
    ...(input.console ? [describePart("Console", input.console)] : []),
    `  Data      ${input.dataDir}`,
    `  Database  ${input.database}`,
    `  Access    ${input.access}`,
    describeGraphs(graphs),
    ...describeKey(input),
  ];
  const first = serving.includes("agent") ? "agent" : serving[0];
  if (first !== undefined) {
    const body = JSON.stringify({ assistant_id: first, input: await sampleInputFor(url, first, input.firstKey) });
    lines.push(
      "",
      input.hasOwnAuth
        ? "A first request; add the credentials that the project's own auth requires:"
        : "A first request:",
      "",
      `  curl -s ${url}/runs/wait -H 'content-type: application/json' \\`,
      ...(input.keysNeeded && !input.hasOwnAuth ? [`    -H 'x-api-key: ${input.firstKey ?? "YOUR KEY"}' \\`] : []),
      `    -d '${body.replaceAll("'", "'\\''")}'`,
    );
  }
  if (serving.length === 0) lines.push("", "The project is loaded again when its files change.");
  lines.push("", "Stop with Ctrl-C.", "");
  return lines.join("\n");
}

/** Lists the loaded graphs in one line, and below it the failed ones with their reasons. */
function describeGraphs(graphs: Graphs): string {
  const serving = Object.keys(graphs).filter((id) => graphs[id]!.ok);
  const lines = [`  Graphs    ${serving.join(", ") || "none"}`];
  for (const note of graphNotes(graphs)) lines.push(`  ${note}`);
  for (const [error, ids] of loadErrors(graphs)) lines.push("", `  ${doNotLoad(ids)}:`, indent(error));
  return lines.join("\n");
}

/** Returns the errors of graphs that did not load, each with the graphs that it prevents. */
export function loadErrors(graphs: Graphs): Map<string, string[]> {
  const errors = new Map<string, string[]>();
  for (const [id, { ok, error = "unknown error" }] of Object.entries(graphs)) {
    if (!ok) errors.set(error, [...(errors.get(error) ?? []), id]);
  }
  return errors;
}

/** Returns what the loaded graphs bring and the server does not use, in one line each. */
export const graphNotes = (graphs: Graphs): string[] =>
  Object.entries(graphs).flatMap(([id, { notes = [] }]) => notes.map((note) => `Graph "${id}": ${note}`));

export const doNotLoad = (ids: string[]): string =>
  ids.length === 1 ? `Graph "${ids[0]}" does not load` : `Graphs ${ids.map((id) => `"${id}"`).join(", ")} do not load`;

/** Describes a reload: the graphs that are served now, and why others are not. */
export function describeReload(graphs: Graphs): string {
  const isServing = Object.values(graphs).some(({ ok }) => ok);
  const what = isServing ? "Graphs reloaded." : "The project does not load. It is tried again when its files change.";
  return `${what}\n${describeGraphs(graphs)}\n`;
}

export function describePart(name: string, part: { url: string } | { problem: string }): string {
  return `  ${name.padEnd(9)} ${"url" in part ? part.url : `off. ${part.problem}`}`;
}

function describeKey({ firstKey, keysNeeded, hasOwnAuth }: BannerInput): string[] {
  if (firstKey === null) return [];
  if (hasOwnAuth) {
    return [
      "",
      `  Key       ${firstKey}`,
      "            Shown only once. It is for traces; the project's own auth authorizes callers of the API.",
    ];
  }
  const need = keysNeeded ? "Send it with requests as x-api-key." : "Requests from this machine do not need it.";
  return ["", `  Key       ${firstKey}`, `            Shown only once. ${need}`];
}

async function sampleInputFor(url: string, graph: string, key: string | null): Promise<Record<string, unknown>> {
  if (graph === "agent") return { messages: [{ role: "user", content: "What is the weather in Berlin?" }] };
  const headers: Record<string, string> = key === null ? {} : { "x-api-key": key };
  try {
    const found = await fetch(`${url}/assistants/search`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ graph_id: graph, limit: 1 }),
      signal: AbortSignal.timeout(3_000),
    });
    const [assistant] = (await found.json()) as { assistant_id: string }[];
    const response = await fetch(`${url}/assistants/${assistant!.assistant_id}/schemas`, {
      headers,
      signal: AbortSignal.timeout(3_000),
    });
    const { input_schema: schema } = (await response.json()) as { input_schema?: unknown };
    return schema ? sampleInput(schema) : {};
  } catch {
    // A sample is optional; the server is up without it.
    return {};
  }
}

function indent(text: string): string {
  return text
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}
