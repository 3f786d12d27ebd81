import { isDeploymentOpen } from "../deployments/sql.ts";
import type { ControlDeps } from "../deps.ts";
import { RegistryFront } from "./registry-front.ts";

/** Creates the registry of a control plane. */
export const openRegistry = ({ sql, log, images, pushTokens }: ControlDeps): RegistryFront =>
  new RegistryFront({
    store: images,
    tokens: pushTokens,
    log,
    isOpen: (deploymentId) => isDeploymentOpen(sql, deploymentId),
  });
