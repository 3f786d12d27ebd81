import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { ChatPromptTemplate } from "@langchain/core/prompts";
import { afterEach, expect, test, vi } from "vitest";
import { parse } from "yaml";

import { graph } from "./graph.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Serves commits of the prompt as a trace platform does. */
async function serve(commit: () => { hash: string; system: string } | undefined) {
  const server = createServer((request, response) => {
    const found = request.url === "/commits/-/support-answer/production" ? commit() : undefined;
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
    if (!found) return response.end('{"error":"not found"}');
    const messages = [
      ["system", found.system],
      ["human", "{question}"],
    ] as [string, string][];
    response.end(
      JSON.stringify({ commit_hash: found.hash, manifest: ChatPromptTemplate.fromMessages(messages), examples: [] }),
    );
  });
  server.listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((done) => (server.closeAllConnections(), server.close(() => done()))),
  };
}

test("the answer follows the commit that the tag is on", async () => {
  const first = "Answer briefly.\nWe open at nine.";
  let commit: { hash: string; system: string } | undefined = { hash: "a".repeat(64), system: first };
  await using platform = await serve(() => commit);
  vi.stubEnv("LANGSMITH_ENDPOINT", platform.url);
  expect(await graph.invoke({ question: "When do you open?" })).toEqual({
    question: "When do you open?",
    answer: "We open at nine.",
    prompt_version: "a".repeat(64),
  });
  commit = { hash: "b".repeat(64), system: first.replace("nine", "ten") };
  expect(await graph.invoke({ question: "When do you open?" })).toMatchObject({
    answer: "We open at ten.",
    prompt_version: "b".repeat(64),
  });
});

test("without the prompt, and without a platform, it answers by the built-in one", async () => {
  const warnings = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  {
    await using platform = await serve(() => undefined);
    vi.stubEnv("LANGSMITH_ENDPOINT", platform.url);
    expect(await graph.invoke({ question: "Why?" })).toMatchObject({ prompt_version: "built-in" });
  }
  // its port is closed now
  expect(await graph.invoke({ question: "Why?" })).toMatchObject({
    prompt_version: "built-in",
    answer: "I do not know.",
  });
  expect(warnings.mock.calls.map(([text]) => text)).toEqual([
    expect.stringContaining("support-answer:production was not pulled"),
    expect.stringContaining("support-answer:production was not pulled"),
  ]);
});

test("a tag that is asked for is not replaced by the built-in prompt", async () => {
  await using platform = await serve(() => undefined);
  vi.stubEnv("LANGSMITH_ENDPOINT", platform.url);
  await expect(graph.invoke({ question: "Why?", tag: "ci-1" })).rejects.toThrow();
});

test("the workflow runs the gates of the README", () => {
  const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");
  const { jobs } = parse(read(".github/workflows/evaluate.yml")) as {
    jobs: { evaluate: { steps: { run?: string }[] } };
  };
  const gates = jobs.evaluate.steps.flatMap(({ run }) => (run?.includes("gate.sh") ? [run] : []));
  const typed = gates.map((gate) => gate.replace('"ci-${{ github.run_id }}"', "ci-1"));
  expect(typed).toHaveLength(2);
  for (const gate of typed) expect(read("README.md")).toContain(gate);
});
