import { afterEach, describe, expect, test } from "vitest";
import { connectTo, sdks } from "./clients.ts";
import { collect } from "./frames.ts";
import { openStream, request } from "./http.ts";
import { Network } from "./network.ts";

let network: Network | undefined;
afterEach(() => network?.close());

// The JavaScript dev server sends no Location, so its clients cannot reconnect.
describe.each(sdks)("a client of SDK $sdk whose connection breaks", ({ sdk, client }) => {
  test("receives every frame of a resumable stream once, without help from the caller", async () => {
    network = new Network();
    const far = connectTo(sdk, await network.open());
    const { thread_id } = await client.threads.create();
    let run_id = "";
    const frames: { id?: string; event: string; data: unknown }[] = [];
    for await (const frame of far.runs.stream(thread_id, "slow", {
      input: { label: "cut", steps: 6, ms: 250 },
      streamMode: ["custom", "values"],
      streamResumable: true,
      onRunCreated: (run) => (run_id = run.run_id),
    })) {
      frames.push(frame);
      if (frame.event === "custom" && (frame.data as { tick: number }).tick === 2) network.cut();
    }
    const whole = await collect(client.runs.joinStream(thread_id, run_id, { lastEventId: "-1" }));
    expect(frames.filter((frame) => frame.event !== "")).toEqual(whole);
    expect(network.connections).toBeGreaterThan(1);
    expect(await client.runs.list(thread_id)).toHaveLength(1);
  });
});

describe("the location of a stream", () => {
  test.each([
    ["stream", { stream_resumable: true }],
    ["wait", {}],
  ])("POST runs/%s returns the location to reconnect to", async (kind, options) => {
    const { thread_id } = (await request("POST", "/threads", {})).json;
    const body = { assistant_id: "counter", input: { add: 1 }, ...options };
    const opened = await openStream("POST", `/threads/${thread_id}/runs/${kind}`, body);
    await opened.response.text();
    const place = opened.response.headers.get("content-location");
    expect(opened.response.headers.get("location")).toBe(`${place}/${kind === "wait" ? "join" : "stream"}`);
  });
});
