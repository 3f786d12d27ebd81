/**
 * Judges the registry of an image before an engine is asked to pull from it. The engine resolves the name and follows
 * the registry's redirects by itself, so this cannot be as strict as a call of our own: SECURITY.md says so.
 */
import { OutboundError } from "../../../base/outbound/outbound-error.ts";
import type { Outbound } from "../../../base/outbound/outbound.ts";
import { type ImageReference, parseReference } from "./image-reference.ts";

/** Which registry a name without one means, and by which mirrors it is reached, is the engine's configuration. */
const ENGINE_DEFAULT = "docker.io";
/** Podman's name for images that were never pushed; a pull from it is judged when it happens. */
const LOCAL = "localhost";

/** Checks the registry of a reference that is being stored. @throws OutboundError */
export function checkRegistry(outbound: Pick<Outbound, "check">, uri: string): void {
  const registry = parseReference(uri)?.registry ?? ENGINE_DEFAULT;
  if (registry !== ENGINE_DEFAULT && registry !== LOCAL) outbound.check(`https://${registry}/`);
}

/** Checks the addresses of a registry that is about to be pulled from. @throws OutboundError */
export async function checkRegistryAddress(
  outbound: Pick<Outbound, "check" | "resolve">,
  { registry }: ImageReference,
): Promise<void> {
  if (registry === ENGINE_DEFAULT) return;
  const url = outbound.check(`https://${registry}/`);
  try {
    await outbound.resolve(url.hostname.replace(/^\[|\]$/g, ""), Number(url.port || 443));
  } catch (error) {
    // a name that only the engine knows, by its own name server or proxy
    if (error instanceof OutboundError && error.reason === "network") return;
    throw error;
  }
}
