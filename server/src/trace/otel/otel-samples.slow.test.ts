/**
 * What the exporters of published packages send, recorded by scripts/versions/otel-samples/record.ts: one request per sample.
 * samples/NAME.txt shows each run in a line, children indented: name, type, tokens with details, cost, thread, error,
 * previews of its messages. To renew them after a new record, run this file with --update, and read the difference.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { beforeAll, expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { protobufCodec } from "./decode-protobuf.ts";

const { call, clickhouse } = await testTracePlatform();
const { decode } = protobufCodec();
const DIRECTORY = fileURLToPath(new URL("./samples", import.meta.url));
const NAMES = readdirSync(DIRECTORY)
  .filter((file) => file.endsWith(".pb"))
  .map((file) => file.slice(0, -3))
  .sort();
const EXPECTED = new Set(readdirSync(DIRECTORY).filter((file) => file.endsWith(".txt")));
const read = (name: string) => readFileSync(`${DIRECTORY}/${name}.pb`);

type Row = Record<string, string | null> & { id: string; tokens: string | null };

const runs = new Map<string, Row[]>();

beforeAll(async () => {
  for (const name of NAMES) {
    const headers = { "Content-Type": "application/x-protobuf", "Langsmith-Project": name };
    const { status, text } = await call("POST", "/otel/v1/traces", read(name), headers);
    if (status !== 200 || text !== "") throw new Error(`${name}: ${status} ${text}`);
  }
  const projects = (await call("GET", "/sessions?limit=100")).json as { id: string; name: string }[];
  const rows = await clickhouse.rows<Row>({
    name: "t",
    query: `select *, if(total_tokens is null, null, concat(ifNull(prompt_tokens, 0), '+', ifNull(completion_tokens, 0))) as tokens from runs final
      where tenant_id = {t:UUID} order by dotted_order`,
    params: { t: WORKSPACE },
  });
  for (const { id, name } of projects) {
    runs.set(
      name,
      rows.filter((row) => row["project_id"] === id),
    );
  }
}, 60_000);

const short = (text: string) => JSON.stringify(text.slice(0, 32));

function outline(name: string): string[] {
  return runs.get(name)!.map((row) => {
    const details = [row["prompt_token_details"], row["completion_token_details"]].filter((text) => text !== null);
    const facts = [
      row["run_type"],
      row.tokens !== null && [row.tokens, ...details].join(" "),
      row["total_cost"] !== null && `$${row["total_cost"]}`,
      row["thread_id"] !== null && `thread ${row["thread_id"]}`,
      row["error"] !== null && `error ${short(row["error"]!)}`,
      row["inputs_preview"] !== null && `in ${short(row["inputs_preview"]!)}`,
      row["outputs_preview"] !== null && `out ${short(row["outputs_preview"]!)}`,
    ];
    const depth = row["dotted_order"]!.split(".").length - 1;
    return `${"  ".repeat(depth)}${row["name"]}: ${facts.filter(Boolean).join(", ")}`;
  });
}

test.each(NAMES)("%s: names, kinds, parents, tokens, costs, threads and previews", async (name) => {
  await expect(`${outline(name).join("\n")}\n`).toMatchFileSnapshot(`samples/${name}.txt`);
  // a missing file would have been written
  expect(EXPECTED.has(`${name}.txt`)).toBe(true);
});

const contents = (name: string, run: string) =>
  runs
    .get(name)!
    .filter((row) => row["name"] === run)
    .map((row) => `${row["inputs"]} ${row["outputs"]} ${row["extra"]}`)
    .join("\n");
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB";

test.each([
  ["genai-2.4b0", "chat gpt-4o-mini", ['"tool_call"', '"city":"Oslo"', '"tool_call_response"', "7 degrees"]],
  [
    "openinference-openai",
    "ChatCompletion",
    ['"tool_calls"', "get_weather", '"tool_call_id":"call_1"', PIXEL, "UklGR"],
  ],
  ["openinference-langchain", "ChatOpenAI", ['"tool_calls"', "get_weather", '"tool_call_id":"call_1"']],
  ["vercel-ai-5", "ai.generateText.doGenerate", ['"tool_calls"', "get_weather", "tool-result", PIXEL]],
  ["vercel-ai-7", "chat gpt-4o-mini", ['"tool_call"', "get_weather", "tool_call_response", PIXEL]],
  ["pydantic-ai-v1", "chat gpt-4o-mini", ['"tool_calls"', "get_weather", "7 degrees", PIXEL]],
  ["pydantic-ai-v6", "chat gpt-4o-mini", ['"tool_call"', "get_weather", "tool_call_response", PIXEL]],
  ["crewai", "ChatCompletion", ['"tool_calls"', "get_weather", '"tool_call_id":"call_1"']],
  ["openai-agents-openinference", "response", ['"tool_calls"', "get_weather", '"tool_call_id":"call_1"']],
  ["openai-agents-traceloop", "openai.response", ['"tool_call"', "get_weather", "tool_call_response"]],
])("%s: calls of tools, their results, and media are in the messages of %s", (name, run, expected) => {
  const text = contents(name, run);
  expect(expected.filter((part) => !text.includes(part))).toEqual([]);
});

/** Collects the values within a value, and within JSON that it contains as text. */
function leaves(value: unknown, into: Set<string>): Set<string> {
  if (value !== null && typeof value === "object") {
    for (const inner of Object.values(value)) leaves(inner, into);
    return into;
  }
  into.add(String(value));
  if (typeof value === "string" && /^\s*["[{]/.test(value)) {
    try {
      leaves(JSON.parse(value), into);
    } catch {
      // not JSON
    }
  }
  return into;
}

test.each(NAMES)("%s: no attribute of a span or of an event is lost", (name) => {
  const stored = new Map(runs.get(name)!.map((row) => [row.id.slice(-17).replace("-", ""), row]));
  const spans = decode(read(name));
  expect(spans.length).toBe(stored.size);
  const lost = spans.flatMap((span) => {
    const kept = leaves(stored.get(span.spanId), new Set());
    const attributes = [span, ...span.events].flatMap((part) => Object.entries(part.attributes));
    return attributes
      .filter(([attribute, value]) => {
        // an image becomes an image_url, which says the same
        if (attribute.endsWith(".message_content.type")) return false;
        const whole = String(value);
        // a long text may be cut in columns, but is whole in one of them
        return !kept.has(whole) && [...leaves(value, new Set())].some((leaf) => isValue(leaf) && !kept.has(leaf));
      })
      .map(([attribute, value]) => `${span.name} ${attribute}=${JSON.stringify(value).slice(0, 200)}`);
  });
  expect(lost).toEqual([]);
});

/** Returns false for the text of JSON, whose inner values are compared instead. */
function isValue(leaf: string): boolean {
  try {
    const inner: unknown = JSON.parse(leaf);
    return inner === null || !["object", "string"].includes(typeof inner);
  } catch {
    return true;
  }
}
