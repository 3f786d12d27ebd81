/**
 * Endpoints of the vendor's control plane that are missing here, with an explanation instead of "not found". Bodies of
 * the first two are not public (contract control-plane §10.1).
 */
const NOT_BUILT: [path: RegExp, detail: string][] = [
  [
    /^\/v2\/deployments\/[^/]+\/(resource-tiers|deployment-tier)$/,
    "There are no tiers here. PATCH /v2/deployments/{deployment_id} with source_config.resource_spec sets what a " +
      "deployment gets.",
  ],
  [
    /^\/v2\/auth(\/|$)/,
    "The service that keeps OAuth tokens for agents is not built. A deployment gets credentials as secrets, and who " +
      'its callers are is told by "auth" of langgraph.json.',
  ],
];

/** Returns the explanation for a path; undefined when there is none. */
export function explainMissing(path: string): string | undefined {
  const asked = path.replace(/^\/api-host(?=\/)/, "");
  return NOT_BUILT.find(([pattern]) => pattern.test(asked))?.[1];
}
