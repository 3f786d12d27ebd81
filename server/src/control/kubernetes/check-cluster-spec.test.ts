import { expect, test } from "vitest";

import { checkReferences, readClusterSpec } from "./check-cluster-spec.ts";

const ID = "019a0000-0000-7000-8000-0000000000aa";
const settings = {
  kubernetesServiceAccounts: ["allowed"],
  kubernetesPullSecret: "platform-pull",
  kubernetesRegistry: "registry.example/team/heddle",
  kubernetesRegistryConfig: undefined,
  ownerLabels: ["team"],
  registryUrl: "https://pushed.example/agents",
};
const read = (spec: Record<string, unknown>) => readClusterSpec({ resource_spec: spec as never }, ID, settings);
const rejection = (spec: Record<string, unknown>): string => {
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
    labels: { team: "a", "user.heddle/owner": "me" },
    annotations: { "user.heddle/note": "any text" },
    image_pull_secrets: [{ name: "my-own" }],
    service_account_name: "allowed",
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
    volume_mounts: [{ name: "data", mountPath: "/data" }],
    sidecars: [{ name: "side", image: "side:1", env: [{ name: "A", value: "b" }] }],
    init_containers: [{ name: "init", image: `pushed.example/agents/${ID}/tool:1` }],
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
  [{ labels: { "heddle.place": "x" } }, "labels.heddle.place"],
  [{ labels: { "app.kubernetes.io/name": "heddle" } }, "labels.app.kubernetes.io/name"],
  [{ labels: { app: "console" } }, "labels.app"],
  [{ annotations: { "iam.amazonaws.com/role": "admin" } }, "annotations.iam.amazonaws.com/role"],
  [{ annotations: { "k8s.v1.cni.cncf.io/networks": "other" } }, "annotations.k8s.v1.cni.cncf.io/networks"],
  [
    { annotations: { "container.apparmor.security.beta.kubernetes.io/agent": "unconfined" } },
    "annotations.container.apparmor.security.beta.kubernetes.io/agent",
  ],
  [{ image_pull_secrets: [{ name: "heddle-other-12345678-pull" }] }, "image_pull_secrets.0.name"],
  [{ image_pull_secrets: [{ name: "platform-pull" }] }, "image_pull_secrets"],
  [{ volumes: [{ name: "s", secret: { secretName: "platform-pull" } }] }, "volumes"],
  [{ sidecars: [{ name: "s", image: "i", envFrom: [{ secretRef: { name: "platform-pull" } }] }] }, "sidecars"],
  [
    {
      init_containers: [
        {
          name: "s",
          image: "i",
          env: [{ name: "A", valueFrom: { secretKeyRef: { name: "platform-pull", key: "k" } } }],
        },
      ],
    },
    "init_containers",
  ],
  [{ sidecars: [{ name: "s", image: "registry.example/team/heddle:other.1.1" }] }, "sidecars.0.image"],
  [{ init_containers: [{ name: "s", image: "pushed.example/agents/other/agent:1" }] }, "init_containers.0.image"],
  [{ sidecars: [{ name: "s", image: `PUSHED.example/agents/${ID}x/agent:1` }] }, "sidecars.0.image"],
  [{ sidecars: [{ name: "s", image: "sha256:0123" }] }, "sidecars.0.image"],
])("rejects %j and names the field", (spec, field) => {
  expect(rejection(spec)).toMatch(new RegExp(`^${field.replaceAll(".", "\\.")}`));
});

test("references name Secrets of the namespace that are not Heddle's, and no variable of the platform", () => {
  const check = (name: string, secret_name: string) => () =>
    checkReferences([{ name, secret_name, secret_key: "key" }], "self_hosted", "platform-pull");
  expect(check("TOKEN", "outside")).not.toThrow();
  expect(check("DATABASE_URI", "outside")).toThrow("reserved");
  expect(check("TOKEN", "heddle-other-env")).toThrow("heddle-");
  expect(check("TOKEN", "platform-pull")).toThrow("platform's own");
  expect(check("NOT A NAME", "outside")).toThrow("variable");
});
