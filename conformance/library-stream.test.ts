/** The stream of a run compared, chunk by chunk, with that of the same graph in LangGraph itself. */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

import { client } from "./clients.ts";
import { has } from "./features.ts";
import { collect } from "./frames.ts";
import { isPython, projectDirectory } from "./server.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- JSON of any shape
type Json = any;
type Chunk = [place: string, content: Json];

const python = process.env["HEDDLE_PYTHON"] ?? "python3";
const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const program = isPython ? [python, "library_stream.py"] : [process.execPath, "--import", tsx, "library-stream.ts"];

/** Returns the chunks of LangGraph itself: each mode with its namespace, and what it says. */
async function libraryStream(graph: string, input: object, modes: string[]): Promise<Chunk[]> {
  const [command, ...args] = [...program, graph, JSON.stringify(input), JSON.stringify(modes)];
  const options = { cwd: projectDirectory("project"), maxBuffer: 1 << 26 };
  const { stdout } = await promisify(execFile)(command!, args, options);
  const chunks = JSON.parse(stdout) as [string[], string, Json][];
  return chunks
    .filter(([, mode, payload]) => mode !== "checkpoints" || "values" in payload)
    .map(([namespace, mode, payload]) => {
      const addsTask = mode === "messages" || mode === "tools" ? !has("namespaces of messages without tasks") : false;
      return chunk(mode, addsTask ? namespace.slice(0, -1) : namespace, payload);
    });
}

async function serverStream(graph: string, input: Record<string, unknown>, modes: string[]): Promise<Chunk[]> {
  const streamMode = modes.map((mode) => (mode === "messages" ? "messages-tuple" : mode)) as never;
  const { thread_id } = await client.threads.create();
  const frames = await collect(client.runs.stream(thread_id, graph, { input, streamMode, streamSubgraphs: true }));
  return frames.slice(1).map(({ event, data }) => {
    const [mode, ...namespace] = event.split("|");
    return chunk(mode!, namespace, data);
  });
}

/** LangGraph's names for Python, whose events the server sends by those for JavaScript. */
const TOOL_EVENTS: Record<string, string> = { "tool-started": "on_tool_start", "tool-finished": "on_tool_end" };

const chunk = (mode: string, namespace: string[], payload: Json): Chunk => [
  [mode, ...namespace].map((part) => part.replace(/:[0-9a-f-]{36}$/, "")).join("|"),
  content(mode, payload),
];

/** What two runs of one graph have in common. */
function content(mode: string, payload: Json): Json {
  switch (mode) {
    case "messages":
      return [plain(payload[0]), payload[1].langgraph_node, payload[1].langgraph_step];
    case "tools":
      return [
        TOOL_EVENTS[payload.event] ?? payload.event,
        payload.toolCallId ?? payload.tool_call_id,
        plain(payload.output),
      ];
    case "checkpoints":
      return [payload.metadata.source, payload.metadata.step, payload.next, plain(payload.values)];
    case "debug":
      return [payload.type, payload.step, payload.payload.name, plain(payload.payload.values ?? null)];
    case "tasks":
      return [payload.name, payload.triggers, plain(payload.input ?? null), plain(payload.result ?? null)];
    default:
      return plain(payload);
  }
}

/** Fields that differ between any two runs, or that one form of serialization adds. */
const isVolatile = (key: string, field: Json): boolean =>
  ["id", "interrupt_id", "ns"].includes(key) || (key === "response_schema" && field === null);

/** Messages as their text and tool calls, in whichever form they are serialized; results of tasks by name. */
function plain(value: Json): Json {
  if (Array.isArray(value)) {
    const isEntries = value.length > 0 && value.every((each) => Array.isArray(each) && typeof each[0] === "string");
    return isEntries ? plain(Object.fromEntries(value)) : value.map(plain);
  }
  if (typeof value !== "object" || value === null) return value;
  const fields = value.lc === 1 && value.type === "constructor" ? value.kwargs : value;
  if ("content" in fields && ("id" in fields || "additional_kwargs" in fields)) {
    return { content: fields.content, calls: (fields.tool_calls ?? []).map(({ name, args }: Json) => [name, args]) };
  }
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([key, field]) => !isVolatile(key, field))
      .map(([key, field]) => [key, plain(field)]),
  );
}

/** The chunks of each place in their order: parallel tasks of one step interleave at will. */
function byPlace(chunks: Chunk[]): Record<string, Json[]> {
  const places: Record<string, Json[]> = {};
  for (const [place, what] of chunks) (places[place] ??= []).push(what);
  return places;
}

const hello = { messages: [{ role: "user", content: "hello to all of you" }] };
const MODES = ["values", "updates", "messages", "custom", "tasks", "checkpoints", "debug", "tools"];
const modes = MODES.filter(
  (mode) =>
    (mode !== "tools" || has("stream mode tools")) &&
    (!["tasks", "checkpoints"].includes(mode) || has("stream modes tasks and checkpoints")),
);

test.each(modes)("mode %s has what LangGraph itself streams, at each depth", async (mode) => {
  const [expected, actual] = await Promise.all([
    libraryStream("crew", hello, [mode]),
    serverStream("crew", hello, [mode]),
  ]);
  expect(byPlace(actual)).toEqual(byPlace(expected));
});

test("all modes together have what LangGraph itself streams", async () => {
  const [expected, actual] = await Promise.all([
    libraryStream("crew", hello, modes),
    serverStream("crew", hello, modes),
  ]);
  expect(byPlace(actual)).toEqual(byPlace(expected));
});

test.runIf(has("interrupts in mode values"))(
  "an interrupt of a subgraph is streamed as by LangGraph itself",
  async () => {
    const wanted = ["values", "updates", "tasks"].filter((mode) => modes.includes(mode));
    const [expected, actual] = await Promise.all([
      libraryStream("nested", { ask: true }, wanted),
      serverStream("nested", { ask: true }, wanted),
    ]);
    expect(byPlace(actual)).toEqual(byPlace(expected));
  },
);
