/** Tests of the control plane's side of clusters, through the routes of listeners: planning and reports. */
import { expect, test, vi } from "vitest";

import { logLines, revisionStatus, untilStatus } from "../../../test/deploy.ts";
import { keyedControlPlane, registerListener, type TestListener } from "../../../test/listeners.ts";
import type { ClusterReport, ClusterWork, ObservedDeployment } from "./desired-deployment.ts";
import { matchHosts } from "./match-hosts.ts";

const control = await keyedControlPlane({
  HEDDLE_DEPLOY_UNSEEN_SECONDS: "1",
  HEDDLE_LISTENER_ADDRESSES: "192.0.2.0/24",
});
const { call, sql } = control;
const createListener = (name: string) => registerListener(control, name);

const create = (name: string, { id: listener }: TestListener, more: object = {}) =>
  call("POST", "/v2/deployments", {
    name,
    source: "external_docker",
    source_config: { resource_spec: {}, listener_id: listener, listener_config: { k8s_namespace: "agents" } },
    source_revision_config: { image_uri: "registry.example/agent:1" },
    secrets: [{ name: "GREETING", value: "hello" }],
    ...more,
  });

/** Waits for work with this generation. */
async function work(listener: TestListener, deploymentId: string, generation: number) {
  let version: string | null = null;
  for (;;) {
    const query: string = version === null ? "" : `?version=${version}`;
    const { json } = (await listener.call("GET", `/work${query}`)) as { json: ClusterWork };
    ({ version } = json);
    const found = json.deployments?.find((desired) => desired.deploymentId === deploymentId);
    if (found && found.generation >= generation) return found;
  }
}

const report = async (
  listener: TestListener,
  deployment: Partial<ObservedDeployment>,
  logs: ClusterReport["logs"] = [],
) => {
  const whole = { liveGeneration: null, ready: 0, total: 0, message: null, pods: [], ...deployment };
  const answer = await listener.call("POST", "/reports", { deployments: [whole], logs });
  expect(`${answer.status} ${answer.text}`).toMatch(/^200/);
  return answer.json as { logPositions: Record<string, string> };
};

const pod = (revisionId: string, state: "starting" | "ready" | "draining" = "ready", host = "192.0.2.7") => ({
  uid: crypto.randomUUID(),
  name: "pod",
  revisionId,
  state,
  address: { host, port: 8000 },
  restarts: 0,
});

test("a listener gets a revision with its environment, and deploys it by reporting it as ready", async () => {
  const listener = await createListener("a");
  const { json } = await create("first", listener);
  const { id, latest_revision_id: revision } = json;
  const desired = await work(listener, id, 1);
  expect(desired).toMatchObject({
    generation: 1,
    namespace: "agents",
    revision: {
      id: revision,
      image: "registry.example/agent:1",
      replicas: { min: 1, max: 1 },
      environment: { GREETING: "hello", DATABASE_URI: expect.stringContaining("@192.0.2.1") },
    },
  });
  expect((await call("GET", `/v2/listeners/${listener.id}`)).json.status).toBe("connected");

  const ready = pod(revision);
  await report(listener, {
    deploymentId: id,
    generation: 1,
    state: "progressing",
    pods: [{ ...ready, state: "starting" }],
  });
  await untilStatus(call, id, revision, "DEPLOYING");
  const { logPositions } = await report(listener, { deploymentId: id, generation: 1, state: "ready", pods: [ready] });
  await untilStatus(call, id, revision, "DEPLOYED");
  expect(control.control.deps.table.find("first")!.instances).toEqual([
    { id: expect.any(String), host: "192.0.2.7", port: 8000 },
  ]);
  expect(logPositions).toEqual({ [ready.uid]: "0" });

  // lines are stored once, even when the answer was lost and they are sent again
  const lines = { uid: ready.uid, from: "0", to: "1767323045000000007", text: "a line\nanother" };
  for (const sending of ["first", "again"]) {
    const answer = await report(listener, { deploymentId: id, generation: 1, state: "ready", pods: [ready] }, [lines]);
    expect([sending, answer.logPositions]).toEqual([sending, { [ready.uid]: "1767323045000000007" }]);
  }
  const stored = await logLines(call, id, revision, "deploy");
  expect(stored.filter((line) => line.includes("line") || line === "another")).toEqual(["a line", "another"]);

  // a pod that is gone leaves the gateways' table
  await report(listener, { deploymentId: id, generation: 1, state: "progressing", pods: [] });
  expect(control.control.deps.table.find("first")!.instances).toEqual([]);
});

test("a failed revision gives way to the serving one, and a report about an earlier generation changes nothing", async () => {
  const listener = await createListener("b");
  const { json } = await create("second", listener);
  const { id, latest_revision_id: first } = json;
  await work(listener, id, 1);
  await report(listener, { deploymentId: id, generation: 1, state: "ready", pods: [pod(first)] });
  await untilStatus(call, id, first, "DEPLOYED");
  const image = { image_uri: "registry.example/agent:2" };
  const changed = await call("PATCH", `/v2/deployments/${id}`, { source_revision_config: image });
  const second = changed.json.latest_revision_id;
  expect(await work(listener, id, 2)).toMatchObject({ generation: 2, revision: { id: second } });
  await report(listener, { deploymentId: id, generation: 1, state: "failed", message: "too late" });
  await report(listener, { deploymentId: id, generation: 2, state: "failed", message: "ImagePullBackOff" });
  await untilStatus(call, id, second, "DEPLOY_FAILED");
  const { json: failed } = await call("GET", `/v2/deployments/${id}/revisions/${second}`);
  expect(failed.status_message).toBe("ImagePullBackOff");
  expect(await work(listener, id, 3)).toMatchObject({ generation: 3, revision: { id: first } });

  // objects of a higher generation, as after a restored database: this one decides, with the next
  await report(listener, { deploymentId: id, generation: 3, liveGeneration: 9, state: "stale" });
  expect(await work(listener, id, 10)).toMatchObject({ generation: 10, revision: { id: first } });

  await call("DELETE", `/v2/deployments/${id}`);
  expect(await work(listener, id, 11)).toMatchObject({ revision: null });
  expect((await call("GET", `/v2/deployments/${id}`)).status).toBe(200);
  await report(listener, { deploymentId: id, generation: 11, state: "removed" });
  await expect.poll(async () => (await call("GET", `/v2/deployments/${id}`)).status).toBe(404);
  expect(await sql`select 1 from secrets where purpose = 'cluster-target' and id like ${`${id}%`}`).toEqual([]);
});

test("a revision waits as UNKNOWN while its listener is unavailable", async () => {
  const listener = await createListener("c");
  const { json } = await create("third", listener);
  const { id, latest_revision_id: revision } = json;
  await untilStatus(call, id, revision, "UNKNOWN");
  const { json: shown } = await call("GET", `/v2/deployments/${id}/revisions/${revision}`);
  expect(shown.status_message).toContain(`The listener ${listener.id} has not reported`);
  const { generation } = await work(listener, id, 1);
  await report(listener, { deploymentId: id, generation, state: "ready", pods: [pod(revision)] });
  await untilStatus(call, id, revision, "DEPLOYED");
});

test("a revision that was lost while it was created is deployed by the next attempt", async () => {
  const listener = await createListener("lost");
  const { json } = await create("lost", listener);
  const { id, latest_revision_id: revision } = json;
  await work(listener, id, 1);
  // as takeFromLost leaves a revision whose process ended during CREATING
  await sql`update revisions set status = 'INTERRUPTED', artifact_id = null, holder = null, lease_until = null,
    attempt = attempt + 1, losses = 1 where id = ${revision}`;
  // as a cluster does; while the revision has no image, it is to run nothing
  const isDeployed = async () => {
    const { generation, revision: wanted } = await work(listener, id, 1);
    const pods = wanted === null ? [] : [pod(revision)];
    await report(listener, { deploymentId: id, generation, state: wanted === null ? "removed" : "ready", pods });
    return (await revisionStatus(call, id, revision)) === "DEPLOYED";
  };
  await vi.waitUntil(isDeployed, { timeout: 20_000, interval: 100 });
  const { json: shown } = await call("GET", `/v2/deployments/${id}`);
  expect(shown).toMatchObject({ status: "READY", active_revision_id: revision });
});

test("a newer revision does not wait for one whose listener is unavailable", async () => {
  const listener = await createListener("days");
  const { json } = await create("days", listener);
  const { id, latest_revision_id: first } = json;
  await untilStatus(call, id, first, "DEPLOYING");
  // created before the first one is UNKNOWN
  const image = { image_uri: "registry.example/agent:2" };
  const changed = await call("PATCH", `/v2/deployments/${id}`, { source_revision_config: image });
  const second = changed.json.latest_revision_id;
  await untilStatus(call, id, first, "SKIPPED");
  await untilStatus(call, id, second, "UNKNOWN");
  // between the two revisions, the cluster is to run nothing
  const next = async () => {
    const desired = await work(listener, id, 2);
    return desired.revision !== null && desired;
  };
  const { generation, revision } = await vi.waitUntil(next, { timeout: 20_000, interval: 100 });
  expect(revision).toMatchObject({ id: second });
  await report(listener, { deploymentId: id, generation, state: "ready", pods: [pod(second)] });
  await untilStatus(call, id, second, "DEPLOYED");
  expect((await call("GET", `/v2/deployments/${id}/revisions/${first}`)).json.status_message).toContain(second);
});

test("a listener can report only about its own deployments, and only addresses that the operator allows", async () => {
  const [listener, other] = [await createListener("d"), await createListener("e")];
  const { json } = await create("fourth", listener);
  const { id, latest_revision_id: revision } = json;
  await work(listener, id, 1);
  await report(other, { deploymentId: id, generation: 1, state: "failed", message: "not mine", pods: [pod(revision)] });
  expect(await sql`select 1 from instances where deployment_id = ${id}`).toEqual([]);
  const metadata = pod(revision, "ready", "169.254.169.254");
  await report(listener, { deploymentId: id, generation: 1, state: "ready", pods: [metadata] });
  await untilStatus(call, id, revision, "DEPLOYED");
  expect(control.control.deps.table.find("fourth")!.instances).toEqual([]);
});

test("rejects what a cluster cannot run, with the name of the field", async () => {
  const listener = await createListener("f");
  const rejection = async (more: object) => {
    const { status, json } = await create("rejected", listener, more);
    return `${status} ${JSON.stringify(json.detail)}`;
  };
  const config = (spec: object) => ({ source_config: { resource_spec: spec, listener_id: listener.id } });
  expect(await rejection(config({ queue_min_scale: 1 }))).toMatch(/^422 .*queue_min_scale is not supported/);
  expect(await rejection(config({ volumes: [{ name: "x", hostPath: { path: "/" } }] }))).toMatch(/^422 .*volumes/);
  expect(await rejection({ secret_references: [{ name: "A", secret_name: "heddle-x", secret_key: "k" }] })).toMatch(
    /^422 .*secret_name/,
  );
  const github = {
    source: "github",
    source_revision_config: { repo_ref: "main", langgraph_config_path: "langgraph.json" },
  };
  const repository = { repo_url: "https://github.com/a/b", build_on_push: false, listener_id: listener.id };
  expect(await rejection({ ...github, source_config: repository })).toMatch(/^400 .*Set HEDDLE_KUBERNETES_REGISTRY/);
});

test("matches hosts of pods with networks, names and domains", () => {
  const matches = matchHosts(["10.0.0.0/8", "192.0.2.1", "agents.example", "*.svc.example"]);
  expect(["10.1.2.3", "192.0.2.1", "Agents.example", "a.svc.example"].map(matches)).toEqual([true, true, true, true]);
  expect(["11.0.0.1", "192.0.2.2", "x.agents.example", "svc.example", "::1"].map(matches)).toEqual(
    Array(5).fill(false),
  );
});
