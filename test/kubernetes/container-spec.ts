/** Container specs for the engine: image, environment, mounts, limits and privileges. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

import { type Engine, EngineError, readProgress } from "../../server/src/control/drivers/container/engine.ts";
import type { KubeClient } from "./kube-client.ts";
import { type Container, parseQuantity, type Pod } from "./pod.ts";
import { type ApiAddress, registryLogin, resolveEnvironment } from "./pod-files.ts";

/** Context that the containers of a pod share. */
export interface PodContext {
  engine: Engine;
  client: KubeClient;
  api: ApiAddress;
  /** Directory of the pod's logs and volumes. */
  directory: string;
  pod: Pod;
  podIp: string;
  sandboxId: string;
  volumes: Map<string, string>;
  /** Milliseconds before the second restart; doubles up to a minute. The first restart is immediate. */
  backoffMs: number;
}

export interface Image {
  Id: string;
  Config?: { User?: string };
}

/** Finds the image of a container, or pulls it by its policy. Throws the engine's reason. */
export async function findImage({ engine, client, pod }: PodContext, container: Container): Promise<Image> {
  const { image, imagePullPolicy: policy } = container;
  const isLocal = image.startsWith("localhost/");
  const inspect = () => engine.call<Image>("GET", `/images/${image}/json`);
  const found = await inspect().catch((error: unknown) => {
    if (error instanceof EngineError && error.status === 404) return undefined;
    throw error;
  });
  if (found && (policy !== "Always" || isLocal)) return found;
  if (policy === "Never" || isLocal) throw new Error(`Container image "${image}" is not present`);
  const login = await registryLogin(client, pod, image);
  const response = await engine.open("POST", "/images/create", {
    query: { fromImage: image },
    headers: { ...(login !== undefined && { "X-Registry-Auth": login }) },
    idleMs: 120_000,
  });
  await readProgress(response, () => {});
  return inspect();
}

/** Builds the engine's spec of a container. Throws if an object that the container refers to does not exist. */
export async function containerSpec(
  context: PodContext,
  container: Container,
  image: Image,
  logFile: string,
): Promise<object> {
  const { client, pod, podIp, api, sandboxId, volumes, directory } = context;
  const environment = await resolveEnvironment(client, pod, container, podIp, api);
  const security = { ...pod.spec.securityContext, ...container.securityContext };
  const user = security.runAsUser ?? image.Config?.User ?? "";
  if (security.runAsNonRoot && /^(|0|root)(:|$)/.test(String(user)))
    throw new Error("container has runAsNonRoot and image will run as root");
  mkdirSync(dirname(logFile), { recursive: true });
  const limits = container.resources?.limits ?? {};
  const memory = limits["memory"] === undefined ? 0 : parseQuantity(limits["memory"]);
  const mounts = (container.volumeMounts ?? []).map(({ name, mountPath, subPath = "", readOnly }) => {
    const path = volumes.get(name);
    if (path === undefined) throw new Error(`volume ${name} does not exist`);
    return `${join(path, subPath)}:${mountPath}:${readOnly ? "ro" : "rw"}`;
  });
  return {
    Image: container.image,
    ...(container.command && { Entrypoint: container.command }),
    ...(container.args && { Cmd: container.args }),
    ...(container.workingDir !== undefined && { WorkingDir: container.workingDir }),
    Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    // Kubernetes ignores the image's own health check
    Healthcheck: { Test: ["NONE"] },
    User: security.runAsGroup === undefined ? String(user) : `${user}:${security.runAsGroup}`,
    HostConfig: {
      NetworkMode: `container:${sandboxId}`,
      Binds: [`${join(directory, "hosts")}:/etc/hosts:ro`, ...mounts],
      LogConfig: { Type: "k8s-file", Config: { path: logFile } },
      ...(memory > 0 && { Memory: memory, MemorySwap: memory }),
      ...(limits["cpu"] !== undefined && { NanoCpus: Math.round(parseQuantity(limits["cpu"]) * 1e9) }),
      CapDrop: security.capabilities?.drop ?? [],
      CapAdd: security.capabilities?.add ?? [],
      SecurityOpt: security.allowPrivilegeEscalation === false ? ["no-new-privileges"] : [],
      ReadonlyRootfs: security.readOnlyRootFilesystem ?? false,
      ...(security.fsGroup !== undefined && { GroupAdd: [String(security.fsGroup)] }),
    },
  };
}
