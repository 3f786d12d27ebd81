/** Deployments of source code in clusters, where neither a container engine nor a registry is available. */
import { expect, test } from "vitest";

import { createArchive, deployArchive, graphProject, logLines, untilStatus } from "../../../test/deploy.ts";
import {
  type KeyedControlPlane,
  keyedControlPlane,
  registerListener,
  type TestListener,
} from "../../../test/listeners.ts";
import type { ClusterWork } from "../kubernetes/desired-deployment.ts";

const REPOSITORY = "registry.example/team/heddle";
const REGISTRY = { HEDDLE_KUBERNETES_REGISTRY: REPOSITORY };

const bare = await keyedControlPlane();
const lonely = await keyedControlPlane(REGISTRY);
const engine = { HEDDLE_CONTAINER_ENGINE: "tcp://127.0.0.1:9", HEDDLE_LOG_LEVEL: "fatal" };
const control = await keyedControlPlane({ ...REGISTRY, ...engine });

const create = async (at: KeyedControlPlane, name: string, { id: listener }: TestListener, more: object = {}) =>
  at.call("POST", "/v2/deployments", {
    name,
    source: "internal_source",
    source_config: { deployment_type: "dev", listener_id: listener },
    source_revision_config: {},
    secrets: [],
    ...more,
  });

/** Body of a deployment of a repository, whose first revision is created at once. */
const repository = ({ id: listener }: TestListener) => ({
  source: "github",
  source_config: { repo_url: "https://github.com/a/b", build_on_push: false, listener_id: listener },
  source_revision_config: { repo_ref: "main", langgraph_config_path: "langgraph.json" },
});

test("source code for a cluster is rejected without a registry and without an engine, with the setting's name", async () => {
  const rejection = async (at: KeyedControlPlane) => {
    const listener = await registerListener(at);
    const { status, json } = await create(at, "rejected", listener, repository(listener));
    return `${status} ${JSON.stringify(json.detail)}`;
  };
  expect(await rejection(bare)).toMatch(/^400 .*Set HEDDLE_KUBERNETES_REGISTRY/);
  expect(await rejection(lonely)).toMatch(/^400 .*Set HEDDLE_CONTAINER_ENGINE/);
});

test("a cluster deployment that would need the embedded Postgres is rejected before anything is built", async () => {
  const embedded = await keyedControlPlane({ ...REGISTRY, ...engine, HEDDLE_DEPLOYMENT_DATABASE_URI: "" });
  // the test's Postgres is reached by its socket, as the embedded one is
  if (!embedded.control.deps.databases.isEmbedded) return;
  const listener = await registerListener(embedded);
  const { status, text } = await create(embedded, "nowhere", listener, repository(listener));
  expect(`${status} ${text}`).toMatch(/^400 .*Set HEDDLE_DEPLOYMENT_DATABASE_URI/);
});

test("no deployment may name an image of the platform's builds", async () => {
  const listener = await registerListener(control);
  const image = (uri: string, spec: object = {}) =>
    create(control, "thief", listener, {
      source: "external_docker",
      source_config: { listener_id: listener.id, resource_spec: spec },
      source_revision_config: { image_uri: uri },
    });
  const named = await image(`${REPOSITORY}:some.other.1`);
  expect(`${named.status} ${named.text}`).toMatch(
    /^422 .*image_uri.*repository of the images that the platform builds/,
  );
  const side = await image("registry.example/mine:1", { sidecars: [{ name: "side", image: `${REPOSITORY}:x` }] });
  expect(`${side.status} ${side.text}`).toMatch(/^422 .*sidecars.*repository of the images that the platform builds/);
});

test("a build waits for its engine, and fails with its name after three attempts", async () => {
  const listener = await registerListener(control);
  const { json } = await create(control, "waiting", listener);
  const revision = await deployArchive(control.call, json.id, createArchive(graphProject("one")));
  await untilStatus(control.call, json.id, revision, "BUILD_FAILED");
  const { json: failed } = await control.call("GET", `/v2/deployments/${json.id}/revisions/${revision}`);
  expect(failed.status_message).toContain("The container engine at tcp://127.0.0.1:9 does not answer");
  expect((await logLines(control.call, json.id, revision, "build")).join("\n")).toContain("does not answer");
});

/** Creates a revision as if it had been built, and returns the work of its listener. */
async function deployBuilt(name: string, at = control) {
  const { call, sql } = at;
  const listener = await registerListener(at);
  const { json } = await create(at, name, listener);
  const image = `${REPOSITORY}@sha256:${"d".repeat(64)}`;
  const revision = crypto.randomUUID();
  await sql`insert into revisions (id, deployment_id, number, source, source_config, langgraph_config_path, cluster,
      artifact_id, built_image, status)
    values (${revision}, ${json.id}, 1, 'internal_source', ${sql.json({ listener_id: listener.id })}, 'langgraph.json',
      ${listener.id}, ${revision}, ${image},
      'AWAITING_DEPLOY')`;
  at.control.deps.worker.wake();
  await untilStatus(call, json.id, revision, "DEPLOYING");
  await expect
    .poll(async () => ((await listener.call("GET", "/work")).json as ClusterWork).deployments?.[0])
    .toMatchObject({ revision: { id: revision, image, isBuilt: true, pullCredentials: null } });
  return { id: json.id as string, listener, revision };
}

/** A listener's report that the first generation of a deployment serves. */
const readyDeployment = (deploymentId: string, pods: object[] = []) => ({
  deploymentId,
  generation: 1,
  liveGeneration: 1,
  state: "ready",
  ready: 1,
  total: 1,
  message: null,
  pods,
});

test("a listener gets the digest; its pods' CPU time and memory are shown, and why they are missing", async () => {
  const { call } = control;
  const { id, listener, revision } = await deployBuilt("built");
  const uid = crypto.randomUUID();
  const pod = { uid, name: "pod", revisionId: revision, state: "ready", address: null, restarts: 0 };
  const report = async (usage?: object) => {
    const answer = await listener.call("POST", "/reports", {
      deployments: [readyDeployment(id, [pod])],
      logs: [],
      ...(usage && { usage }),
    });
    expect(`${answer.status} ${answer.text}`).toMatch(/^200/);
    const { json } = await call("GET", `/v2/deployments/${id}/instances`);
    const { memory_bytes: memory, cpu_percent: cpu, usage_message: message } = json.resources[0];
    return { memory, cpu, message };
  };
  // never zeros: the cluster has not said anything yet
  expect(await report()).toEqual({
    memory: null,
    cpu: null,
    message: expect.stringContaining("has not reported this pod"),
  });
  const problem = "The cluster has no metrics API (metrics.k8s.io).";
  expect(await report({ problem, pods: [] })).toEqual({ memory: null, cpu: null, message: problem });
  const metrics = { problem: null, pods: [{ uid, memoryBytes: 5_000_000_000, cpuPercent: 12.5 }] };
  expect(await report(metrics)).toEqual({ memory: 5_000_000_000, cpu: 12.5, message: null });
  // old metrics are not current ones
  await control.sql`update instances set measured_at = now() - interval '2 minutes' where pod_uid = ${uid}`;
  expect(await report()).toEqual({ memory: null, cpu: null, message: expect.stringContaining("within the last 90 s") });
  // another listener cannot report about it
  const other = await registerListener(control);
  await other.call("POST", "/reports", { deployments: [], logs: [], usage: metrics });
  expect((await report()).memory).toBeNull();
});

test("a rollback runs the earlier image again, without a build, even where nothing can be built any more", async () => {
  const { call, sql } = bare;
  const { id, listener, revision } = await deployBuilt("rolled", bare);
  await listener.call("POST", "/reports", { deployments: [readyDeployment(id)], logs: [] });
  await untilStatus(call, id, revision, "DEPLOYED");
  const rolled = await call("POST", `/v2/deployments/${id}/revisions/${revision}/redeploy`);
  expect(`${rolled.status} ${rolled.text}`).toMatch(/^20/);
  const [row] =
    await sql`select built_image, artifact_id from revisions where deployment_id = ${id} order by number desc limit 1`;
  const [first] = await sql`select built_image, artifact_id from revisions where id = ${revision}`;
  expect(row).toEqual(first);
});
