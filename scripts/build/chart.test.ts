/** Tests of the rendered manifests, without a cluster or helm; test/kubernetes/ tests the chart itself. */
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { type Manifest, parseManifests, validateManifest } from "../../test/kubernetes/validate.ts";
import { inputsHash, RENDERED } from "./chart.ts";

const text = readFileSync(RENDERED, "utf8");
const manifests = parseManifests(text);
const documented = readFileSync(new URL("../../docs/settings.md", import.meta.url), "utf8");

interface PodSpec {
  automountServiceAccountToken: boolean;
  securityContext: Record<string, unknown>;
  containers: {
    name: string;
    args: string[];
    env: { name: string; value?: string; valueFrom?: object }[];
    resources: { limits?: { memory?: string }; requests?: object };
    securityContext: Record<string, unknown>;
    volumeMounts: { name: string; mountPath: string }[];
    [probe: string]: unknown;
  }[];
  volumes: { name: string }[];
}
const deployments = manifests.filter(({ kind }) => kind === "Deployment");
const podSpec = (manifest: Manifest) => (manifest["spec"] as { template: { spec: PodSpec } }).template.spec;
const component = ({ metadata }: Manifest) => metadata.labels?.["app.kubernetes.io/component"];

test("the rendered manifests are up to date with the chart and its values", () => {
  expect(text.split("\n")[1]).toBe(`# Inputs: sha256:${inputsHash()}`);
});

test("each manifest is valid for Kubernetes 1.31", () => {
  expect(manifests.length).toBeGreaterThan(12);
  expect(manifests.flatMap(validateManifest)).toEqual([]);
});

test("the validation finds unknown fields, wrong types and missing fields", () => {
  const manifest = structuredClone(deployments[0]!);
  const spec = podSpec(manifest) as unknown as Record<string, unknown>;
  spec["terminationGracePeriod"] = 5;
  spec["automountServiceAccountToken"] = "no";
  delete (manifest["spec"] as Record<string, unknown>)["selector"];
  const errors = validateManifest(manifest).join("\n");
  expect(errors).toContain("terminationGracePeriod");
  expect(errors).toContain("automountServiceAccountToken");
  expect(errors).toContain("selector");
});

test("every role of the platform is a workload with a service, an account and a network policy", () => {
  const roles = ["console", "control", "gateway", "trace"];
  for (const kind of ["Deployment", "Service", "ServiceAccount", "NetworkPolicy"]) {
    expect(
      manifests
        .filter((manifest) => manifest.kind === kind)
        .map(component)
        .sort(),
    ).toEqual(roles);
  }
  for (const deployment of deployments) {
    expect(podSpec(deployment).containers[0]!.args.slice(0, 3)).toEqual(["serve", "--role", component(deployment)]);
  }
});

test("containers have no privileges, a read-only root, limits and the three probes", () => {
  for (const deployment of deployments) {
    const { containers, securityContext, automountServiceAccountToken, volumes } = podSpec(deployment);
    // only the control plane runs deployments, and may use the Kubernetes API
    expect(automountServiceAccountToken).toBe(component(deployment) === "control");
    expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(volumes.map(({ name }) => name)).toEqual(["tmp", "data"]);
    for (const container of containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(container.resources.limits?.memory).toMatch(/i$/);
      expect(container).toMatchObject({
        startupProbe: { httpGet: { path: "/livez" } },
        livenessProbe: { httpGet: { path: "/livez" } },
        readinessProbe: { httpGet: { path: "/readyz" } },
      });
    }
  }
});

test("every setting is documented, and every secret setting is a reference", () => {
  const environment = deployments.flatMap((deployment) => podSpec(deployment).containers.flatMap(({ env }) => env));
  expect(environment.length).toBeGreaterThan(25);
  const rows = documented.split("\n").filter((line) => line.startsWith("|"));
  const described = environment.map(({ name, value }) => ({
    name,
    value,
    row: rows.find((row) => row.includes(`\`${name}\``)),
  }));
  expect(described.filter(({ row }) => row === undefined).map(({ name }) => name)).toEqual(
    deployments.map(() => "HOME"),
  );
  const secrets = described.filter(({ row }) => row?.endsWith("Secret. |"));
  expect(secrets.length).toBeGreaterThan(7);
  expect(secrets.filter(({ value }) => value !== undefined)).toEqual([]);
  const names = environment.map(({ name }) => name);
  for (const secret of ["DATABASE_URI", "HEDDLE_SECRETS_KEYS", "CLICKHOUSE_URL"]) expect(names).toContain(secret);
});

test("requests to deployments reach a gateway, and all others the control plane, over TLS", () => {
  const ingress = manifests.find((manifest) => manifest.kind === "Ingress" && component(manifest) === "control")!;
  expect(ingress["spec"]).toMatchObject({
    tls: [{ secretName: "agents-tls", hosts: ["agents.example"] }],
    rules: [
      {
        http: {
          paths: [
            { path: "/d/", backend: { service: { name: "heddle-gateway" } } },
            { path: "/", backend: { service: { name: "heddle-control" } } },
          ],
        },
      },
    ],
  });
});
