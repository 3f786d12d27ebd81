import { createHash } from "node:crypto";

import type { ClusterSettings } from "./cluster-settings.ts";
import type { DesiredRevision } from "./desired-deployment.ts";
import { AGENT_CONTAINER, AGENT_PORT, ANNOTATIONS, LABELS, secretName } from "./names.ts";

/** Seconds between the end of the drain period and SIGKILL. */
const LAST_SECONDS = 15;
/** Seconds for which a terminating pod accepts requests, until all gateways have removed it. */
const DRAIN_DELAY_SECONDS = 5;

/** Security context that the platform enforces on all containers of a deployment. */
const CONFINED = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };

/** Labels that keep a pod out of the selectors of the platform's own Services. */
const NO_OTHER = {
  "app.kubernetes.io/instance": "deployment",
  "app.kubernetes.io/component": "deployment",
  "app.kubernetes.io/managed-by": "heddle",
};

/** Adds the variables that only apply in a pod. */
export const podEnvironment = ({ environment, readySeconds }: DesiredRevision): Record<string, string> => ({
  ...environment,
  // the startup probe limits the start: a control plane that is unavailable must not count as crashes of the server
  HEDDLE_AUTH_START_SECS: String(readySeconds),
  HEDDLE_DATA_DIR: "/tmp/heddle",
  HEDDLE_HOST: "0.0.0.0",
  HOST: "0.0.0.0",
  PORT: String(AGENT_PORT),
  HEDDLE_DRAIN_DELAY_SECS: String(DRAIN_DELAY_SECONDS),
});

/** Returns a hash of the data outside the template that pods read when they start. */
const fingerprint = (revision: DesiredRevision): string =>
  createHash("sha256")
    .update(JSON.stringify([Object.entries(revision.environment).sort(), revision.pullCredentials]))
    .digest("hex")
    .slice(0, 32);

/** Returns the template of a revision's pods. Any difference creates a new ReplicaSet. */
export function podTemplate(revision: DesiredRevision, name: string, owner: object, settings: ClusterSettings): object {
  // the last: Services of the platform and of others select by these, whatever a control plane passes on
  const labels = { "app.kubernetes.io/name": name, ...NO_OTHER, ...owner };
  const { resources, drainSeconds } = revision;
  const pullSecrets = [
    ...(revision.pullCredentials === null ? [] : [secretName(name, revision.id, "pull")]),
    ...(revision.isBuilt === true && settings.pullSecret !== null ? [settings.pullSecret] : []),
    ...revision.pullSecrets,
  ];
  return {
    metadata: {
      labels: { ...revision.labels, ...labels, [LABELS.revision]: revision.id },
      annotations: { ...revision.annotations, [ANNOTATIONS.environment]: fingerprint(revision) },
    },
    spec: {
      serviceAccountName: revision.serviceAccount ?? name,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: drainSeconds + DRAIN_DELAY_SECONDS + LAST_SECONDS,
      securityContext: {
        seccompProfile: { type: "RuntimeDefault" },
        ...(settings.runAsUser > 0 && {
          runAsNonRoot: true,
          runAsUser: settings.runAsUser,
          fsGroup: settings.runAsUser,
        }),
      },
      ...(pullSecrets.length > 0 && { imagePullSecrets: pullSecrets.map((secret) => ({ name: secret })) }),
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "kubernetes.io/hostname",
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: { matchLabels: { ...owner, [LABELS.revision]: revision.id } },
        },
      ],
      ...(revision.initContainers.length > 0 && { initContainers: revision.initContainers.map(confined) }),
      containers: [
        {
          name: AGENT_CONTAINER,
          image: revision.image,
          // a name that no Service selects by
          ports: [{ name: "heddle-agent", containerPort: AGENT_PORT, protocol: "TCP" }],
          envFrom: [{ secretRef: { name: secretName(name, revision.id, "env") } }],
          env: revision.references.map((reference) => ({
            name: reference.name,
            valueFrom: { secretKeyRef: { name: reference.secretName, key: reference.secretKey } },
          })),
          resources: {
            requests: { cpu: cores(resources.cpu), memory: `${resources.memoryMb}Mi` },
            limits: { cpu: cores(resources.cpuLimit), memory: `${resources.memoryLimitMb}Mi` },
          },
          securityContext: { ...CONFINED, readOnlyRootFilesystem: settings.readOnly },
          // all graphs must load once; afterwards, the server reports whether it can serve
          startupProbe: {
            httpGet: { path: "/ok?check_db=true&check_graphs=true", port: AGENT_PORT },
            periodSeconds: 1,
            timeoutSeconds: 5,
            failureThreshold: Math.max(1, revision.readySeconds),
          },
          readinessProbe: {
            httpGet: { path: "/ok", port: AGENT_PORT },
            periodSeconds: 5,
            timeoutSeconds: 5,
            failureThreshold: 3,
          },
          // a server without its database must not be killed: that would lose its runs and not restore the database
          livenessProbe: { tcpSocket: { port: AGENT_PORT }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
          volumeMounts: [{ name: "heddle-tmp", mountPath: "/tmp" }, ...revision.volumeMounts],
        },
        ...revision.sidecars.map(confined),
      ],
      volumes: [{ name: "heddle-tmp", emptyDir: { sizeLimit: `${settings.tmpMb}Mi` } }, ...revision.volumes],
    },
  };
}

const cores = (count: number): string => `${Math.round(count * 1000)}m`;

const confined = (container: Record<string, unknown>): object => ({
  ...container,
  securityContext: { ...(container["securityContext"] as object | undefined), ...CONFINED },
});
