/**
 * Labels of containers and pods, and annotations of pods, configure other programs: Services and NetworkPolicies select
 * by them, proxies route by them, and they grant permissions of clouds, networks and security modules. Owners of
 * deployments may therefore set only what the operator lists, besides labels under a prefix that nothing else reads.
 */
import { ConfigError, splitList } from "../../base/config/options.ts";

/** Prefix of the labels and annotations that every owner may set. */
export const OWNER_PREFIX = "user.heddle/";

/** Kubernetes' own domains: keys of theirs are listed one by one, as their meaning is security-relevant. */
const KUBERNETES = /(^|\.)(kubernetes|k8s)\.io\/$/;
/** The platform's own, by which its Services and its control plane find pods. */
const PLATFORM = /^(app\.kubernetes\.io\/|helm\.sh\/|heddle\.)/;
const ENTRY = /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\/)?([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;

/** Parses the operator's list: keys, or prefixes that end in a slash. @throws ConfigError */
export function parseOwnerKeys(text: string): readonly string[] {
  const entries = splitList(text);
  for (const entry of entries) {
    if (!ENTRY.test(entry) || entry === "") {
      throw new ConfigError(`must list keys such as team, or prefixes such as team.example/, not "${entry}"`);
    }
    if (PLATFORM.test(entry))
      throw new ConfigError(`must not contain "${entry}", by which Heddle's own pods are found`);
    if (KUBERNETES.test(entry)) {
      throw new ConfigError(`must name each key of Kubernetes' own prefixes, such as ${entry}KEY, not "${entry}"`);
    }
  }
  return entries;
}

/** Whether an owner may set a label or an annotation. `listed`: the operator's list. */
export const mayOwnerSet = (key: string, listed: readonly string[]): boolean =>
  !PLATFORM.test(key) &&
  [OWNER_PREFIX, ...listed].some((entry) => (entry.endsWith("/") ? key.startsWith(entry) : key === entry));

const KINDS = ["labels", "annotations"] as const;

/**
 * Removes from a stored configuration what its owner may no longer set, because the operator's list has changed since.
 * @returns the configuration, and the keys that were removed
 */
export function withOwnerLabels<C extends { resource_spec?: object | null | undefined }>(
  config: C,
  listed: readonly string[],
): { config: C; dropped: string[] } {
  const spec: Record<string, unknown> = { ...config.resource_spec };
  const dropped: string[] = [];
  for (const kind of KINDS) {
    const all = spec[kind];
    if (typeof all !== "object" || all === null) continue;
    spec[kind] = Object.fromEntries(Object.entries(all).filter(([key]) => mayOwnerSet(key, listed)));
    dropped.push(...Object.keys(all).filter((key) => !mayOwnerSet(key, listed)));
  }
  return dropped.length === 0 ? { config, dropped } : { config: { ...config, resource_spec: spec }, dropped };
}

/** The first label or annotation that the owner may not set, and its field; undefined when there is none. */
export function forbiddenLabel(
  spec: Record<string, unknown> | null | undefined,
  listed: readonly string[],
): { kind: (typeof KINDS)[number]; key: string } | undefined {
  for (const kind of KINDS) {
    const all = spec?.[kind];
    if (typeof all !== "object" || all === null) continue;
    const key = Object.keys(all).find((each) => !mayOwnerSet(each, listed));
    if (key !== undefined) return { kind, key };
  }
  return undefined;
}

/** For messages about a forbidden label. */
export const ONLY_LISTED = `only keys under ${OWNER_PREFIX} and those that HEDDLE_DEPLOYMENT_LABELS lists are allowed`;
