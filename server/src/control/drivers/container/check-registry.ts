/**
 * Checks the registry of an image before an engine pulls from it. The engine resolves names and follows the registry's
 * redirects itself, so this cannot be as strict as for our own calls (see SECURITY.md).
 */
import { OutboundError } from "../../../base/outbound/outbound-error.ts";
import type { Outbound } from "../../../base/outbound/outbound.ts";
import { type ImageReference, parseReference } from "./image-reference.ts";

/** The engine's configuration determines the registry of an image name without a registry, and the mirrors. */
const ENGINE_DEFAULT = "docker.io";
/** Podman's name for images that were never pushed; checked when it is pulled. */
const LOCAL = "localhost";

/** Checks the registry of a reference before it is stored. @throws OutboundError */
export function checkRegistry(outbound: Pick<Outbound, "check">, uri: string): void {
  const registry = parseReference(uri)?.registry ?? ENGINE_DEFAULT;
  if (registry !== ENGINE_DEFAULT && registry !== LOCAL) outbound.check(`https://${registry}/`);
}

/** Checks the addresses of a registry before a pull. @throws OutboundError */
export async function checkRegistryAddress(
  outbound: Pick<Outbound, "check" | "resolve">,
  { registry }: ImageReference,
): Promise<void> {
  if (registry === ENGINE_DEFAULT) return;
  const url = outbound.check(`https://${registry}/`);
  try {
    await outbound.resolve(url.hostname.replace(/^\[|\]$/g, ""), Number(url.port || 443));
  } catch (error) {
    // a name that only the engine can resolve, by its own name server or proxy
    if (error instanceof OutboundError && error.reason === "network") return;
    throw error;
  }
}
