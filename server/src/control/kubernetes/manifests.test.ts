import { expect, test } from "vitest";

import type { DesiredDeployment, DesiredRevision } from "./desired-deployment.ts";
import { type Manifest, manifests } from "./manifests.ts";
import { objectName } from "./names.ts";

const settings = {
  place: "place",
  namespace: "agents",
  ingressFrom: ["gateways", "10.0.0.0/8"],
  pullSecret: "nodes",
  readOnly: true,
  runAsUser: 0,
  tmpMb: 64,
};

const revision: DesiredRevision = {
  id: "019a0000-0000-7000-8000-0000000000aa",
  attempt: 2,
  image: "registry.example/agent:1",
  replicas: { min: 1, max: 1 },
  resources: { cpu: 0.5, cpuLimit: 1, memoryMb: 256, memoryLimitMb: 512 },
  environment: { GREETING: "hello", DATABASE_URI: "postgres://db/x" },
  references: [{ name: "TOKEN", secretName: "outside", secretKey: "token" }],
  pullCredentials: '{"auths":{}}',
  pullSecrets: ["existing"],
  readySeconds: 60,
  minHealthySeconds: 1,
  drainSeconds: 30,
  labels: { team: "a" },
  annotations: { note: "b" },
  serviceAccount: null,
  volumes: [{ name: "data", emptyDir: {} }],
  volumeMounts: [{ name: "data", mountPath: "/data" }],
  initContainers: [],
  sidecars: [{ name: "side", image: "side:1", securityContext: { runAsUser: 7 } }],
};

const desired = (change: Partial<DesiredRevision> = {}): DesiredDeployment & { revision: DesiredRevision } => ({
  deploymentId: "019a0000-0000-7000-8000-1234567890ab",
  name: "my-agent",
  generation: 3,
  namespace: null,
  revision: { ...revision, ...change },
});

const render = (change: Partial<DesiredRevision> = {}, live: number | null = null) =>
  manifests(desired(change), settings, live);
// oxlint-disable-next-line typescript/no-explicit-any -- fields of foreign objects
const find = (all: Manifest[], kind: string): any => all.find((manifest) => manifest.kind === kind);

test("a deployment is a fixed list of objects with its owner's labels, in its namespace", () => {
  const all = render();
  expect(all.map(({ kind }) => kind)).toEqual([
    "ServiceAccount",
    "Secret",
    "Secret",
    "NetworkPolicy",
    "Service",
    "Deployment",
    "PodDisruptionBudget",
  ]);
  for (const { metadata } of all) {
    expect(metadata).toMatchObject({
      namespace: "agents",
      labels: { "heddle.place": "place", "heddle.deployment": desired().deploymentId },
    });
    expect(metadata.name).toMatch(/^heddle-my-agent-1234567890ab(-000000aa-(env|pull))?$/);
  }
  expect(find(all, "ServiceAccount").automountServiceAccountToken).toBe(false);
});

test("names are DNS labels, whatever the deployment's name is", () => {
  const names = ["3-a", "-", "a".repeat(63), "ends-with-dash-in-the-middle--", "Ünïcode"].map((name) =>
    objectName({ name, deploymentId: desired().deploymentId }),
  );
  for (const name of names) expect(name).toMatch(/^[a-z]([a-z0-9-]{0,46}[a-z0-9])$/);
  expect(new Set(names).size).toBe(names.length);
});

test("the environment is in a Secret of the revision, and not in the pod's template", () => {
  const all = render();
  const secret = find(all, "Secret");
  expect(Buffer.from(secret.data.GREETING, "base64").toString()).toBe("hello");
  const text = JSON.stringify(find(all, "Deployment"));
  expect(text).not.toContain("hello");
  expect(text).not.toContain("postgres://");
  const template = (of: Manifest[]) => find(of, "Deployment").spec.template;
  const other = render({ environment: { ...revision.environment, GREETING: "bye" } });
  // pods read it when they start, so a change must replace them
  expect(template(other)).not.toEqual(template(all));
  expect(template(render())).toEqual(template(all));
});

test("pods have no rights, the limits of their resource_spec, and the agent's variables", () => {
  const { spec, metadata } = find(render(), "Deployment").spec.template;
  expect(metadata.labels).toMatchObject({ team: "a", "heddle.revision": revision.id });
  expect(spec.containers[0].ports).toEqual([{ name: "heddle-agent", containerPort: 8000, protocol: "TCP" }]);
  expect(spec).toMatchObject({
    automountServiceAccountToken: false,
    imagePullSecrets: [{ name: "heddle-my-agent-1234567890ab-000000aa-pull" }, { name: "existing" }],
    terminationGracePeriodSeconds: 50,
  });
  const [agent, side] = spec.containers;
  expect(agent).toMatchObject({
    env: [{ name: "TOKEN", valueFrom: { secretKeyRef: { name: "outside", key: "token" } } }],
    resources: { requests: { cpu: "500m", memory: "256Mi" }, limits: { cpu: "1000m", memory: "512Mi" } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
  });
  expect(side.securityContext).toEqual({
    runAsUser: 7,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
  });
});

test("images that the platform has built are pulled with the cluster's own secret, and no others", () => {
  const secrets = (change: Partial<DesiredRevision>) =>
    find(render({ pullCredentials: null, ...change }), "Deployment").spec.template.spec.imagePullSecrets;
  expect(secrets({ isBuilt: true })).toEqual([{ name: "nodes" }, { name: "existing" }]);
  expect(secrets({})).toEqual([{ name: "existing" }]);
});

test("a revision takes over pod by pod, and only when its pods are ready", () => {
  const { metadata, spec } = find(render(), "Deployment");
  expect(spec.strategy.rollingUpdate).toMatchObject({ maxUnavailable: 0 });
  expect(spec.progressDeadlineSeconds).toBeGreaterThan(spec.minReadySeconds);
  expect(metadata.annotations).toMatchObject({ "heddle.generation": "3", "heddle.attempt": "2" });
});

test("max_scale above min_scale makes an autoscaler, whose replicas are kept", () => {
  const scaled = { replicas: { min: 2, max: 5 } };
  expect(find(render(scaled), "HorizontalPodAutoscaler").spec).toMatchObject({ minReplicas: 2, maxReplicas: 5 });
  const replicas = (live: number | null) => find(render(scaled, live), "Deployment").spec.replicas;
  expect([null, 1, 4, 9].map(replicas)).toEqual([2, 2, 4, 5]);
  expect(find(render(), "HorizontalPodAutoscaler")).toBeUndefined();
  expect(find(render({ replicas: { min: 0, max: 0 } }), "Deployment").spec.replicas).toBe(0);
});

test("pods accept requests on the server's port, from the configured sources only", () => {
  const [rule] = find(render(), "NetworkPolicy").spec.ingress;
  expect(rule.ports).toEqual([{ protocol: "TCP", port: 8000 }]);
  expect(rule.from).toEqual([
    { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "gateways" } } },
    { ipBlock: { cidr: "10.0.0.0/8" } },
  ]);
  const open = find(manifests(desired(), { ...settings, ingressFrom: [] }), "NetworkPolicy");
  expect(open.spec.ingress[0].from).toBeUndefined();
});

test("no label that a control plane passes on puts a pod into the selector of another one's Service", () => {
  const hostile = {
    "app.kubernetes.io/name": "heddle",
    "app.kubernetes.io/instance": "heddle",
    "app.kubernetes.io/component": "console",
    "heddle.place": "other",
    "heddle.deployment": "other",
    "heddle.revision": "other",
  };
  const { metadata } = find(render({ labels: hostile }), "Deployment").spec.template;
  expect(metadata.labels).toEqual(find(render({ labels: {} }), "Deployment").spec.template.metadata.labels);
  expect(metadata.labels).toMatchObject({
    "app.kubernetes.io/name": "heddle-my-agent-1234567890ab",
    "app.kubernetes.io/component": "deployment",
  });
  const { selector } = find(render(), "Service").spec;
  expect(Object.keys(selector)).toEqual(["heddle.place", "heddle.deployment"]);
});
