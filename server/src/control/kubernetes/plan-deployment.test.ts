import { expect, test } from "vitest";

import { planRevision } from "./plan-deployment.ts";
import type { PlannedRow } from "./targets-sql.ts";

const DIGEST = `registry.example/team/heddle@sha256:${"c".repeat(64)}`;
const row = (change: Partial<PlannedRow> = {}): PlannedRow & { revision_id: string } => ({
  deployment_id: "d",
  tenant_id: "t",
  name: "agent",
  cluster: "own",
  namespace: null,
  attempt: 2,
  source: "internal_source",
  source_config: {},
  secret_references: null,
  image_uri: null,
  built_image: DIGEST,
  repo_ref: null,
  repo_commit_sha: null,
  langgraph_config_path: "langgraph.json",
  generation: null,
  fingerprint: null,
  ...change,
  revision_id: "r",
});
const settings = {
  kubernetesHostAddress: undefined,
  kubernetesServiceAccounts: [],
  kubernetesPullSecret: undefined,
  kubernetesRegistry: undefined,
  kubernetesRegistryConfig: undefined,
  ownerLabels: [],
  registryUrl: "other.example/agents",
  registryPassword: "pushed",
  deployReadySeconds: 60,
  minHealthyMs: 100,
  drainSeconds: 30,
};
const registryLogin = { registry: "registry.example", credentials: { username: "me", password: "secret" } };
const variables = { environment: { A: "1" }, own: [] };

test("a revision of source code runs the image that was built of it, with the platform's login where there is one", () => {
  const planned = planRevision(row(), { ...variables, registryLogin }, settings);
  expect(planned).toMatchObject({ image: DIGEST, isBuilt: true, pullSecrets: [] });
  expect(JSON.parse(planned.pullCredentials!)).toEqual({
    auths: { "registry.example": { username: "me", password: "secret" } },
  });
  expect(planRevision(row(), variables, settings)).toMatchObject({ isBuilt: true, pullCredentials: null });
});

test("an image of the owner gets neither the login nor the mark of a built one", () => {
  const own = row({ source: "external_docker", image_uri: "registry.example/mine:1", built_image: null });
  const planned = planRevision(own, { ...variables, registryLogin }, settings);
  expect(planned).toMatchObject({ image: "registry.example/mine:1", pullCredentials: null });
  expect(planned).not.toHaveProperty("isBuilt");
  expect(() => planRevision(row({ built_image: null }), variables, settings)).toThrow("names no image");
});

test("a stored revision with a field that is not allowed any more is not planned", () => {
  const spec = (resource_spec: object) => row({ source_config: { resource_spec: resource_spec as never } });
  const plan = (spec_: object) => () => planRevision(spec(spec_), variables, settings);
  expect(plan({ labels: { "app.kubernetes.io/name": "heddle" } })).toThrow("HEDDLE_DEPLOYMENT_LABELS");
  expect(plan({ image_pull_secrets: [{ name: "heddle-other-pull" }] })).toThrow("reserved");
  expect(plan({ labels: { "user.heddle/a": "b" } })()).toMatchObject({ labels: { "user.heddle/a": "b" } });
});
