/** Where a deployment's images are in a registry of the operator's, without the scheme. */
export const registryPath = (registryUrl: string, deploymentId: string): string =>
  `${registryUrl.replace(/^https?:\/\//, "").replace(/\/+$/, "")}/${deploymentId}`;
