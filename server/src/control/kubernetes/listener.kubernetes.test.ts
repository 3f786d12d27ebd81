/** Tests of `heddle listener`, a process that runs the deployments of a control plane elsewhere. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { beforeAll, describe, expect, test } from "vitest";

import { missingPrograms } from "../../../../test/kubernetes/binaries.ts";
import { ListenerProcess } from "../../../../test/kubernetes/listener-process.ts";
import { atEnd } from "../../../test/at-end.ts";
import { type ClusterWorld, openClusterWorld } from "../../../test/cluster-world.ts";
import { untilStatus } from "../../../test/deploy.ts";
import type { ClusterReport, ClusterWork } from "./desired-deployment.ts";

const NAMESPACE = "elsewhere";

describe.skipIf(missingPrograms().length > 0)("a listener", () => {
  let world: ClusterWorld;
  let listenerId: string;
  let credential: string;
  /** The listener before its first request. */
  let registered: object;
  let listener: ListenerProcess;

  const processFor = (controlUrl: string, log: string) => {
    const logFile = join(world.directory, log);
    const { kubeconfig } = world.cluster;
    const created = new ListenerProcess({ controlUrl, key: credential, listenerId, kubeconfig, logFile });
    atEnd(() => created.end("SIGKILL"));
    return created;
  };
  const state = async () => (await world.call("GET", `/v2/listeners/${listenerId}`)).json;
  const pods = async (id: string) => (await world.pods(id, NAMESPACE)).map(({ metadata }) => metadata.uid);
  const podRevisions = async (id: string) =>
    (await world.objects("Pod", id, NAMESPACE)).map(({ metadata }) => metadata.labels?.["heddle.revision"]);

  beforeAll(async () => {
    // the control plane itself has no cluster
    const settings = { HEDDLE_CONTROL_DRIVER: "process", HEDDLE_KUBECONFIG: "", HEDDLE_PROCESS_ISOLATION: "none" };
    world = await openClusterWorld({ settings });
    await world.createNamespace(NAMESPACE);
    const created = await world.call("POST", "/v2/listeners", {
      compute_type: "k8s",
      compute_id: "cluster-b",
      compute_config: { k8s_namespaces: [NAMESPACE] },
    });
    ({ id: listenerId, credential } = created.json);
    registered = created.json;
    listener = processFor(world.control.url, "listener.log");
    listener.start();
  });

  /** Changes the clock of a stored time, as if the control plane had been unavailable for days. */
  const letDaysPass = async () => {
    await world.db.sql`update listeners set last_seen_at = last_seen_at - interval '3 days'`;
    await world.db.sql`update cluster_targets set seen_at = seen_at - interval '3 days'`;
    await world.db.sql`update revisions set updated_at = updated_at - interval '3 days'`;
  };

  test("runs the deployments that name it, by outgoing requests, and deletes them", async () => {
    expect(registered).toMatchObject({ status: "never_connected", last_seen_at: null });
    const { id } = await world.deploy("remote", "one", { listener_id: listenerId });
    expect(await world.run("remote")).toMatchObject({ word: "one", env: "hello-one" });
    expect((await state()).status).toBe("connected");
    expect(await pods(id)).toHaveLength(1);
    await world.remove(id);
    expect(await world.objects("Pod", id, NAMESPACE)).toEqual([]);
    expect(await world.objects("Secret", id, NAMESPACE)).toEqual([]);
  });

  test("keeps its deployments for days without the control plane, and then applies the newest revision only", async () => {
    const { id } = await world.deploy("days", "one", { listener_id: listenerId });
    const before = await pods(id);
    const [pod] = (await world.pods(id, NAMESPACE)) as unknown as { status: { podIP: string } }[];
    const serves = async () => (await fetch(`http://${pod!.status.podIP}:8000/ok`)).status;

    await world.control.end("SIGKILL");
    await letDaysPass();
    await sleep(5_000);
    // drift is corrected meanwhile
    const [service] = await world.objects("Service", id, NAMESPACE);
    const path = `/api/v1/namespaces/${NAMESPACE}/services/${service!.metadata.name}`;
    await world.cluster.client.call("DELETE", path);
    await expect
      .poll(async () => (await world.objects("Service", id, NAMESPACE)).map(({ metadata }) => metadata.uid))
      .toEqual([expect.not.stringContaining(service!.metadata.uid)]);
    expect(await serves()).toBe(200);

    // a listener that starts without the control plane leaves everything as it is
    await listener.end("SIGKILL");
    listener.start();
    await sleep(8_000);
    expect(await serves()).toBe(200);
    expect(await pods(id)).toEqual(before);

    // revisions that are created while the listener is unavailable wait; only the newest one is applied
    await listener.end("SIGKILL");
    await world.control.start(world.environment);
    await letDaysPass();
    expect((await state()).status).toBe("away");
    const listed = await world.call("GET", "/v2/listeners");
    expect(JSON.stringify(listed.json ?? listed.text)).toContain("away");
    const skipped = await world.revise(id, "broken");
    await untilStatus(world.call, id, skipped, "UNKNOWN", 60_000);
    expect(await world.run("days")).toMatchObject({ word: "one" });
    const next = await world.revise(id, "two");
    const seen = new Set<string | undefined>();
    const isWatching = new AbortController();
    const watching = (async () => {
      while (!isWatching.signal.aborted) {
        for (const { metadata } of await world.replicaSets(id, NAMESPACE))
          seen.add(metadata.labels?.["heddle.revision"]);
        await sleep(250);
      }
    })();
    listener.start();
    await world.untilDeployed({ id, revision: next });
    await expect.poll(() => podRevisions(id), { timeout: 120_000 }).toEqual([next]);
    isWatching.abort();
    await watching;
    expect(seen).not.toContain(skipped);
    expect(await world.run("days")).toMatchObject({ word: "two" });
    expect((await state()).status).toBe("connected");
    expect((await world.revisionStatuses(id)).map(({ status }) => status)).toEqual(["DEPLOYED", "SKIPPED", "DEPLOYED"]);
    await world.remove(id);
  });

  test("does not apply an older attempt than the one in its cluster", async () => {
    const { id } = await world.deploy("older", "one", { listener_id: listenerId });
    const old = await world.call("GET", `/v2/listeners/${listenerId}/work`, undefined, { "x-api-key": credential });
    const { version, deployments } = old.json as ClusterWork;
    const work = { version, deployments: deployments!.filter(({ deploymentId }) => deploymentId === id) };
    expect(work.deployments).toHaveLength(1);
    const revision = await world.revise(id, "two");
    await world.untilDeployed({ id, revision });
    await expect.poll(() => podRevisions(id), { timeout: 120_000 }).toEqual([revision]);
    const generation = async () => {
      const [deployment] = await world.objects("Deployment", id, NAMESPACE);
      return [deployment!.metadata.generation, deployment!.metadata.annotations?.["heddle.generation"]];
    };
    const before = await generation();
    await listener.end("SIGKILL");

    // a control plane that answers with the past, as one that was restored from an old backup
    const reports: ClusterReport[] = [];
    const past = createServer(async (request, response) => {
      const answer = async (): Promise<unknown> => {
        if (request.method === "POST") {
          reports.push((await json(request)) as ClusterReport);
          return { logPositions: {} };
        }
        if (!request.url!.includes("/work")) return { compute_config: { k8s_namespaces: [NAMESPACE] } };
        if (!request.url!.includes("version=")) return work;
        await sleep(1_000);
        return { version: work.version, deployments: null };
      };
      response.setHeader("content-type", "application/json").end(JSON.stringify(await answer()));
    });
    await new Promise<void>((done) => past.listen(0, "127.0.0.1", done));
    atEnd(() => past.close());
    const misled = processFor(`http://127.0.0.1:${(past.address() as AddressInfo).port}`, "misled.log");
    misled.start();
    const last = () => reports.flatMap(({ deployments: all }) => all).at(-1);
    await expect.poll(() => last()?.state, { timeout: 60_000 }).toBe("stale");
    await sleep(3_000);
    await misled.end("SIGTERM");
    past.closeAllConnections();
    expect(last()).toMatchObject({ deploymentId: id, state: "stale", liveGeneration: Number(before[1]) });
    expect(await generation()).toEqual(before);
    expect(await podRevisions(id)).toEqual([revision]);

    listener.start();
    await world.remove(id);
  });
});
