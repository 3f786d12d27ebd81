import { expect, test } from "vitest";

import { checkReferences, readClusterSpec } from "./check-cluster-spec.ts";

const read = (spec: Record<string, unknown>) =>
  readClusterSpec({ resource_spec: spec as never }, { serviceAccounts: ["allowed"] });
const refusal = (spec: Record<string, unknown>): string => {
  try {
    read(spec);
    return "accepted";
  } catch (error) {
    const { issues = [] } = error as { issues?: { loc: unknown[]; msg: string }[] };
    return `${issues[0]!.loc.slice(3).join(".")}: ${issues[0]!.msg}`;
  }
};

test("passes on the fields of the contract", () => {
  const spec = {
    labels: { team: "a" },
    service_account_name: "allowed",
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
    volume_mounts: [{ name: "data", mountPath: "/data" }],
    sidecars: [{ name: "side", image: "side:1", env: [{ name: "A", value: "b" }] }],
    cpu: 1,
  };
  expect(read(spec)).toMatchObject({ labels: { team: "a" }, sidecars: [{ name: "side" }] });
  expect(read({ min_scale: 0, max_scale: 0 })).toEqual({});
});

test.each([
  [{ volumes: [{ name: "host", hostPath: { path: "/" } }] }, "volumes.0"],
  [{ volumes: [{ name: "s", secret: { secretName: "heddle-other-env" } }] }, "volumes.0.secret.secretName"],
  [{ volumes: [{ name: "t", projected: { sources: [] } }] }, "volumes.0"],
  [{ sidecars: [{ name: "s", image: "i", securityContext: { privileged: true } }] }, "sidecars.0.securityContext"],
  [
    { sidecars: [{ name: "s", image: "i", securityContext: { runAsUser: 0 } }] },
    "sidecars.0.securityContext.runAsUser",
  ],
  [{ sidecars: [{ name: "agent", image: "i" }] }, "sidecars.0.name"],
  [
    { init_containers: [{ name: "i", image: "i", envFrom: [{ secretRef: { name: "heddle-x" } }] }] },
    "init_containers.0",
  ],
  [{ service_account_name: "admin" }, "service_account_name"],
  [{ labels: { "heddle.place": "x" } }, "labels"],
  [{ queue_min_scale: 1 }, "queue_min_scale"],
  [{ redis_memory_mb: 512 }, "redis_memory_mb"],
  [{ db_storage_gi: 5 }, "db_storage_gi"],
  [{ min_scale: 0, max_scale: 2 }, "min_scale"],
])("refuses %j and names the field", (spec, field) => {
  expect(refusal(spec)).toMatch(new RegExp(`^${field.replaceAll(".", "\\.")}`));
});

test("references name Secrets of the namespace that are not Heddle's, and no variable of the platform", () => {
  const check = (name: string, secret_name: string) => () =>
    checkReferences([{ name, secret_name, secret_key: "key" }], "self_hosted");
  expect(check("TOKEN", "outside")).not.toThrow();
  expect(check("DATABASE_URI", "outside")).toThrow("reserved");
  expect(check("TOKEN", "heddle-other-env")).toThrow("heddle-");
  expect(check("NOT A NAME", "outside")).toThrow("variable");
});
