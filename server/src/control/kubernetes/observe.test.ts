import { expect, test } from "vitest";

import type { DesiredDeployment } from "./desired-deployment.ts";
import { objectName } from "./names.ts";
import { type LiveDeployment, type LivePod, observe, observePod } from "./observe.ts";
import { parseStamp } from "./pod-logs.ts";

const desired = { deploymentId: "d", name: "n", generation: 3, namespace: null, revision: { id: "new" } };
const wanted = desired as unknown as DesiredDeployment;
const labels = (revision: string) => ({ "heddle.revision": revision, "app.kubernetes.io/name": "another-service" });

const live = (status: LiveDeployment["status"], generation = "3", revision = "new"): LiveDeployment =>
  ({
    metadata: { name: "n", generation: 7, annotations: { "heddle.generation": generation } },
    spec: { replicas: 1, template: { metadata: { labels: labels(revision) } } },
    status: { observedGeneration: 7, ...status },
  }) as unknown as LiveDeployment;

const pod = (revision: string, status: object, metadata: object = {}): LivePod =>
  ({
    metadata: { name: `p-${revision}`, namespace: "ns", uid: `u-${revision}`, labels: labels(revision), ...metadata },
    spec: {},
    status: { phase: "Running", podIP: "10.0.0.1", ...status },
  }) as unknown as LivePod;
const ready = { conditions: [{ type: "Ready", status: "True" }] };

const look = (deployment: LiveDeployment | undefined, pods: LivePod[], of = wanted) =>
  observe({ desired: of, live: deployment, pods, addressTemplate: null });

test("a revision is ready when all pods belong to it, for the desired generation", () => {
  const done = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
  expect(look(live(done), [pod("new", ready)])).toMatchObject({ state: "ready", ready: 1, total: 1 });
  expect(look(live({ ...done, replicas: 2 }), [pod("new", ready), pod("old", ready)]).state).toBe("progressing");
  expect(look(live({ ...done, availableReplicas: 0 }), [pod("new", {})]).state).toBe("progressing");
  expect(look(live({ ...done, observedGeneration: 6 }), [pod("new", ready)]).state).toBe("progressing");
  expect(look(live(done, "2"), [pod("new", ready)]).state).toBe("progressing");
  expect(look(live(done, "4"), [pod("new", ready)])).toMatchObject({ state: "stale", liveGeneration: 4 });
});

test("HEDDLE_KUBERNETES_ADDRESS replaces the addresses of pods, with the names of the Service and the namespace", () => {
  const address = (template: string | null, status: object = ready) =>
    observePod(pod("new", status), template, "svc").address;
  expect(address(null)).toEqual({ host: "10.0.0.1", port: 8000 });
  expect(address(null, { podIP: "" })).toBeNull();
  expect(address("{service}.{namespace}.svc:8000")).toEqual({ host: "svc.ns.svc", port: 8000 });
  expect(address("[fd00::1]:30080", { podIP: "" })).toEqual({ host: "fd00::1", port: 30080 });
  expect(address("lb.example")).toEqual({ host: "lb.example", port: 80 });
  expect(address("{service}:not-a-port")).toBeNull();
});

test("fails a revision whose image cannot be pulled or whose container keeps exiting, with the reason", () => {
  const waiting = (reason: string, restartCount = 0, more = {}) => ({
    containerStatuses: [
      { name: "agent", ready: false, restartCount, state: { waiting: { reason, message: "why" } }, ...more },
    ],
  });
  const at = (status: object) =>
    look(live({ replicas: 2, updatedReplicas: 1 }), [pod("old", ready), pod("new", status)]);
  expect(at(waiting("ErrImagePull"))).toMatchObject({ state: "progressing", message: expect.stringContaining("why") });
  expect(at(waiting("ImagePullBackOff"))).toMatchObject({
    state: "failed",
    message: expect.stringContaining("ImagePullBackOff: why"),
  });
  const exited = { lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } } };
  expect(at(waiting("CrashLoopBackOff", 2, exited)).state).toBe("progressing");
  expect(at(waiting("CrashLoopBackOff", 3, exited))).toMatchObject({
    state: "failed",
    message: expect.stringContaining("code 137 (OOMKilled)"),
  });
  // what made it exit, such as a control plane that was unavailable, may be over
  const running = { name: "agent", ready: false, restartCount: 3, state: { running: {} }, ...exited };
  expect(at({ containerStatuses: [running] })).toMatchObject({
    state: "progressing",
    message: expect.stringContaining("exited 3 times"),
  });
  expect(at(waiting("ContainerCreating")).message).toBeNull();
});

test("a problem of an earlier revision's pod is not the new one's", () => {
  const broken = {
    containerStatuses: [{ name: "agent", ready: false, restartCount: 9, state: { waiting: { reason: "X" } } }],
  };
  expect(look(live({}), [pod("old", broken)])).toMatchObject({ state: "progressing", message: null });
});

test("a removed deployment has neither objects nor pods", () => {
  const removal = { ...wanted, revision: null };
  expect(look(undefined, [], removal).state).toBe("removed");
  expect(look(undefined, [pod("old", ready, { deletionTimestamp: "now" })], removal)).toMatchObject({
    state: "progressing",
    pods: [{ state: "draining" }],
  });
});

test("gateways reach pods at their own address, or at that of the template", () => {
  const [own] = look(live({}), [pod("new", ready)]).pods;
  expect(own!.address).toEqual({ host: "10.0.0.1", port: 8000 });
  const template = "{service}.{namespace}.svc:9000";
  const [shared] = observe({
    desired: wanted,
    live: live({}),
    pods: [pod("new", ready)],
    addressTemplate: template,
  }).pods;
  // never a name that the pod's own labels give
  expect(shared!.address).toEqual({ host: `${objectName(wanted)}.ns.svc`, port: 9000 });
});

test("an evicted pod no longer belongs to the deployment", () => {
  expect(look(live({}), [pod("new", { phase: "Failed", reason: "Evicted" })]).pods).toEqual([]);
});

test("a log line's time has nanoseconds", () => {
  expect(parseStamp("2026-01-02T03:04:05.000000007Z a line")).toEqual({ at: 1767323045000000007n, text: "a line" });
  expect(parseStamp("2026-01-02T03:04:05+00:00 ")).toEqual({ at: 1767323045000000000n, text: "" });
  expect(parseStamp("no time")).toBeNull();
});
