import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

const { call } = await testAgentServer();
const names = (text: string): string[] => [...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1]!);

/** A run of a graph with a subgraph, whose events have two namespaces. */
const body = { assistant_id: "pair", input: { topic: "t" }, stream_mode: ["updates"], stream_subgraphs: true };

test("streams only the events of requested namespaces", async () => {
  const { thread_id: thread } = (await call("POST", "/threads", {})).json;
  const all = await call("POST", `/threads/${thread}/runs/stream`, { ...body, stream_resumable: true });
  const path = `${all.headers.get("content-location")}/stream`;
  const inner = names(all.text).find((name) => name.includes("|"))!;
  const [, namespace] = inner.split("|") as [string, string];
  const join = async (query: string) => names((await call("GET", `${path}?${query}`)).text);
  const asJson = (list: string[]) => `namespace=${encodeURIComponent(JSON.stringify(list))}`;
  expect(names(all.text)).toEqual(["metadata", inner, inner, "updates"]);
  expect(await join("namespace=")).toEqual(["metadata", "updates"]);
  expect(await join(`namespace=${namespace}`)).toEqual(["metadata", inner, inner]);
  expect(await join(asJson([namespace.split(":")[0]!]))).toEqual(["metadata", inner, inner]);
  expect(await join(asJson(["", namespace]))).toEqual(names(all.text));
  expect(await join(`namespace=&namespace=${namespace}`)).toEqual(names(all.text));
  expect(await join("namespace=child:0")).toEqual(["metadata"]);
  const own = await call("POST", `/threads/${thread}/runs/stream?${asJson([""])}`, body);
  expect(names(own.text)).toEqual(["metadata", "updates"]);
  const stateless = await call("POST", `/runs/stream?${asJson(["child"])}`, body);
  expect(names(stateless.text)).toEqual(["metadata", expect.stringMatching(/^updates\|child:/), expect.anything()]);
});

test("rejects an invalid list of namespaces by name", async () => {
  const { thread_id: thread } = (await call("POST", "/threads", {})).json;
  for (const namespace of ["[1]", "[", "[]"]) {
    const response = await call(
      "POST",
      `/threads/${thread}/runs/stream?namespace=${encodeURIComponent(namespace)}`,
      body,
    );
    expect([response.status, response.text]).toEqual([422, expect.stringContaining("namespace")]);
  }
});
