/** Tests of the number of pods: with the cluster's autoscaler, and without pods. */
import { setTimeout as sleep } from "node:timers/promises";

import { beforeAll, describe, expect, test } from "vitest";

import { missingPrograms } from "../../../../test/kubernetes/binaries.ts";
import { type MetricsApi, serveMetrics } from "../../../../test/kubernetes/metrics-api.ts";
import { atEnd } from "../../../test/at-end.ts";
import { playScene, SCENE_NAMESPACE, SCENES } from "../../../test/cluster-scenes.ts";
import { buildImage, type ClusterWorld, image, openClusterWorld, ROLLOUT_MS } from "../../../test/cluster-world.ts";
import { openAccess } from "./api/kubeconfig.ts";
import { KubernetesApi } from "./api/kubernetes-api.ts";

describe.skipIf(missingPrograms().length > 0)("the number of a deployment's pods", () => {
  let world: ClusterWorld;
  let metrics: MetricsApi;

  beforeAll(async () => {
    world = await openClusterWorld();
    metrics = await serveMetrics(world.cluster);
    atEnd(() => metrics.close());
  });

  const count = async (id: string) => (await world.pods(id)).length;
  const waiting = { timeout: 240_000, interval: 500 };

  test(
    "follows the load between min_scale and max_scale, and a new revision keeps it",
    async () => {
      metrics.use(100);
      // 200m requested: 75 % of them are 150m
      const spec = { cpu: 0.2, min_scale: 1, max_scale: 3 };
      const { id } = await world.deploy("scaled", "one", { resource_spec: spec });
      expect(await count(id)).toBe(1);
      const [autoscaler] = await world.objects("HorizontalPodAutoscaler", id);
      expect(autoscaler!.spec).toMatchObject({ minReplicas: 1, maxReplicas: 3 });

      metrics.use(900);
      await expect.poll(() => count(id), waiting).toBe(3);
      // drift is corrected without a reset to one replica
      const [service] = await world.objects("Service", id);
      await world.cluster.client.call("DELETE", `/api/v1/namespaces/agents/services/${service!.metadata.name}`);
      await expect.poll(async () => (await world.objects("Service", id)).length).toBe(1);
      const next = await world.revise(id, "two");
      let least = Infinity;
      let isOver = false;
      const watching = (async () => {
        while (!isOver) {
          least = Math.min(least, await count(id));
          await sleep(250);
        }
      })();
      await world.untilDeployed({ id, revision: next });
      isOver = true;
      await watching;
      expect(least).toBeGreaterThanOrEqual(3);
      await expect.poll(() => count(id), waiting).toBe(3);
      expect(await world.run("scaled")).toMatchObject({ word: "two" });

      metrics.use(20);
      await expect.poll(() => count(id), waiting).toBe(1);
      expect(await world.run("scaled")).toMatchObject({ word: "two" });

      // with an equal max_scale, the autoscaler is deleted
      const body = {
        source_config: { resource_spec: { ...spec, cpu: 0.1, max_scale: 1 } },
        source_revision_config: { image_uri: image("two") },
      };
      const changed = await world.call("PATCH", `/v2/deployments/${id}`, body);
      expect(`${changed.status} ${changed.text}`).toMatch(/^200/);
      await world.untilDeployed({ id, revision: changed.json.latest_revision_id });
      expect(await world.objects("HorizontalPodAutoscaler", id)).toEqual([]);
      await world.remove(id);
    },
    2 * ROLLOUT_MS,
  );

  test("is 0 where min_scale and max_scale are 0, until a later generation starts pods", async () => {
    const answers = 'require("http").createServer((_, r) => r.end("{}")).listen(8000)';
    await buildImage(world.cluster, "ok", { "a.txt": "" }, `CMD ["node","-e",${JSON.stringify(answers)}]\n`);
    await world.createNamespace(SCENE_NAMESPACE);
    const api = new KubernetesApi(await openAccess(world.cluster.kubeconfig));
    const { desired } = SCENES[0]!;
    const play = async (generation: number, replicas: number) => {
      const revision = { ...desired.revision!, replicas: { min: replicas, max: replicas } };
      const scene = { name: "replicas", desired: { ...desired, generation, revision }, until: "ready" } as const;
      return (await playScene(api, scene, 120_000)).at(-1);
    };
    expect(await play(1, 0)).toMatchObject({ state: "ready", ready: 0, total: 0, pods: [] });
    expect(await play(2, 1)).toMatchObject({ state: "ready", ready: 1 });
    expect(await play(3, 0)).toMatchObject({ state: "ready", ready: 0 });
    api.close();
  });

  test("cannot be 0 for an image from elsewhere, which has no deployment_type", async () => {
    const created = await world.call("POST", "/v2/deployments", {
      name: "from-zero",
      source: "external_docker",
      source_config: { resource_spec: { min_scale: 0, max_scale: 2 } },
      source_revision_config: { image_uri: image("one") },
      secrets: [],
    });
    expect(created.status).toBe(422);
    expect(created.text).toContain("min_scale");
  });
});
