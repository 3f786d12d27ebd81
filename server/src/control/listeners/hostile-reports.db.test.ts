/**
 * Reports of a hostile listener, which knows the ids of everything that other listeners, tenants and the control plane's
 * own cluster run. It changes nothing of theirs.
 */
import { beforeAll, expect, test, vi } from "vitest";

import { untilStatus } from "../../../test/deploy.ts";
import { testWorkspace } from "../../../test/identity.ts";
import { keyedControlPlane, registerListener, type TestListener } from "../../../test/listeners.ts";

const control = await keyedControlPlane({ HEDDLE_LISTENER_ADDRESSES: "192.0.2.0/24,198.51.100.0/24" });
const { sql } = control;

interface Deployed {
  id: string;
  revision: string;
  uid: string;
  generation: number;
}

interface Tenant {
  call: typeof control.call;
  listener: TestListener;
  deployed: Deployed;
}

const pod = (uid: string, revisionId: string, host = "192.0.2.7") => ({
  uid,
  name: "pod",
  revisionId,
  state: "ready",
  address: { host, port: 8000 },
  restarts: 0,
});

const observed = ({ id, generation }: Pick<Deployed, "id" | "generation">, more: object = {}) => ({
  deploymentId: id,
  generation,
  liveGeneration: generation,
  state: "ready",
  ready: 1,
  total: 1,
  message: null,
  pods: [],
  ...more,
});

const send = (listener: TestListener, body: object) =>
  listener.call("POST", "/reports", { deployments: [], logs: [], ...body });

/** Creates a deployment of a listener, with a pod that serves. */
async function deploy(call: typeof control.call, listener: TestListener, name: string): Promise<Deployed> {
  const created = await call("POST", "/v2/deployments", {
    name,
    source: "external_docker",
    source_config: { resource_spec: {}, listener_id: listener.id },
    source_revision_config: { image_uri: "registry.example/agent:1" },
    secrets: [],
  });
  expect(`${created.status} ${created.text}`).toMatch(/^201/);
  const { id, latest_revision_id: revision } = created.json;
  const deployed = { id, revision, uid: crypto.randomUUID(), generation: 1 };
  const target = () => sql`select 1 from cluster_targets where deployment_id = ${id}`;
  await vi.waitUntil(async () => (await target()).length === 1, { timeout: 20_000, interval: 100 });
  const { status } = await send(listener, {
    deployments: [observed(deployed, { pods: [pod(deployed.uid, revision)] })],
  });
  expect(status).toBe(200);
  await untilStatus(call, id, revision, "DEPLOYED");
  return deployed;
}

let attacker: Tenant;
/** Victim in another workspace, victim with another listener of the attacker's own workspace. */
let victims: Tenant[];

beforeAll(async () => {
  const other = await testWorkspace(control.db, "B");
  const open = async (call: typeof control.call, name: string): Promise<Tenant> => {
    const listener = await registerListener({ call, as: control.as }, name);
    return { call, listener, deployed: await deploy(call, listener, name) };
  };
  attacker = await open(control.as(other.admin), "attacker");
  victims = [await open(control.call, "victim"), await open(control.as(other.admin), "neighbour")];
  await sql`insert into instances (id, deployment_id, revision_id, replica, state, place, port, pod, pod_uid)
    select gen_random_uuid(), deployment_id, revision_id, 0, 'ready', 'cluster:own', 8000, 'own', gen_random_uuid()
    from instances where pod_uid = ${victims[0]!.deployed.uid}`;
});

/** Everything that is not the attacker's. */
const state = () => sql`
  select 'instance' as kind, to_jsonb(i) as row from instances i where deployment_id <> ${attacker.deployed.id}
  union all
  select 'target', to_jsonb(t) from cluster_targets t where deployment_id <> ${attacker.deployed.id}
  union all
  select 'revision', to_jsonb(r) - 'updated_at' - 'lease_until' from revisions r where deployment_id <> ${attacker.deployed.id}
  union all
  select 'log', to_jsonb(l) from deployment_logs l where deployment_id <> ${attacker.deployed.id}
  order by 1, 2`;

const evil = "198.51.100.66";

test("foreign pods, deployments, revisions and clusters in a report change nothing", async () => {
  const { listener, deployed } = attacker;
  const before = await state();
  const foreignPods = await sql<{ uid: string; revision: string; deployment: string }[]>`
    select pod_uid as uid, revision_id as revision, deployment_id as deployment from instances
    where deployment_id <> ${deployed.id}`;
  expect(foreignPods).toHaveLength(3);
  for (const { uid, revision, deployment } of foreignPods) {
    const cases = {
      "a foreign pod in the own deployment": { id: deployed.id, pods: [pod(uid, deployed.revision, evil)] },
      "a foreign pod and its revision": { id: deployed.id, pods: [pod(uid, revision, evil)] },
      "an own pod in a foreign deployment": {
        id: deployment,
        pods: [pod(crypto.randomUUID(), deployed.revision, evil)],
      },
      "the foreign deployment itself": { id: deployment, pods: [pod(uid, revision, evil)] },
      "the foreign deployment, without pods": { id: deployment, pods: [] },
    };
    for (const [what, { id, pods }] of Object.entries(cases)) {
      for (const podState of ["ready", "draining"]) {
        const changed = pods.map((each) => ({
          ...each,
          state: podState,
          address: podState === "ready" ? each.address : null,
        }));
        for (const reported of ["ready", "failed", "removed", "stale"]) {
          const more = { pods: changed, state: reported, liveGeneration: 50, message: "mine" };
          // a report on the own deployment that ends it would make the following ones meaningless
          if (id === deployed.id && reported !== "ready") continue;
          const { status } = await send(listener, { deployments: [observed({ id, generation: 1 }, more)] });
          expect([what, status]).toEqual([what, 200]);
        }
      }
    }
    const { status, json } = await send(listener, {
      logs: [{ uid, from: "0", to: "5", text: "forged" }],
      usage: { problem: "forged", pods: [{ uid, memoryBytes: 1, cpuPercent: 99 }] },
    });
    expect([status, json]).toEqual([200, { logPositions: { [uid]: "5" } }]);
  }
  expect(await state()).toEqual(before);
  const addresses = ["victim", "neighbour"].map((name) => control.control.deps.table.find(name)!.instances);
  expect(JSON.stringify(addresses)).not.toContain(evil);
});

test("a pod that another cluster has reported first is recorded all the same", async () => {
  const [victim] = victims as [Tenant];
  const uid = crypto.randomUUID();
  const claimed = [pod(attacker.deployed.uid, attacker.deployed.revision), pod(uid, attacker.deployed.revision, evil)];
  expect(
    (await send(attacker.listener, { deployments: [observed(attacker.deployed, { pods: claimed })] })).status,
  ).toBe(200);
  const { deployed, listener } = victim;
  const pods = [pod(deployed.uid, deployed.revision), pod(uid, deployed.revision, "192.0.2.8")];
  expect((await send(listener, { deployments: [observed(deployed, { pods })] })).status).toBe(200);
  const { instances } = control.control.deps.table.find("victim")!;
  expect(instances.map(({ host }) => host).sort()).toEqual(["192.0.2.7", "192.0.2.8"]);
});

test("a replayed report revives no pod that has ended, nor a removed deployment", async () => {
  const { listener, call } = attacker;
  const deployed = await deploy(call, listener, "replayed");
  const first = { deployments: [observed(deployed, { pods: [pod(deployed.uid, deployed.revision)] })] };
  await send(listener, { deployments: [observed(deployed, { state: "progressing", pods: [] })] });
  await send(listener, first);
  expect(await sql`select 1 from instances where deployment_id = ${deployed.id} and state <> 'ended'`).toEqual([]);
  expect(control.control.deps.table.find("replayed")!.instances).toEqual([]);

  const changed = await call("PATCH", `/v2/deployments/${deployed.id}`, {
    source_revision_config: { image_uri: "registry.example/agent:2" },
  });
  expect(changed.status).toBe(200);
  const generation = async () =>
    Number((await sql`select generation from cluster_targets where deployment_id = ${deployed.id}`)[0]!["generation"]);
  await expect.poll(generation, { timeout: 20_000 }).toBe(2);
  const second = crypto.randomUUID();
  const at = { ...deployed, generation: 2 };
  await send(listener, {
    deployments: [observed(at, { state: "progressing", pods: [pod(second, changed.json.latest_revision_id)] })],
  });
  // the first generation, once more
  await send(listener, first);
  const living = await sql`select pod_uid from instances where deployment_id = ${deployed.id} and state <> 'ended'`;
  expect(living.map((row) => row["pod_uid"])).toEqual([second]);
});

test("absurd values are rejected or made storable, and never break the route", async () => {
  const { listener, deployed } = attacker;
  const uid = deployed.uid;
  const own = (more: object) => ({ deployments: [observed(deployed, more)] });
  const mine = pod(uid, deployed.revision);
  const rejected: Record<string, object> = {
    "a port that is none": own({ pods: [{ ...mine, address: { host: "192.0.2.7", port: 70_000 } }] }),
    "a negative port": own({ pods: [{ ...mine, address: { host: "192.0.2.7", port: -1 } }] }),
    "a long name": own({ pods: [{ ...mine, name: "a".repeat(100_000) }] }),
    "too many pods": own({ pods: Array(1001).fill(mine) }),
    "more pods than integers": own({ ready: 2 ** 53 - 1 }),
    "a negative generation": own({ generation: -1 }),
    "the last generation": own({ state: "stale", liveGeneration: Number.MAX_SAFE_INTEGER }),
    "a position beyond a bigint": { logs: [{ uid, from: "0", to: "9".repeat(19), text: "x" }] },
    "a negative position": { logs: [{ uid, from: "-1", to: "1", text: "x" }] },
    "a log of many megabytes": { logs: [{ uid, from: "0", to: "1", text: "\n".repeat(2 ** 21) }] },
    "negative memory": { usage: { problem: null, pods: [{ uid, memoryBytes: -1, cpuPercent: 0 }] } },
    "infinite time": { usage: { problem: null, pods: [{ uid, memoryBytes: 1, cpuPercent: 1e300 }] } },
  };
  for (const [what, body] of Object.entries(rejected)) {
    expect([what, (await send(listener, body)).status]).toEqual([what, 422]);
  }
  const uids = ["", "x", "0".repeat(36), "../../x", uid.toUpperCase(), "00000000-0000-0000-0000-000000000000"];
  const accepted: Record<string, object> = {
    "a null character in a message": own({ state: "failed", message: `a\0b${"x".repeat(100_000)}`, pods: [mine] }),
    "a null character in a host": own({ pods: [{ ...mine, address: { host: "a\0", port: 80 } }] }),
    "a null character in a name": own({ pods: [{ ...mine, name: "a\0" }] }),
    "a lone surrogate": own({ message: "\ud800", pods: [mine] }),
    "ids that are none": own({ pods: uids.map((each) => ({ ...mine, uid: each })) }),
    "revisions that are none": own({ pods: uids.map((each) => ({ ...mine, revisionId: each })) }),
    "deployments that are none": { deployments: uids.map((id) => observed({ id, generation: 1 })) },
    "the same deployment twice": { deployments: [observed(deployed), observed(deployed)] },
    "times beyond Postgres's": {
      logs: [
        "275760-01-01T00:00:00Z",
        "+275760-09-13T00:00:00.000Z",
        "0000-01-01",
        "9999-12-31T23:59:59-12:00",
        5,
        {},
      ].map((time, index) => ({
        uid,
        from: String(index),
        to: String(index + 1),
        text: JSON.stringify({ level: 30, time, msg: `line ${index}` }).replace(/^\{/, "{"),
      })),
    },
    "a log that goes back": { logs: [{ uid, from: "6", to: "2", text: "again" }] },
    "a problem with a null character": { usage: { problem: `\0${"x".repeat(5_000)}`, pods: [] } },
  };
  for (const [what, body] of Object.entries(accepted)) {
    const { status, text } = await send(listener, body);
    expect([what, `${status} ${text}`]).toEqual([what, expect.stringMatching(/^200/)]);
  }
  const lines = await sql`select message from deployment_logs where deployment_id = ${deployed.id} order by id`;
  expect(lines.map((line) => String(line["message"])).filter((line) => /^line|again/.test(line))).toHaveLength(6);
  // the work is still delivered
  expect((await listener.call("GET", "/work")).status).toBe(200);
});
