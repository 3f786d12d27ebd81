/** Tests of outages: of the API server, and of control planes that lead. */
import { setTimeout as sleep } from "node:timers/promises";

import { beforeAll, describe, expect, test, vi } from "vitest";

import { ControlProcess } from "../../../../test/crash/control-process.ts";
import { missingPrograms } from "../../../../test/kubernetes/binaries.ts";
import { atEnd } from "../../../test/at-end.ts";
import { type ClusterWorld, NAMESPACE, openClusterWorld, ROLLOUT_MS } from "../../../test/cluster-world.ts";
import { objectPath } from "./api/kinds.ts";

const OUTAGE_MS = 30_000;

describe.skipIf(missingPrograms().length > 0)("outages of a deployment's platform", () => {
  let world: ClusterWorld;

  beforeAll(async () => {
    // an outage shorter than the period of grace, as in a default cluster
    world = await openClusterWorld({ nodeGraceSeconds: 40 });
  });

  const uids = async (id: string) => (await world.pods(id)).map(({ metadata }) => metadata.uid);
  const restarts = async (id: string) =>
    (await world.pods(id)).map(({ status }) => status!.containerStatuses!.map(({ restartCount }) => restartCount));

  /** Asserts that a deployment has exactly the objects of one revision, and that it serves it. */
  async function expectOnly(id: string, name: string, revision: string, word: string): Promise<void> {
    // pods that are replaced share the queue until they stop
    await expect.poll(() => world.run(name), { timeout: 120_000 }).toMatchObject({ word });
    await expect.poll(async () => (await world.objects("Pod", id)).length, { timeout: 120_000 }).toBe(1);
    const [pod] = await world.pods(id);
    expect(pod!.metadata.labels?.["heddle.revision"]).toBe(revision);
    const sets = await world.replicaSets(id);
    expect(sets.filter(({ spec }) => spec!.replicas! > 0).map(({ metadata }) => metadata.labels)).toEqual([
      expect.objectContaining({ "heddle.revision": revision }),
    ]);
    // the Secrets of earlier revisions are deleted once their pods are gone
    const secrets = async () =>
      (await world.objects("Secret", id)).map(({ metadata }) => metadata.labels?.["heddle.revision"]);
    await expect.poll(secrets, { timeout: 60_000 }).toEqual([revision]);
    for (const kind of ["Deployment", "Service", "ServiceAccount", "NetworkPolicy", "PodDisruptionBudget"] as const) {
      expect([kind, (await world.objects(kind, id)).length]).toEqual([kind, 1]);
    }
  }

  const outages = {
    frozen: {
      begin: async () => world.cluster.freezeApiServer(),
      end: async () => world.cluster.thawApiServer(),
    },
    killed: {
      begin: () => world.cluster.killApiServer(),
      end: () => world.cluster.startApiServer(),
    },
  };

  test.each(["frozen", "killed"] as const)(
    "an API server that is %s for 30 s changes nothing that runs, and rollouts end after it is back",
    async (kind) => {
      const serving = await world.deploy(`serving-${kind}`, "one");
      const rolling = await world.deploy(`rolling-${kind}`, "one");
      const before = { uids: await uids(serving.id), restarts: await restarts(serving.id) };
      const next = await world.revise(rolling.id, "two");
      // the new pod exists, but is not ready
      const hasNew = async () => (await world.objects("Pod", rolling.id)).length === 2;
      await vi.waitUntil(hasNew, { timeout: 60_000, interval: 50 });

      await outages[kind].begin();
      const answers: unknown[] = [];
      let statuses: string[] = [];
      try {
        for (const end = performance.now() + OUTAGE_MS; performance.now() < end; await sleep(1000)) {
          answers.push(await world.run(`serving-${kind}`), await world.run(`rolling-${kind}`));
        }
        statuses = (await world.revisionStatuses(rolling.id)).map(({ status }) => status);
        expect((await world.call("GET", `/v2/deployments/${serving.id}`)).json.status).toBe("READY");
      } finally {
        await outages[kind].end();
      }
      const back = performance.now();
      expect(answers.length).toBeGreaterThan(20);
      expect(answers.filter((answer) => typeof answer === "string")).toEqual([]);
      expect(statuses).toEqual(["DEPLOYED", "UNKNOWN"]);

      await world.untilDeployed({ id: rolling.id, revision: next });
      console.log(
        `${kind}: DEPLOYED ${((performance.now() - back) / 1000).toFixed(1)} s after the API server was back`,
      );
      await expectOnly(rolling.id, `rolling-${kind}`, next, "two");
      expect({ uids: await uids(serving.id), restarts: await restarts(serving.id) }).toEqual(before);
      expect((await world.revisionStatuses(serving.id)).map(({ status }) => status)).toEqual(["DEPLOYED"]);
      await world.remove(serving.id);
      await world.remove(rolling.id);
    },
  );

  test("a restarted control plane adopts its cluster without a new pod", async () => {
    const { id } = await world.deploy("adopted", "one");
    const next = await world.revise(id, "two");
    await world.control.end("SIGKILL");
    await world.control.start(world.environment);
    await world.untilDeployed({ id, revision: next });
    await expectOnly(id, "adopted", next, "two");
    const before = await uids(id);
    await world.control.end("SIGKILL");
    await world.control.start(world.environment);
    await vi.waitUntil(async () => typeof (await world.run("adopted")) === "object", { timeout: 90_000 });
    expect(await uids(id)).toEqual(before);
    await world.remove(id);
  });

  describe("two control planes", () => {
    let second: ControlProcess;

    beforeAll(async () => {
      second = await ControlProcess.create(world.directory, world.db.uri);
      atEnd(async () => {
        second.signal("SIGCONT");
        await second.end("SIGTERM");
      });
      await second.start(world.environment);
    });

    /** Returns the control plane that leads, and the other one. */
    async function leaderFirst(): Promise<[ControlProcess, ControlProcess]> {
      const [row] = await world.db.sql<{ pid: number }[]>`select (holder->>'pid')::int as pid from control_leader`;
      return row!.pid === second.pid ? [second, world.control] : [world.control, second];
    }

    const term = async () => {
      const [row] = await world.db.sql<{ term: string }[]>`select term from control_leader`;
      return Number(row!.term);
    };

    /** What a thawed leader could change: the target, and each object's version. */
    async function state(id: string): Promise<unknown> {
      const kinds = ["Service", "Secret", "ServiceAccount", "NetworkPolicy", "Pod"] as const;
      const all = await Promise.all(kinds.map((kind) => world.objects(kind, id)));
      const [deployment] = await world.objects("Deployment", id);
      return {
        target: await world.generation(id),
        deployment: [deployment!.metadata.uid, deployment!.metadata.generation],
        objects: all.flat().map(({ metadata }) => [metadata.name, metadata.uid]),
        revisions: await world.revisionStatuses(id),
      };
    }

    // each at another moment of the rollout
    test.each([
      ["SIGKILL", 0],
      ["SIGSTOP", 0],
      ["SIGKILL", 700],
      ["SIGSTOP", 700],
      ["SIGSTOP", 3000],
    ] as const)(
      "a leader lost by %s %i ms after a revision was created is replaced",
      async (signal, afterMs) => {
        const name = `led-${signal.toLowerCase()}-${afterMs}`;
        const { id } = await world.deploy(name, "one");
        const [leader, other] = await leaderFirst();
        const call = world.callTo(other);
        const earlier = await term();
        const next = await world.revise(id, "two", call);
        await sleep(afterMs);
        world.reached = other;
        if (signal === "SIGKILL") await leader.end("SIGKILL");
        else leader.signal("SIGSTOP");
        const lostAt = performance.now();
        try {
          await vi.waitUntil(async () => (await term()) > earlier, { timeout: 30_000, interval: 50 });
          const takeover = performance.now() - lostAt;
          console.log(
            `${signal} after ${afterMs} ms: another control plane led after ${(takeover / 1000).toFixed(1)} s`,
          );
          expect(takeover).toBeLessThan(10_000);
          await world.untilDeployed({ id, revision: next }, call);
        } finally {
          if (signal === "SIGKILL") await leader.start(world.environment);
          else leader.signal("SIGCONT");
        }
        await expectOnly(id, name, next, "two");
        const before = await state(id);
        await sleep(8_000);
        expect(await state(id)).toEqual(before);
        expect((await world.revisionStatuses(id)).map(({ status }) => status)).toEqual(["DEPLOYED", "DEPLOYED"]);
        expect(await term()).toBe(earlier + 1);
        await world.remove(id);
      },
      2 * ROLLOUT_MS,
    );

    test("a thawed leader does not undo the rollout that its successor began", async () => {
      const { id } = await world.deploy("undone", "one");
      const [leader, other] = await leaderFirst();
      const call = world.callTo(other);
      const middle = await world.revise(id, "broken", call);
      // the leader has applied the revision that is about to be replaced
      const isApplied = async () =>
        (await world.objects("Pod", id)).some(({ metadata }) => metadata.labels?.["heddle.revision"] === middle);
      await vi.waitUntil(isApplied, { timeout: 60_000, interval: 50 });
      world.reached = other;
      leader.signal("SIGSTOP");
      const next = await world.revise(id, "two", call);
      try {
        await world.untilDeployed({ id, revision: next }, call);
      } finally {
        leader.signal("SIGCONT");
      }
      await sleep(8_000);
      await expectOnly(id, "undone", next, "two");
      const [deployment] = await world.objects("Deployment", id);
      expect(Number(deployment!.metadata.annotations?.["heddle.generation"])).toBe(await world.generation(id));
      await world.remove(id);
    });
  });

  test("nothing of the deleted deployments is left", async () => {
    for (const kind of ["Deployment", "Service", "Secret", "ServiceAccount", "NetworkPolicy", "Pod"] as const) {
      expect([kind, await world.objects(kind)]).toEqual([kind, []]);
    }
    const path = objectPath("Secret", NAMESPACE);
    expect((await world.cluster.client.call<{ items: unknown[] }>("GET", path)).items).toEqual([]);
  });
});
