/** Scenes of one deployment in a cluster, recorded with a real API server and replayed without it. */
import { pino } from "pino";

import type { KubernetesApi } from "../src/control/kubernetes/api/kubernetes-api.ts";
import type {
  ClusterReport,
  DesiredDeployment,
  DesiredRevision,
  ObservedDeployment,
} from "../src/control/kubernetes/desired-deployment.ts";
import { Reconciler } from "../src/control/kubernetes/reconciler.ts";

export const SCENE_NAMESPACE = "recorded";
/** Image of a server that answers every request. */
export const SCENE_IMAGE = "localhost/agent-ok:1";

const revision = (id: string, image: string): DesiredRevision => ({
  id: `019a0000-0000-7000-8000-0000000000${id}`,
  attempt: 1,
  image,
  replicas: { min: 1, max: 1 },
  resources: { cpu: 0.1, cpuLimit: 2, memoryMb: 128, memoryLimitMb: 512 },
  environment: { GREETING: "hello" },
  references: [],
  pullCredentials: null,
  pullSecrets: [],
  readySeconds: 60,
  minHealthySeconds: 0,
  drainSeconds: 1,
  labels: { team: "a" },
  annotations: {},
  serviceAccount: null,
  volumes: [],
  volumeMounts: [],
  initContainers: [],
  sidecars: [],
});

const desired = (generation: number, wanted: DesiredRevision | null): DesiredDeployment => ({
  deploymentId: "019a0000-0000-7000-8000-1234567890ab",
  name: "scene",
  generation,
  namespace: null,
  revision: wanted,
});

/** Scenes in the order of their recording: each continues from the state of the previous one. */
export const SCENES: { name: string; desired: DesiredDeployment; until: ObservedDeployment["state"] }[] = [
  { name: "deploy", desired: desired(1, revision("01", SCENE_IMAGE)), until: "ready" },
  { name: "missing-image", desired: desired(2, revision("02", "localhost/agent-missing:1")), until: "failed" },
  { name: "an-earlier-generation", desired: desired(1, revision("01", SCENE_IMAGE)), until: "stale" },
  { name: "roll-back", desired: desired(3, revision("01", SCENE_IMAGE)), until: "ready" },
  { name: "remove", desired: desired(4, null), until: "removed" },
];

/** Runs a reconciler until it reports the state. @returns its reports about the deployment */
export async function playScene(
  api: KubernetesApi,
  { desired: wanted, until }: (typeof SCENES)[number],
  timeoutMs: number,
): Promise<ObservedDeployment[]> {
  const reports: ObservedDeployment[] = [];
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const reconciler = new Reconciler({
    api,
    source: {
      async next(version, signal) {
        if (version === null) return { version: "1", deployments: [wanted] };
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
        throw new Error("never reached");
      },
      async report({ deployments }: ClusterReport) {
        reports.push(...deployments);
        if (deployments.some(({ state }) => state === until)) finish();
        return { logPositions: {} };
      },
    },
    settings: {
      place: "scenes",
      namespace: SCENE_NAMESPACE,
      namespaces: [SCENE_NAMESPACE],
      ingressFrom: [],
      pullSecret: null,
      readOnly: true,
      runAsUser: 0,
      tmpMb: 64,
      addressTemplate: null,
    },
    log: pino({ level: "silent" }),
  });
  reconciler.start();
  const timer = setTimeout(() => finish(), timeoutMs);
  await finished;
  clearTimeout(timer);
  await reconciler.stop();
  return reports;
}
