/** Tests of deployments in a real cluster: their revisions, their objects, and drift of these. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { beforeAll, describe, expect, test } from "vitest";

import { missingPrograms } from "../../../../test/kubernetes/binaries.ts";
import { MERGE_PATCH } from "../../../../test/kubernetes/kube-client.ts";
import { type Exchange, recordApi } from "../../../test/api-cassette.ts";
import { playScene, SCENE_NAMESPACE, SCENES } from "../../../test/cluster-scenes.ts";
import { buildImage, type ClusterWorld, NAMESPACE, openClusterWorld, ROLLOUT_MS } from "../../../test/cluster-world.ts";
import { logLines, untilStatus } from "../../../test/deploy.ts";
import { openAccess } from "./api/kubeconfig.ts";
import { type Kind, objectPath } from "./api/kinds.ts";
import { KubernetesApi } from "./api/kubernetes-api.ts";
import { objectName } from "./names.ts";

const RECORDED = fileURLToPath(new URL("recorded", import.meta.url));
const KINDS: Kind[] = ["Deployment", "Service", "Secret", "ServiceAccount", "NetworkPolicy", "PodDisruptionBudget"];

/** Leaves out managedFields, which take most of each object and are not read. */
const withoutFields = (exchange: Exchange): Exchange =>
  JSON.parse(
    JSON.stringify(exchange, (key, value: unknown) => (key === "managedFields" ? undefined : value)),
  ) as Exchange;

describe.skipIf(missingPrograms().length > 0)("deployments in Kubernetes", () => {
  let world: ClusterWorld;

  beforeAll(async () => {
    world = await openClusterWorld();
    const answers = 'require("http").createServer((_, r) => r.end("{}")).listen(8000)';
    await buildImage(world.cluster, "ok", { "a.txt": "" }, `CMD ["node","-e",${JSON.stringify(answers)}]\n`);
    await world.createNamespace(SCENE_NAMESPACE);
  });

  test("one deployment, scene by scene; with HEDDLE_TEST_RECORD, the recording for recorded.test.ts", async () => {
    const real = new KubernetesApi(await openAccess(world.cluster.kubeconfig));
    for (const scene of SCENES) {
      const recorder = await recordApi(real);
      const reports = await playScene(recorder.api, scene, 120_000);
      const { exchanges } = recorder;
      await recorder.close();
      const message = scene.until === "failed" ? "ImagePull" : "null";
      expect([scene.name, reports.at(-1)?.state, String(reports.at(-1)?.message)]).toEqual([
        scene.name,
        scene.until,
        expect.stringContaining(message),
      ]);
      if (process.env["HEDDLE_TEST_RECORD"] === undefined) continue;
      mkdirSync(RECORDED, { recursive: true });
      const lines = exchanges.map((exchange) => JSON.stringify(withoutFields(exchange)));
      writeFileSync(join(RECORDED, `${scene.name}.json`), `[\n${lines.join(",\n")}\n]\n`);
    }
    real.close();
  });

  test("an image becomes pods that answer through the gateway; a new revision, a broken one and a rollback", async () => {
    const { call } = world;
    const { id, revision: first } = await world.deploy("agent", "one");
    expect(await world.run("agent")).toMatchObject({ word: "one", env: "hello-one" });

    const revision = await world.revise(id, "two");
    await world.untilDeployed({ id, revision });
    expect(await world.run("agent")).toMatchObject({ word: "two" });

    // an unhealthy revision leaves the serving one alone
    const broken = await world.revise(id, "broken");
    await untilStatus(call, id, broken, "DEPLOY_FAILED", 150_000);
    const { json: failed } = await call("GET", `/v2/deployments/${id}/revisions/${broken}`);
    expect(failed.status_message).toContain("failed to load: echo");
    expect(await world.run("agent")).toMatchObject({ word: "two" });
    await expect.poll(async () => (await world.pods(id)).length, { timeout: 60_000 }).toBe(1);

    const back = await call("POST", `/v2/deployments/${id}/revisions/${first}/redeploy`);
    const rollback = back.json.latest_revision_id as string;
    await world.untilDeployed({ id, revision: rollback });
    expect(await world.run("agent")).toMatchObject({ word: "one" });
    await expect
      .poll(async () => (await logLines(call, id, rollback, "deploy")).join("\n"))
      .toContain("step one of one");

    await world.remove(id);
    for (const kind of [...KINDS, "Pod"] as const) expect([kind, await world.objects(kind)]).toEqual([kind, []]);
  });

  test("a revision whose image does not exist fails with the cluster's reason", async () => {
    const { id, revision } = await world.create("no-image", "never-built");
    await untilStatus(world.call, id, revision, "DEPLOY_FAILED", 120_000);
    const { json } = await world.call("GET", `/v2/deployments/${id}/revisions/${revision}`);
    expect(json.status_message).toMatch(/ErrImage|ImagePull/);
    await world.remove(id);
  });

  test("drift is corrected: deleted and changed objects are as before", async () => {
    const { id } = await world.deploy("drift", "one");
    const { client } = world.cluster;
    const find = async (kind: Kind) => (await world.objects(kind, id))[0];
    for (const kind of ["Service", "NetworkPolicy", "Secret", "PodDisruptionBudget"] as const) {
      const { metadata } = (await find(kind))!;
      await client.call("DELETE", objectPath(kind, NAMESPACE, metadata.name));
      const uid = async () => (await find(kind))?.metadata.uid ?? metadata.uid;
      await expect.poll(async () => [kind, (await uid()) === metadata.uid]).toEqual([kind, false]);
    }
    const { metadata } = (await find("Deployment"))!;
    const pods = (await world.pods(id)).map((pod) => pod.metadata.uid);
    const path = objectPath("Deployment", NAMESPACE, metadata.name);
    await client.call("PATCH", path, { spec: { replicas: 3 } }, MERGE_PATCH);
    await expect.poll(async () => (await find("Deployment"))!.spec!.replicas).toBe(1);
    await expect.poll(async () => (await world.pods(id)).map((pod) => pod.metadata.uid)).toEqual(pods);
    await world.remove(id);
  });

  test(
    "objects of other owners are left alone, even with a clashing name",
    async () => {
      const { client } = world.cluster;
      const path = (kind: "configmaps" | "deployments" | "services", name = "") =>
        `${kind === "deployments" ? "/apis/apps/v1" : "/api/v1"}/namespaces/${NAMESPACE}/${kind}/${name}`.replace(
          /\/$/,
          "",
        );
      const labels = { app: "shop" };
      const foreign = (name: string) => ({
        configmaps: { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { colour: "blue" } },
        services: {
          ...{ apiVersion: "v1", kind: "Service", metadata: { name, labels } },
          spec: { selector: labels, ports: [{ port: 80 }] },
        },
        deployments: {
          ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, labels } },
          spec: {
            ...{ replicas: 0, selector: { matchLabels: labels } },
            template: {
              metadata: { labels },
              spec: { containers: [{ name: "shop", image: "localhost/agent-ok:1" }] },
            },
          },
        },
      });
      const kinds = ["configmaps", "services", "deployments"] as const;
      for (const kind of kinds) await client.call("POST", path(kind), foreign("heddle-shop")[kind]);
      // the name of the deployment's objects contains its id, so it is known only once the deployment exists
      const { id, revision } = await world.create("clash", "never-built");
      await untilStatus(world.call, id, revision, "DEPLOY_FAILED", 120_000);
      const name = objectName({ name: "clash", deploymentId: id });
      const removed = async () => (await world.objects("Deployment", id)).length === 0;
      await expect.poll(removed, { timeout: 120_000 }).toBe(true);

      const clashing = async (kind: "services" | "deployments", ownKind: Kind) => {
        await expect.poll(async () => (await world.objects(ownKind, id)).length, { timeout: 60_000 }).toBe(0);
        return client.call("POST", path(kind), foreign(name)[kind]);
      };
      await clashing("deployments", "Deployment");
      type Foreign = { metadata: { uid: string; resourceVersion: string; generation?: number }; spec: unknown };
      const state = async () => {
        const all = [...kinds.map((kind) => path(kind, "heddle-shop")), path("deployments", name)];
        const objects = await Promise.all(all.map((each) => client.call<Foreign>("GET", each)));
        // status updates of the Deployment controller change the resourceVersion
        return objects.map(({ metadata: { uid, generation }, spec }) => ({ uid, generation, spec }));
      };
      await expect.poll(async () => (await state()).length).toBe(4);
      const before = await state();

      const next = await world.revise(id, "one");
      await untilStatus(world.call, id, next, "DEPLOY_FAILED", 120_000);
      const { json } = await world.call("GET", `/v2/deployments/${id}/revisions/${next}`);
      expect(json.status_message).toContain(`The Deployment ${NAMESPACE}/${name} exists and does not belong to this`);
      expect(await state()).toEqual(before);

      // once the other owner has deleted it, the deployment can use the name
      await client.call("DELETE", path("deployments", name));
      const last = await world.revise(id, "one");
      await world.untilDeployed({ id, revision: last });
      await world.remove(id);
      await sleep(2_000);
      for (const kind of kinds) await client.call("GET", path(kind, "heddle-shop"));
      expect((await client.call<Foreign>("GET", path("configmaps", "heddle-shop"))).metadata.uid).toBe(before[0]!.uid);
    },
    ROLLOUT_MS,
  );
});
