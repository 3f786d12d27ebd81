import { expect, test } from "vitest";

import { servedNamespaces } from "./clusters.ts";

const inPod = { namespace: "platform", ownNamespace: "platform" };
const outside = { namespace: "agents", ownNamespace: null };

test("deployments run in the named namespaces, the default one first", () => {
  const named = { kubernetesNamespace: "first" };
  expect(servedNamespaces(inPod, named, ["second", "first"])).toEqual(["first", "second"]);
  expect(servedNamespaces(inPod, { kubernetesNamespace: undefined }, ["second"])).toEqual(["second"]);
  expect(servedNamespaces(outside, { kubernetesNamespace: undefined }, [])).toEqual(["agents"]);
  expect(servedNamespaces({ ...outside, namespace: null }, { kubernetesNamespace: undefined }, [])).toEqual([
    "default",
  ]);
});

test("they never run in the namespace of the server itself: by default, by a setting, or for a listener", () => {
  const rejection = /cannot run in the namespace platform.*Set HEDDLE_KUBERNETES_NAMESPACE/;
  expect(() => servedNamespaces(inPod, { kubernetesNamespace: undefined }, [])).toThrow(rejection);
  expect(() => servedNamespaces(inPod, { kubernetesNamespace: "platform" }, [])).toThrow(rejection);
  expect(() => servedNamespaces(inPod, { kubernetesNamespace: undefined }, ["agents", "platform"])).toThrow(rejection);
});
