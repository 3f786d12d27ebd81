/** Tests of the number of pods: with the cluster's autoscaler, and without pods. */
import { setTimeout as sleep } from "node:timers/promises";

import { beforeAll, describe, expect, test } from "vitest";

import { missingPrograms } from "../../../../test/kubernetes/binaries.ts";
import { type MetricsApi, serveMetrics } from "../../../../test/kubernetes/metrics-api.ts";
import { atEnd } from "../../../test/at-end.ts";
import { type ClusterWorld, image, openClusterWorld, ROLLOUT_MS } from "../../../test/cluster-world.ts";

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

  test("is 0 with min_scale and max_scale 0, and a later revision starts pods", async () => {
    const none = { deployment_type: "dev_zero", resource_spec: { min_scale: 0, max_scale: 0 } };
    const { id } = await world.deploy("none", "one", none);
    expect(await count(id)).toBe(0);
    const body = {
      source_config: { resource_spec: { cpu: 0.1, cpu_limit: 2, min_scale: 1, max_scale: 1 } },
      source_revision_config: { image_uri: image("one") },
    };
    const changed = await world.call("PATCH", `/v2/deployments/${id}`, body);
    expect(`${changed.status} ${changed.text}`).toMatch(/^200/);
    await world.untilDeployed({ id, revision: changed.json.latest_revision_id });
    expect(await world.run("none")).toMatchObject({ word: "one" });
    await world.remove(id);
  });

  test("cannot begin at 0 and grow: min_scale 0 with a max_scale above 0 is rejected", async () => {
    const created = await world.call("POST", "/v2/deployments", {
      name: "from-zero",
      source: "external_docker",
      source_config: { deployment_type: "dev_zero", resource_spec: { min_scale: 0, max_scale: 2 } },
      source_revision_config: { image_uri: image("one") },
      secrets: [],
    });
    expect(created.status).toBe(422);
    expect(created.text).toContain("scaling from 0 on demand is not implemented");
  });
});
