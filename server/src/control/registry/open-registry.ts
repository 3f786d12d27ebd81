import type { ControlDeps } from "../deps.ts";
import { RegistryFront } from "./registry-front.ts";

/** Creates the registry of a control plane. */
export const openRegistry = ({ sql, log, images, pushTokens }: ControlDeps): RegistryFront =>
  new RegistryFront({
    store: images,
    tokens: pushTokens,
    log,
    async isOpen(deploymentId) {
      const [row] = await sql`select 1 from deployments where id = ${deploymentId} and status <> 'AWAITING_DELETE'`;
      return row !== undefined;
    },
  });
