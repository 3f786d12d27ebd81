/** Environment and volume files of a pod's containers, read from the API server. */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { type KubeClient, KubeError } from "./kube-client.ts";
import type { Container, KeyItems, Pod, ProjectedSource, Volume } from "./pod.ts";

interface KeyValues {
  data?: Record<string, string>;
}

/** Address at which containers reach the API server; see `Kubelet`. */
export interface ApiAddress {
  host: string;
  port: number;
}

type Kind = "secrets" | "configmaps";

/** Reads the keys of a Secret or ConfigMap, decoded. Returns undefined if it is optional and missing. */
async function readKeys(
  client: KubeClient,
  pod: Pod,
  kind: Kind,
  name: string,
  isOptional: boolean | undefined,
): Promise<Record<string, string> | undefined> {
  try {
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/${kind}/${name}`;
    const { data = {} } = await client.call<KeyValues>("GET", path);
    if (kind === "configmaps") return data;
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decodeBase64(value)]));
  } catch (error) {
    if (isOptional && error instanceof KubeError && error.status === 404) return undefined;
    throw error;
  }
}

const decodeBase64 = (text: string): string => Buffer.from(text, "base64").toString("utf8");

function readField(pod: Pod, path: string, podIp: string): string {
  const bracket = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (bracket) return pod.metadata[bracket[1] as "labels"]?.[bracket[2]!] ?? "";
  const values: Record<string, string | undefined> = {
    "metadata.name": pod.metadata.name,
    "metadata.namespace": pod.metadata.namespace,
    "metadata.uid": pod.metadata.uid,
    "spec.nodeName": pod.spec.nodeName,
    "spec.serviceAccountName": pod.spec.serviceAccountName,
    "status.podIP": podIp,
    "status.hostIP": "127.0.0.1",
  };
  if (!(path in values)) throw new Error(`the test kubelet does not know the field ${path}`);
  return values[path] ?? "";
}

/** Resolves the environment of a container. Throws if a Secret or key that it names is missing. */
export async function resolveEnvironment(
  client: KubeClient,
  pod: Pod,
  container: Container,
  podIp: string,
  api: ApiAddress,
): Promise<Record<string, string>> {
  const environment: Record<string, string> = {
    KUBERNETES_SERVICE_HOST: api.host,
    KUBERNETES_SERVICE_PORT: String(api.port),
  };
  for (const { prefix = "", secretRef, configMapRef } of container.envFrom ?? []) {
    const reference = secretRef ?? configMapRef;
    if (!reference) continue;
    const kind = secretRef ? "secrets" : "configmaps";
    const values = await readKeys(client, pod, kind, reference.name, reference.optional);
    for (const [key, value] of Object.entries(values ?? {})) environment[prefix + key] = value;
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const reference = valueFrom?.secretKeyRef ?? valueFrom?.configMapKeyRef;
    if (valueFrom?.fieldRef) environment[name] = readField(pod, valueFrom.fieldRef.fieldPath, podIp);
    else if (reference) {
      const kind = valueFrom?.secretKeyRef ? "secrets" : "configmaps";
      const found = (await readKeys(client, pod, kind, reference.name, reference.optional))?.[reference.key];
      if (found !== undefined) environment[name] = found;
      else if (!reference.optional)
        throw new Error(`couldn't find key ${reference.key} in ${kind} ${pod.metadata.namespace}/${reference.name}`);
    } else if (valueFrom) throw new Error(`the test kubelet does not know the source of ${name}`);
    else
      environment[name] = (value ?? "").replace(/\$\$|\$\(([A-Za-z_][\w.-]*)\)/g, (all: string, key?: string) =>
        all === "$$" ? "$" : (environment[key!] ?? all),
      );
  }
  return environment;
}

/** Creates the directories of a pod's volumes below `directory`. Returns the path of each volume. */
export async function writeVolumes(client: KubeClient, pod: Pod, directory: string): Promise<Map<string, string>> {
  const paths = new Map<string, string>();
  for (const volume of pod.spec.volumes ?? []) {
    const path = join(directory, volume.name);
    paths.set(volume.name, volume.hostPath?.path ?? path);
    if (volume.hostPath) continue;
    mkdirSync(path, { recursive: true });
    const group = pod.spec.securityContext?.fsGroup;
    if (volume.emptyDir) {
      if (group !== undefined) chownSync(path, 0, group);
      chmodSync(path, group === undefined ? 0o777 : 0o2777);
      continue;
    }
    for (const [name, text] of Object.entries(await volumeFiles(client, pod, volume))) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), text, { mode: 0o644 });
    }
  }
  return paths;
}

async function volumeFiles(client: KubeClient, pod: Pod, volume: Volume): Promise<Record<string, string>> {
  const { secret, configMap, projected } = volume;
  const sources: ProjectedSource[] | undefined = secret
    ? [{ secret: { ...secret, name: secret.secretName } }]
    : configMap
      ? [{ configMap }]
      : projected?.sources;
  if (!sources) throw new Error(`the test kubelet does not know the kind of volume ${volume.name}`);
  const files: Record<string, string> = {};
  for (const source of sources) Object.assign(files, await sourceFiles(client, pod, source));
  return files;
}

async function sourceFiles(client: KubeClient, pod: Pod, source: ProjectedSource): Promise<Record<string, string>> {
  const { secret, configMap, serviceAccountToken, downwardAPI } = source;
  const keyed = secret ?? configMap;
  if (keyed) {
    const kind = secret ? "secrets" : "configmaps";
    const values = await readKeys(client, pod, kind, keyed.name, keyed.optional);
    return pickKeys(values ?? {}, keyed);
  }
  if (serviceAccountToken) {
    const account = pod.spec.serviceAccountName ?? "default";
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/serviceaccounts/${account}/token`;
    const { audience, expirationSeconds = 3600 } = serviceAccountToken;
    const { name, uid } = pod.metadata;
    const { status } = await client.call<{ status: { token: string } }>("POST", path, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {
        audiences: audience === undefined ? [] : [audience],
        expirationSeconds,
        boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
      },
    });
    return { [serviceAccountToken.path]: status.token };
  }
  const items = downwardAPI?.items ?? [];
  return Object.fromEntries(items.map(({ path, fieldRef }) => [path, readField(pod, fieldRef?.fieldPath ?? "", "")]));
}

function pickKeys(values: Record<string, string>, { items }: KeyItems): Record<string, string> {
  if (!items) return values;
  return Object.fromEntries(items.flatMap(({ key, path }) => (key in values ? [[path, values[key]!]] : [])));
}

/** Returns the credentials in a pod's image pull secrets for the registry, in the format of X-Registry-Auth. */
export async function registryLogin(client: KubeClient, pod: Pod, image: string): Promise<string | undefined> {
  const host = image.split("/")[0]!;
  for (const { name } of pod.spec.imagePullSecrets ?? []) {
    const values = await readKeys(client, pod, "secrets", name, true);
    const text = values?.[".dockerconfigjson"];
    if (text === undefined) continue;
    const { auths = {} } = JSON.parse(text) as { auths?: Record<string, Login> };
    const found = Object.entries(auths).find(([key]) => key.replace(/^https?:\/\//, "").split("/")[0] === host)?.[1];
    if (!found) continue;
    const pair = found.auth === undefined ? undefined : decodeBase64(found.auth);
    const username = found.username ?? pair?.slice(0, pair.indexOf(":"));
    const password = found.password ?? pair?.slice(pair.indexOf(":") + 1);
    // the engine expects the alphabet of base64url and the padding of base64
    const login = Buffer.from(JSON.stringify({ username, password })).toString("base64");
    return login.replaceAll("+", "-").replaceAll("/", "_");
  }
  return undefined;
}

interface Login {
  auth?: string;
  username?: string;
  password?: string;
}
