/**
 * Endpoints of the vendor's control plane that are missing here, with an explanation instead of "not found". Bodies of
 * the first two are not public.
 */
const NOT_BUILT: [path: RegExp, detail: string][] = [
  [
    /^\/v2\/deployments\/[^/]+\/(resource-tiers|deployment-tier)$/,
    "This installation has no tiers. To change a deployment's resources, PATCH /v2/deployments/{deployment_id} " +
      "with source_config.resource_spec.",
  ],
  [
    /^\/v2\/auth(\/|$)/,
    "Heddle does not implement the OAuth token service for agents. Pass credentials to a deployment as secrets, " +
      'and authenticate its callers with "auth" in langgraph.json.',
  ],
];

/** Returns the explanation for a path; undefined when there is none. */
export function explainMissing(path: string): string | undefined {
  const requestedPath = path.replace(/^\/api-host(?=\/)/, "");
  return NOT_BUILT.find(([pattern]) => pattern.test(requestedPath))?.[1];
}
