/** Returns the path of a deployment's images in an operator's registry, without the scheme. */
export const registryPath = (registryUrl: string, deploymentId: string): string =>
  `${registryUrl.replace(/^https?:\/\//, "").replace(/\/+$/, "")}/${deploymentId}`;
