/** Tests of pods that end while runs stream: by an eviction, and with their node. */
import { setTimeout as sleep } from "node:timers/promises";

import { beforeAll, describe, expect, test, vi } from "vitest";

import { missingPrograms } from "../../../../test/kubernetes/binaries.ts";
import { KubeError } from "../../../../test/kubernetes/kube-client.ts";
import { type ClusterWorld, NAMESPACE, openClusterWorld } from "../../../test/cluster-world.ts";
import { tickingProject } from "../../../test/ticking-project.ts";

const TICKS = 60;
const PAUSE_MS = 500;

interface Run {
  thread_id: string;
  run_id: string;
}

interface StreamReading {
  frames: { id: number; event: string; data: { n?: number } }[];
  /** Connections that were opened. */
  connections: number;
}

describe.skipIf(missingPrograms().length > 0)("pods that end while runs stream", () => {
  let world: ClusterWorld;

  beforeAll(async () => {
    world = await openClusterWorld({
      projects: { ticker: tickingProject("ticker") },
      // runs are to be handed over, not drained
      settings: { HEDDLE_DRAIN_SECONDS: "2" },
    });
  });

  async function startRun(name: string): Promise<Run> {
    const { thread_id } = await world.ask<Run>(name, "POST", "/threads", {});
    return world.ask<Run>(name, "POST", `/threads/${thread_id}/runs`, {
      assistant_id: "ticker",
      input: { ticks: TICKS, pause: PAUSE_MS },
      config: { recursion_limit: 2 * TICKS },
      stream_mode: ["custom"],
      stream_resumable: true,
    });
  }

  const runPath = ({ thread_id, run_id }: Run) => `/threads/${thread_id}/runs/${run_id}`;
  const status = async (name: string, run: Run) =>
    (await world.ask<{ status: string }>(name, "GET", runPath(run)).catch(() => null))?.status;

  /** Reads a run's stream to its end as clients do: a broken connection is resumed after the last event. */
  async function read(name: string, run: Run): Promise<StreamReading> {
    const reading: StreamReading = { frames: [], connections: 0 };
    for (const end = Date.now() + 300_000; ;) {
      try {
        const headers = { "last-event-id": String(reading.frames.at(-1)?.id ?? -1) };
        const response = await world.request(name, `${runPath(run)}/stream`, { headers });
        if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
        reading.connections++;
        let rest = "";
        for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
          const parts = (rest + chunk).split("\n\n");
          rest = parts.pop()!;
          for (const part of parts) {
            const [, event, data, id] = /^event: (.*)\ndata: (.*)\nid: (\d+)$/.exec(part) ?? [];
            if (event !== undefined) reading.frames.push({ id: Number(id), event, data: JSON.parse(data!) });
          }
        }
        // a connection that ends without an error may still end before the run
        if (["success", "error", "interrupted", "timeout"].includes((await status(name, run)) ?? "")) return reading;
      } catch (error) {
        if (Date.now() > end) throw error;
      }
      await sleep(200);
    }
  }

  function expectWhole({ frames }: StreamReading): void {
    expect(frames.map(({ id }) => id)).toEqual(frames.map((_, index) => index));
    const ticks = new Set(frames.flatMap(({ data }) => data.n ?? []));
    expect([...ticks].sort((a, b) => a - b)).toEqual(Array.from({ length: TICKS }, (_, n) => n));
    expect(frames.filter(({ event }) => event === "incomplete" || event === "error")).toEqual([]);
  }

  /** Evicts a pod through the eviction API, which respects disruption budgets. Returns the status of its answer. */
  async function evict(pod: string): Promise<number> {
    const path = `/api/v1/namespaces/${NAMESPACE}/pods/${pod}/eviction`;
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: pod, namespace: NAMESPACE } };
    try {
      await world.cluster.client.call("POST", path, eviction);
      return 201;
    } catch (error) {
      if (error instanceof KubeError) return error.status;
      throw error;
    }
  }

  test("evictions of both pods, one after the other, lose no run and no event", async () => {
    const name = "evicted";
    const { id } = await world.deploy(name, "ticker", { resource_spec: { min_scale: 2, max_scale: 2 } });
    const before = await world.pods(id);
    expect(before).toHaveLength(2);
    const runs = await Promise.all(Array.from({ length: 6 }, () => startRun(name)));
    const readings = runs.map((run) => read(name, run));
    await vi.waitUntil(
      async () => (await Promise.all(runs.map((run) => status(name, run)))).every((is) => is === "running"),
      {
        timeout: 30_000,
      },
    );
    await sleep(2_000);

    const [first, second] = before.map(({ metadata }) => metadata.name) as [string, string];
    expect(await evict(first)).toBe(201);
    // the budget allows one pod at a time
    expect(await evict(second)).toBe(429);
    await vi.waitUntil(async () => (await evict(second)) === 201, { timeout: 240_000, interval: 1_000 });

    for (const reading of await Promise.all(readings)) expectWhole(reading);
    const connections = (await Promise.all(readings)).map((reading) => reading.connections);
    console.log(`connections of each stream: ${connections.join(", ")}`);
    for (const run of runs) await expect.poll(() => status(name, run), { timeout: 60_000 }).toBe("success");
    await expect.poll(async () => (await world.pods(id)).length, { timeout: 240_000 }).toBe(2);
    const after = (await world.pods(id)).map(({ metadata }) => metadata.name);
    expect(after).not.toContain(first);
    expect(after).not.toContain(second);
    await world.remove(id);
  });

  test("a lost node's only pod is replaced on another node, which ends its runs", async () => {
    const name = "moved";
    const { id } = await world.deploy(name, "ticker");
    const [pod] = await world.pods(id);
    const runs = await Promise.all([startRun(name), startRun(name)]);
    const readings = runs.map((run) => read(name, run));
    await vi.waitUntil(async () => (await status(name, runs[0]!)) === "running", { timeout: 30_000 });
    await sleep(2_000);
    const node = pod!.spec!.nodeName!;
    await world.cluster.stopNode(node);
    const lostAt = performance.now();
    await expect.poll(() => world.run(name), { timeout: 240_000, interval: 500 }).toMatchObject({ word: "ticker" });
    console.log(`served again ${((performance.now() - lostAt) / 1000).toFixed(1)} s after the node was lost`);
    for (const run of runs) await expect.poll(() => status(name, run), { timeout: 240_000 }).toBe("success");
    for (const reading of await Promise.all(readings)) {
      const ticks = new Set(reading.frames.flatMap(({ data }) => data.n ?? []));
      const isMarked = reading.frames.some(({ event }) => event === "incomplete");
      // what the lost pod had not stored yet is lost with it, and the stream says so
      if (!isMarked) expectWhole(reading);
      console.log(`${ticks.size} of ${TICKS} events; marked as incomplete: ${isMarked}`);
    }
    const [replacement] = await world.pods(id);
    expect(replacement!.spec!.nodeName).not.toBe(node);

    // a new revision does not wait for the pod of the lost node, which stays until the node's object is deleted
    const revision = await world.revise(id, "two");
    await world.untilDeployed({ id, revision });
    expect((await world.objects("Pod", id)).map(({ metadata }) => metadata.name)).toContain(pod!.metadata.name);
    await world.cluster.client.call("DELETE", `/api/v1/nodes/${node}`);
    await world.remove(id);
    await world.cluster.addNode("node-3");
  });
});
