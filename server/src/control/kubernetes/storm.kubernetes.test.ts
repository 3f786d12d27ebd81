/** Test of many revisions at once: five deployments, broken revisions, and deployments that are deleted meanwhile. */
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { beforeAll, describe, expect, test, vi } from "vitest";

import { missingPrograms } from "../../../../test/kubernetes/binaries.ts";
import { type ClusterWorld, openClusterWorld, ROLLOUT_MS } from "../../../test/cluster-world.ts";
import { revisionStatus } from "../../../test/deploy.ts";

const EVERY_MS = 700;
/** Images of each deployment's revisions. The deployments `d` and `e` are deleted during theirs. */
const PLAN: Record<string, string[]> = {
  a: ["one", "two", "broken", "one", "broken", "two"],
  b: ["two", "broken", "two", "one", "two", "one"],
  c: ["one", "broken", "one", "two", "one", "two"],
  d: ["one", "two", "one", "broken", "two"],
  e: ["two", "one", "broken", "two", "broken"],
};
const DELETED = ["d", "e"];
const REVISIONS = Object.values(PLAN).flat().length + 2;
const OWN_KINDS = ["networkpolicies", "poddisruptionbudgets", "serviceaccounts", "services", "deployments"];

describe.skipIf(missingPrograms().length > 0)("a storm of revisions", () => {
  let world: ClusterWorld;

  beforeAll(async () => {
    world = await openClusterWorld();
  });

  /** Counts the server-side applies of kinds; only Heddle uses them here. */
  async function countApplies(): Promise<number> {
    const metrics = await text(await world.cluster.client.open("GET", "/metrics"));
    return metrics
      .split("\n")
      .filter((line) => line.startsWith("apiserver_request_total{") && line.includes('verb="APPLY"'))
      .filter((line) => OWN_KINDS.some((kind) => line.includes(`resource="${kind}"`)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  }

  test(
    `${REVISIONS} revisions of 5 deployments end with the newest good one of each, and nothing of deleted ones`,
    async () => {
      const before = await countApplies();
      const began = performance.now();
      const ids: Record<string, string> = {};
      const revisions: Record<string, string[]> = {};
      const names = Object.keys(PLAN);
      for (let round = 0; round < 6; round++) {
        for (const name of names) {
          const word = PLAN[name]![round];
          if (word === undefined) await world.beginRemove(ids[name]!);
          else if (round === 0) {
            const { id, revision } = await world.create(name, word);
            ids[name] = id;
            revisions[name] = [revision];
          } else revisions[name]!.push(await world.revise(ids[name]!, word));
          await sleep(EVERY_MS);
        }
      }
      const newest = (name: string) => ({ id: ids[name]!, revision: revisions[name]!.at(-1)! });
      // the newest revision of c is broken, so the one before it keeps serving
      await world.untilDeployed(newest("c"));
      const good = newest("c").revision;
      for (const word of ["broken", "broken"]) revisions["c"]!.push(await world.revise(ids["c"]!, word));
      for (const name of ["a", "b"]) await world.untilDeployed(newest(name));
      const { id, revision: broken } = newest("c");
      const isOver = async () => (await revisionStatus(world.call, id, broken)) === "DEPLOY_FAILED";
      await vi.waitUntil(isOver, { timeout: ROLLOUT_MS, interval: 250 });
      for (const name of DELETED) await world.untilRemoved(ids[name]!);
      const seconds = (performance.now() - began) / 1000;

      const serving = { a: newest("a").revision, b: newest("b").revision, c: good };
      const words = { a: "two", b: "one", c: "two" };
      for (const name of ["a", "b", "c"] as const) {
        await expect.poll(() => world.run(name), { timeout: 120_000 }).toMatchObject({ word: words[name] });
        const labels = async () =>
          (await world.objects("Pod", ids[name])).map(({ metadata }) => metadata.labels?.["heddle.revision"]);
        await expect.poll(labels, { timeout: 120_000 }).toEqual([serving[name]]);
        const statuses = await world.revisionStatuses(ids[name]!);
        console.log(`${name}: ${statuses.map(({ status }) => status).join(", ")}`);
        expect(statuses.map((row) => row.id)).toEqual(revisions[name]);
        expect(statuses.filter(({ status }) => !/^(DEPLOYED|DEPLOY_FAILED|SKIPPED)$/.test(status))).toEqual([]);
        // no broken revision was deployed
        const all = name === "c" ? [...PLAN["c"]!, "broken", "broken"] : PLAN[name]!;
        expect(statuses.filter(({ status }, n) => all[n] === "broken" && status === "DEPLOYED")).toEqual([]);
        const deployed = statuses.filter(({ status }) => status === "DEPLOYED");
        expect(deployed.at(-1)!.id).toBe(serving[name]);
      }
      const left = async (kind: "Pod" | "Secret" | "Deployment" | "Service" | "ServiceAccount" | "NetworkPolicy") =>
        (await world.objects(kind)).map(({ metadata }) => metadata.labels?.["heddle.deployment"]).sort();
      const three = ["a", "b", "c"].map((name) => ids[name]).sort();
      for (const kind of ["Pod", "Secret", "Deployment", "Service", "ServiceAccount", "NetworkPolicy"] as const) {
        await expect.poll(async () => [kind, await left(kind)], { timeout: 120_000 }).toEqual([kind, three]);
      }
      const rows = await world.db
        .sql`select 1 from cluster_targets where deployment_id in ${world.db.sql([ids["d"]!, ids["e"]!])}`;
      expect(rows).toHaveLength(0);

      const applies = (await countApplies()) - before;
      console.log(`${applies} applies for ${REVISIONS} revisions in ${seconds.toFixed(0)} s`);
      // each revision is applied, and perhaps the serving one again after it failed; a resync each minute
      const rounds = 2 * REVISIONS + 5 * Math.ceil(seconds / 60);
      expect(applies).toBeLessThan(rounds * OWN_KINDS.length);

      // statuses of Deployments change afterwards too, and must not count as drift
      const settled = await countApplies();
      await sleep(20_000);
      expect((await countApplies()) - settled).toBeLessThanOrEqual(3 * OWN_KINDS.length);
    },
    2 * ROLLOUT_MS,
  );
});
