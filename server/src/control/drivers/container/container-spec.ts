import { withOwnerLabels } from "../../deployments/owner-labels.ts";
import type { SourceConfig } from "../../deployments/schema.ts";
import type { InstanceParams } from "../driver.ts";

/** Port on which images of agent servers listen, ours and others'. */
const CONTAINER_PORT = 8000;

export const LABELS = {
  place: "heddle.place",
  deployment: "heddle.deployment",
  revision: "heddle.revision",
  instance: "heddle.instance",
} as const;

export interface SpecSettings {
  containerNetwork: string;
  containerPids: number;
  containerReadOnly: boolean;
  containerTmpMb: number;
  ownerLabels: readonly string[];
}

const MB = 1024 * 1024;

/** Resolves resource limits: the contract's defaults, with twice the request as limit. */
export function containerLimits(config: SourceConfig): { memoryMb: number; cpus: number } {
  const spec = config.resource_spec ?? {};
  const [memory, cpu] = [spec.memory_mb ?? 2048, spec.cpu ?? 1];
  return {
    memoryMb: Math.max(memory, spec.memory_limit_mb ?? 2 * memory),
    cpus: Math.max(cpu, spec.cpu_limit ?? 2 * cpu),
  };
}

/** Builds the specification of a container, with the least privileges that an agent server needs. */
export function containerSpec(
  params: InstanceParams,
  options: { image: string; place: string; cpusOfMachine: number; settings: SpecSettings },
): object {
  const { settings } = options;
  const { memoryMb, cpus } = containerLimits(params.config);
  const isHost = settings.containerNetwork === "host";
  const environment: Record<string, string> = {
    ...params.environment,
    HEDDLE_DATA_DIR: "/tmp/heddle",
    HEDDLE_HOST: isHost ? "127.0.0.1" : "0.0.0.0",
    HOST: isHost ? "127.0.0.1" : "0.0.0.0",
    PORT: String(isHost ? params.port : CONTAINER_PORT),
  };
  const port = `${CONTAINER_PORT}/tcp`;
  return {
    Image: options.image,
    Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    Labels: {
      ...ownerLabels(params.config, settings.ownerLabels),
      [LABELS.place]: options.place,
      [LABELS.deployment]: params.deploymentId,
      [LABELS.revision]: params.revisionId,
      [LABELS.instance]: params.id,
    },
    ...(!isHost && { ExposedPorts: { [port]: {} } }),
    HostConfig: {
      NetworkMode: settings.containerNetwork,
      ...(!isHost && { PortBindings: { [port]: [{ HostIp: "127.0.0.1", HostPort: String(params.port) }] } }),
      Memory: memoryMb * MB,
      // the same value: no swap beyond it
      MemorySwap: memoryMb * MB,
      NanoCpus: Math.round(Math.min(cpus, options.cpusOfMachine) * 1e9),
      PidsLimit: settings.containerPids,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      Privileged: false,
      ReadonlyRootfs: settings.containerReadOnly,
      ...(settings.containerReadOnly && {
        Tmpfs: { "/tmp": `rw,nosuid,nodev,mode=1777,size=${settings.containerTmpMb}m` },
      }),
      RestartPolicy: { Name: "no" },
      AutoRemove: false,
    },
  };
}

function ownerLabels(stored: SourceConfig, listed: readonly string[]): Record<string, string> {
  const labels = withOwnerLabels(stored, listed).config.resource_spec?.["labels"];
  if (typeof labels !== "object" || labels === null) return {};
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|localhost|::1|\[::1\])$/i;

/** Replaces loopback in the platform's URLs, for an instance that reaches this machine by another address. */
export function replaceLoopback(environment: Record<string, string>, address: string): Record<string, string> {
  const replaced = { ...environment };
  for (const name of PLATFORM_URLS) {
    const value = environment[name];
    if (value === undefined || !URL.canParse(value)) continue;
    const url = new URL(value);
    if (!LOOPBACK.test(url.hostname)) continue;
    url.hostname = address;
    replaced[name] = name === "DATABASE_URI" ? url.href : url.href.replace(/\/$/, "");
  }
  return replaced;
}

const PLATFORM_URLS = ["DATABASE_URI", "HEDDLE_AUTH_URL", "HEDDLE_TRACING_URL"];

/** Lists the URLs that an instance in a separate network could not reach. */
export const onLoopback = (environment: Record<string, string>): string[] =>
  PLATFORM_URLS.filter((name) => {
    const value = environment[name];
    return value !== undefined && URL.canParse(value) && LOOPBACK.test(new URL(value).hostname);
  });
