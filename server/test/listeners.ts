/** Listeners of a control plane, for tests of clusters without a cluster. */
import { expect } from "vitest";

import type { Call } from "./call.ts";
import { type TestControlPlane, testControlPlane } from "./control-plane.ts";
import { type TestDatabase, testDatabase } from "./db.ts";
import { testGuard, type TestWorkspace, testWorkspace } from "./identity.ts";

/** Control plane with the real guard; `call` is an administrator's, whose workspace is `tenant`. */
export interface KeyedControlPlane extends TestControlPlane {
  db: TestDatabase;
  tenant: TestWorkspace;
  /** Returns a caller with a key. */
  as: (key: string) => Call;
}

export async function keyedControlPlane(env: Record<string, string> = {}): Promise<KeyedControlPlane> {
  const db = await testDatabase();
  const tenant = await testWorkspace(db, "A");
  const guard = await testGuard(db);
  // pods could reach these addresses
  const reached = { HEDDLE_KUBERNETES_HOST_ADDRESS: "192.0.2.1", HEDDLE_DEPLOYMENT_DATABASE_URI: db.uri };
  const control = await testControlPlane({ ...reached, ...env }, { db, guard, keysNeeded: false });
  const as =
    (key: string): Call =>
    (method, path, body, headers = {}) =>
      control.call(method, path, body, { "x-api-key": key, ...headers });
  return { ...control, db, tenant, as, call: as(tenant.admin) };
}

export interface TestListener {
  id: string;
  credential: string;
  /** Calls a route of the listener's own, such as `/work`, with its credential. */
  call: (method: string, path: string, body?: unknown) => ReturnType<Call>;
}

export async function registerListener(
  control: Pick<KeyedControlPlane, "call" | "as">,
  computeId: string = crypto.randomUUID(),
): Promise<TestListener> {
  const { status, json, text } = await control.call("POST", "/v2/listeners", {
    compute_type: "k8s",
    compute_id: computeId,
    compute_config: { k8s_namespaces: ["agents"] },
  });
  expect(`${status} ${text}`).toMatch(/^201/);
  const { id, credential } = json as { id: string; credential: string };
  const asListener = control.as(credential);
  return { id, credential, call: (method, path, body) => asListener(method, `/v2/listeners/${id}${path}`, body) };
}
