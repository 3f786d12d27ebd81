import { z } from "zod";

/** Format of Docker and Kubernetes (`.dockerconfigjson`): per registry, user name and password, or both in base64. */
const dockerConfig = z.object({
  auths: z.record(
    z.string(),
    z.object({ auth: z.string().optional(), username: z.string().optional(), password: z.string().optional() }),
  ),
});

export interface RegistryCredentials {
  username: string;
  password: string;
}

/**
 * Returns the credentials for a registry, or null. Throws an error that quotes none of the text when it is malformed.
 */
export function readCredentials(text: string, registry: string): RegistryCredentials | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error('it is not JSON of the form {"auths": {"registry.example": {"auth": …}}}');
  }
  const parsed = dockerConfig.safeParse(json);
  if (!parsed.success) throw new Error('it is not of the form {"auths": {"registry.example": {"auth": …}}}');
  const entry = Object.entries(parsed.data.auths).find(([host]) => registryHost(host) === registryHost(registry))?.[1];
  if (!entry) return null;
  if (entry.username !== undefined) return { username: entry.username, password: entry.password ?? "" };
  const plain = Buffer.from(entry.auth ?? "", "base64").toString("utf8");
  const colon = plain.indexOf(":");
  return colon < 0 ? null : { username: plain.slice(0, colon), password: plain.slice(colon + 1) };
}

/** Normalizes a registry's host. Docker's own is written `https://index.docker.io/v1/`. */
function registryHost(registry: string): string {
  const host = registry
    .replace(/^https?:\/\//, "")
    .split("/")[0]!
    .toLowerCase();
  return host === "index.docker.io" || host === "registry-1.docker.io" ? "docker.io" : host;
}
