/**
 * Access to a cluster: from a kubeconfig file, or from the service account of this pod. Credentials that expire are
 * read again: token files at each use, credentials of a command (client-go's exec plugins) shortly before they expire.
 */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { promisify } from "node:util";

import { z } from "zod";

import { ConfigError } from "../../../base/config/options.ts";

/** Where Kubernetes puts the service account of a pod. */
export interface PodAccount {
  directory: string;
  environment: Record<string, string | undefined>;
}
const THIS_POD: PodAccount = {
  directory: "/var/run/secrets/kubernetes.io/serviceaccount",
  // oxlint-disable-next-line node/no-process-env -- not settings: Kubernetes sets its variables in every pod
  environment: process.env,
};
const EARLY_MS = 60_000;
const EXEC_MS = 30_000;

const kubeconfig = z.looseObject({
  "current-context": z.string(),
  clusters: z.array(
    z.object({
      name: z.string(),
      cluster: z.looseObject({
        server: z.url(),
        "certificate-authority": z.string().optional(),
        "certificate-authority-data": z.string().optional(),
        "insecure-skip-tls-verify": z.boolean().optional(),
        "tls-server-name": z.string().optional(),
      }),
    }),
  ),
  contexts: z.array(
    z.object({
      name: z.string(),
      context: z.looseObject({ cluster: z.string(), user: z.string(), namespace: z.string().optional() }),
    }),
  ),
  users: z.array(
    z.object({
      name: z.string(),
      user: z.looseObject({
        token: z.string().optional(),
        tokenFile: z.string().optional(),
        "client-certificate": z.string().optional(),
        "client-certificate-data": z.string().optional(),
        "client-key": z.string().optional(),
        "client-key-data": z.string().optional(),
        exec: z
          .looseObject({
            apiVersion: z.string(),
            command: z.string(),
            args: z.array(z.string()).nullish(),
            env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
          })
          .optional(),
      }),
    }),
  ),
});
type User = z.output<typeof kubeconfig>["users"][number]["user"];

export interface Credentials {
  token: string | null;
  cert: Buffer | null;
  key: Buffer | null;
}

export interface ClusterAccess {
  server: URL;
  ca: Buffer | null;
  /** Name in the server's certificate, where it differs from the address. */
  serverName: string | null;
  insecure: boolean;
  /** Namespace of the context or of this pod; null if there is none. */
  namespace: string | null;
  /** Namespace in which this process itself runs, if it is a pod of this cluster; null if it is not. */
  ownNamespace: string | null;
  credentials(): Promise<Credentials>;
}

/** Reads a kubeconfig file or, without a path, the service account of this pod. Throws ConfigError when it cannot. */
export async function openAccess(path: string | undefined, pod: PodAccount = THIS_POD): Promise<ClusterAccess> {
  return path === undefined ? readServiceAccount(pod) : readKubeconfig(path, pod);
}

function readFileOf({ directory }: PodAccount, name: string): Buffer | null {
  const path = `${directory}/${name}`;
  return existsSync(path) ? readFileSync(path) : null;
}

/** Namespace of this pod; null outside of a cluster. */
const podNamespace = (pod: PodAccount): string | null => readFileOf(pod, "namespace")?.toString().trim() ?? null;

/** Whether a kubeconfig file names the cluster in which this pod runs, by its address or its certificate authority. */
function isOwnCluster(pod: PodAccount, server: URL, ca: Buffer | null): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, "");
  if (host === pod.environment["KUBERNETES_SERVICE_HOST"] || /^kubernetes(\.default(\.svc(\..*)?)?)?$/.test(host))
    return true;
  const own = readFileOf(pod, "ca.crt")?.toString().trim();
  return own !== undefined && own !== "" && ca?.toString().trim() === own;
}

function readServiceAccount(pod: PodAccount): ClusterAccess {
  const { directory, environment } = pod;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = environment;
  if (host === undefined || !existsSync(`${directory}/token`)) {
    throw new ConfigError(
      "This process does not run in a Kubernetes cluster. Set HEDDLE_KUBECONFIG to a kubeconfig file.",
    );
  }
  const file = (name: string) => readFileSync(`${directory}/${name}`);
  const namespace = podNamespace(pod);
  return {
    server: new URL(`https://${host.includes(":") ? `[${host}]` : host}:${port}`),
    ca: file("ca.crt"),
    serverName: null,
    insecure: false,
    namespace,
    ownNamespace: namespace,
    // the kubelet replaces the token before it expires
    credentials: async () => ({ token: file("token").toString().trim(), cert: null, key: null }),
  };
}

async function readKubeconfig(path: string, pod: PodAccount): Promise<ClusterAccess> {
  if (!existsSync(path)) throw new ConfigError(`HEDDLE_KUBECONFIG: there is no file ${path}.`);
  const { parse } = await import("yaml");
  let parsed;
  try {
    parsed = kubeconfig.parse(parse(readFileSync(path, "utf8")));
  } catch {
    // the cause may quote credentials
    throw new ConfigError(`HEDDLE_KUBECONFIG: ${path} is not a kubeconfig file.`);
  }
  const find = <T extends { name: string }>(kind: string, all: T[], name: string): T => {
    const found = all.find((entry) => entry.name === name);
    if (!found) throw new ConfigError(`HEDDLE_KUBECONFIG: ${path} has no ${kind} "${name}".`);
    return found;
  };
  const { context } = find("context", parsed.contexts, parsed["current-context"]);
  const { cluster } = find("cluster", parsed.clusters, context.cluster);
  const { user } = find("user", parsed.users, context.user);
  const read = (data: string | undefined, file: string | undefined): Buffer | null =>
    data !== undefined
      ? Buffer.from(data, "base64")
      : file !== undefined
        ? readFileSync(resolve(dirname(path), file))
        : null;
  const server = new URL(cluster.server);
  const ca = read(cluster["certificate-authority-data"], cluster["certificate-authority"]);
  return {
    server,
    ca,
    serverName: cluster["tls-server-name"] ?? null,
    insecure: cluster["insecure-skip-tls-verify"] ?? false,
    namespace: context.namespace ?? null,
    ownNamespace: isOwnCluster(pod, server, ca) ? podNamespace(pod) : null,
    credentials: readUser(user, read, dirname(path)),
  };
}

function readUser(
  user: User,
  read: (data: string | undefined, file: string | undefined) => Buffer | null,
  directory: string,
): () => Promise<Credentials> {
  const { exec, tokenFile } = user;
  if (exec) return runCredentialCommand(exec, directory);
  return async () => ({
    token:
      tokenFile === undefined
        ? (user.token ?? null)
        : read(undefined, resolve(directory, tokenFile))!.toString().trim(),
    cert: read(user["client-certificate-data"], user["client-certificate"]),
    key: read(user["client-key-data"], user["client-key"]),
  });
}

const execCredential = z.object({
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
});

function runCredentialCommand(exec: NonNullable<User["exec"]>, directory: string): () => Promise<Credentials> {
  // as kubectl does: a path is relative to the file, and a name is looked up on PATH
  const command = exec.command.includes("/") ? resolve(directory, exec.command) : exec.command;
  let known: { credentials: Credentials; until: number } | undefined;
  return async () => {
    if (known && Date.now() < known.until) return known.credentials;
    const info = { apiVersion: exec.apiVersion, kind: "ExecCredential", spec: { interactive: false } };
    const env = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value]));
    const { stdout } = await promisify(execFile)(command, exec.args ?? [], {
      // oxlint-disable-next-line node/no-process-env -- the command reads its own settings, as it does for kubectl
      env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      timeout: EXEC_MS,
    }).catch((error: { code?: unknown; killed?: boolean; stderr?: string }) => {
      // its arguments may contain credentials
      const how = error.killed === true ? `did not end within ${EXEC_MS / 1000} s` : `failed (${String(error.code)})`;
      throw new Error(`The command ${exec.command} of the kubeconfig file ${how}: ${error.stderr?.trim() ?? ""}`);
    });
    const { status } = readExecCredential(exec.command, stdout);
    const credentials = {
      token: status.token ?? null,
      cert: status.clientCertificateData === undefined ? null : Buffer.from(status.clientCertificateData),
      key: status.clientKeyData === undefined ? null : Buffer.from(status.clientKeyData),
    };
    const end = status.expirationTimestamp === undefined ? Infinity : Date.parse(status.expirationTimestamp);
    known = { credentials, until: end - EARLY_MS };
    return credentials;
  };
}

/** Parses the output of a command. The error does not quote it. */
function readExecCredential(command: string, stdout: string): z.output<typeof execCredential> {
  try {
    return execCredential.parse(JSON.parse(stdout));
  } catch {
    throw new Error(`The command ${command} of the kubeconfig file did not print an ExecCredential with a status.`);
  }
}
