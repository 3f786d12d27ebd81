import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { forbiddenLabel, mayOwnerSet, parseOwnerKeys, withOwnerLabels } from "./owner-labels.ts";

const FOREIGN = [
  "app.kubernetes.io/name",
  "app.kubernetes.io/instance",
  "app.kubernetes.io/component",
  "helm.sh/chart",
  "heddle.place",
  "heddle.revision",
  "heddle.anything/else",
  "iam.amazonaws.com/role",
  "k8s.v1.cni.cncf.io/networks",
  "container.apparmor.security.beta.kubernetes.io/agent",
  "seccomp.security.alpha.kubernetes.io/pod",
  "cluster-autoscaler.kubernetes.io/safe-to-evict",
  "sidecar.istio.io/inject",
  "traefik.http.routers.x.rule",
  "traefik.enable",
  "com.centurylinklabs.watchtower.enable",
  "vault.hashicorp.com/agent-inject",
  "azure.workload.identity/use",
  "pod-security.kubernetes.io/enforce",
  "app",
  "component",
  "k8s-app",
  "user.heddle",
  "user.heddle.example/x",
  "Xuser.heddle/x",
];

test("without a setting, owners set nothing but what is under their own prefix", () => {
  expect(FOREIGN.filter((key) => mayOwnerSet(key, []))).toEqual([]);
  expect(mayOwnerSet("user.heddle/team", [])).toBe(true);
});

test("the operator lists keys and prefixes", () => {
  const listed = parseOwnerKeys("team, cost.example/, prometheus.io/scrape");
  const allowed = ["team", "cost.example/center", "prometheus.io/scrape", "user.heddle/a"];
  const others = ["teams", "cost.example", "cost.example.org/center", "prometheus.io/port", "xcost.example/center"];
  expect(allowed.filter((key) => !mayOwnerSet(key, listed))).toEqual([]);
  expect([...others, ...FOREIGN].filter((key) => mayOwnerSet(key, listed))).toEqual([]);
});

test.each(["app.kubernetes.io/", "app.kubernetes.io/name", "heddle.place", "heddle.x/", "helm.sh/chart"])(
  "the operator's list may not contain %s, by which the platform's own pods are found",
  (entry) => {
    expect(() => parseOwnerKeys(entry)).toThrow("Heddle's own pods");
  },
);

test.each(["kubernetes.io/", "k8s.io/", "apparmor.security.beta.kubernetes.io/", "x.k8s.io/"])(
  "the operator lists the keys under %s one by one",
  (entry) => {
    expect(() => parseOwnerKeys(entry)).toThrow("each key");
    expect(parseOwnerKeys(`${entry}some-key`)).toEqual([`${entry}some-key`]);
  },
);

test.each(["/", "*", "a b", "-a", "*.example/"])("the operator's list may not contain %s", (entry) => {
  expect(() => parseOwnerKeys(entry)).toThrow("must list keys");
});

test("what was stored before the list existed is removed by name", () => {
  const spec = {
    cpu: 1,
    labels: { "user.heddle/a": "1", "app.kubernetes.io/name": "heddle", team: "x" },
    annotations: { "iam.amazonaws.com/role": "admin" },
  };
  const { config, dropped } = withOwnerLabels({ repo_url: "r", resource_spec: spec }, ["team"]);
  expect(config).toEqual({
    repo_url: "r",
    resource_spec: { cpu: 1, labels: { "user.heddle/a": "1", team: "x" }, annotations: {} },
  });
  expect(dropped).toEqual(["app.kubernetes.io/name", "iam.amazonaws.com/role"]);
  expect(forbiddenLabel(spec, ["team"])).toEqual({ kind: "labels", key: "app.kubernetes.io/name" });
  expect(forbiddenLabel(config.resource_spec, ["team"])).toBeUndefined();
  for (const none of [{}, { resource_spec: null }, { resource_spec: { labels: null } }]) {
    expect(withOwnerLabels(none, [])).toEqual({ config: none, dropped: [] });
  }
});

test("no list of the operator opens a label by which the chart's Services select", () => {
  const chart = new URL("../../../../deploy/helm/heddle/templates/_helpers.tpl", import.meta.url);
  const [, selector = ""] = /define "heddle\.selector" -}}\n([^]*?)\{\{- end/.exec(readFileSync(chart, "utf8")) ?? [];
  const keys = selector.match(/^\S+(?=: )/gm) ?? [];
  expect(keys).toEqual(["app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component"]);
  for (const key of keys) {
    expect(mayOwnerSet(key, [key, "app.kubernetes.io/"])).toBe(false);
    expect(() => parseOwnerKeys(key)).toThrow("Heddle's own pods");
  }
});
