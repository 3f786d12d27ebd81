/** Tests of the chart with a real API server: rendered by helm, validated by a dry run, rejected with wrong values. */
import { execFileSync } from "node:child_process";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { CHART, findHelm, renderChart, RENDERED, VALUES } from "../../scripts/build/chart.ts";
import { applyManifest } from "./apply.ts";
import { KUBERNETES_VERSION, missingPrograms } from "./binaries.ts";
import { startCluster, type TestCluster } from "./cluster.ts";
import { KubeError } from "./kube-client.ts";
import { type Manifest, parseManifests, validateManifest } from "./validate.ts";

const helm = findHelm();
const script = new URL("../../scripts/build/chart.ts", import.meta.url).pathname;

describe.skipIf(helm === undefined || missingPrograms().length > 0)("the chart", () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await startCluster({ nodes: [] });
    // the strictest pod security level
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    for (const metadata of [{ name: "heddle", labels }, { name: "heddle-agents" }, { name: "agents" }]) {
      await cluster.client.call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata });
    }
  });

  afterAll(() => cluster?.stop());

  const dryRun = async (manifest: Manifest): Promise<string | undefined> => {
    try {
      await applyManifest(cluster.client, manifest, true);
      return undefined;
    } catch (error) {
      if (error instanceof KubeError) return error.message;
      throw error;
    }
  };

  test("heddle.yaml is what helm renders", () => {
    execFileSync(process.execPath, ["--import", "tsx", script, "--check"]);
    expect(parseManifests(renderChart(helm!, VALUES)).length).toBeGreaterThan(12);
    expect(RENDERED).toMatch(/heddle\.yaml$/);
  });

  const variants: Record<string, string[]> = {
    "the platform": [],
    "an agent server alone": [
      "agent.enabled=true",
      "agent.image.repository=registry.example/agent",
      "agent.ingress.enabled=true",
      "agent.ingress.host=agent.example",
      "agent.ingress.tlsSecret=agent-tls",
      ...["control", "gateway", "trace", "console"].map((role) => `${role}.enabled=false`),
    ],
    "several control planes, with deployments in an existing namespace": [
      "control.replicas=2",
      "control.persistence.accessMode=ReadWriteMany",
      "control.persistence.storageClass=shared",
      "control.kubernetesDriver.namespace=agents",
    ],
    "a control plane that runs deployments in its own pod": [
      "control.kubernetesDriver.enabled=false",
      "gateway.enabled=false",
    ],
    "source code that is built into images": [
      "control.kubernetesDriver.enabled=true",
      "control.kubernetesDriver.builds.registry=registry.example/team/heddle",
      "control.kubernetesDriver.builds.engine=tcp://builder.example:2375",
      "control.kubernetesDriver.builds.baseImage=registry.example/team/heddle-agent:1",
      "control.kubernetesDriver.builds.existingSecret=heddle-registry",
      "control.kubernetesDriver.builds.pullSecret=registry-pull",
    ],
    "a listener alone": [
      "listener.enabled=true",
      "listener.controlUrl=https://agents.example",
      "listener.id=019a0000-0000-7000-8000-000000000000",
      "listener.existingSecret=heddle-listener",
      "listener.namespaces={agents}",
      ...["control", "gateway", "trace", "console"].map((role) => `${role}.enabled=false`),
    ],
    "settings, placement and an image by digest": [
      `image.digest=sha256:${"0".repeat(64)}`,
      "image.pullSecrets[0]=login",
      "settings.HEDDLE_RETENTION_LONGLIVED_DAYS=90",
      "trace.settings.HEDDLE_INGEST_MEMORY_MB=128",
      "trace.nodeSelector.disk=fast",
      "trace.podAnnotations.team=agents",
      "networkPolicy.enabled=false",
      "control.persistence.enabled=false",
    ],
  };
  for (const [name, set] of Object.entries(variants)) {
    test(`the API server accepts ${name}`, async () => {
      const manifests = parseManifests(renderChart(helm!, VALUES, set));
      expect(manifests.length).toBeGreaterThan(3);
      expect(manifests.flatMap(validateManifest)).toEqual([]);
      const errors = await Promise.all(manifests.map(dryRun));
      expect(errors.filter((error) => error !== undefined)).toEqual([]);
    });
  }

  test.each([
    ["control.kubernetesDriver.namespace=heddle"],
    [
      ...["listener.enabled=true", "listener.controlUrl=https://agents.example", "listener.id=x"],
      ...["listener.existingSecret=heddle-listener", "listener.namespaces={agents,heddle}"],
    ],
  ])("deployments do not run in the release's namespace: %s", (...set) => {
    expect(() => renderChart(helm!, VALUES, set)).toThrow(/must not (be|contain) the release's namespace/);
  });

  test("requests to deployments go to the gateways, where there are any", () => {
    const ingress = parseManifests(renderChart(helm!, VALUES)).find(
      ({ kind, metadata }) => kind === "Ingress" && metadata.name === "heddle-control",
    )!;
    const paths = /"path":"([^"]+)".*?"name":"([^"]+)"/g;
    expect([...JSON.stringify(ingress).matchAll(paths)].map(([, path, service]) => [path, service])).toEqual([
      ["/d/", "heddle-gateway"],
      ["/", "heddle-control"],
    ]);
  });

  test("the dry run rejects what the schemas reject", async () => {
    const manifest = parseManifests(renderChart(helm!, VALUES)).find(({ kind }) => kind === "Deployment")!;
    (manifest["spec"] as Record<string, unknown>)["replica"] = 1;
    expect(validateManifest(manifest).join()).toContain("replica");
    expect(await dryRun(manifest)).toContain("replica");
  });

  test.each([
    ["postgres.existingSecret=", /postgres\.existingSecret is required/],
    ["clickhouse.existingSecret=", /clickhouse\.existingSecret is required by the role trace/],
    ["bucket.name=", /bucket\.name is required/],
    ["control.replicas=2", /ReadWriteMany: control planes share uploads/],
    ["agent.enabled=true", /agent\.image\.repository is required/],
    ["control.kubernetesDriver.enabled=false", /gateway\.enabled requires control\.kubernetesDriver\.enabled/],
    ["control.replica=2", /replica/],
    ["settings.DATABASE_URI=postgres://a", /DATABASE_URI|propertyNames/],
    ["trace.service.port=80", /1024/],
  ])("helm rejects %s, with the reason", (set, reason) => {
    expect(() => renderChart(helm!, VALUES, [set])).toThrow(reason);
  });

  test("helm finds nothing wrong with the chart", () => {
    const output = execFileSync(
      helm!,
      ["lint", "--strict", "--kube-version", KUBERNETES_VERSION, CHART, "--values", VALUES],
      { encoding: "utf8" },
    );
    expect(output).toContain("0 chart(s) failed");
  });
});
