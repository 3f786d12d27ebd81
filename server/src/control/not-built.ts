/**
 * Endpoints that the vendor's control plane has and this one does not, so that whoever calls one is told what to do
 * instead of being left with "not found". Bodies of the first two are not public (contract control-plane §10.1).
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

/** What to tell whoever asked for it; undefined where there is nothing to tell. */
export function explainMissing(path: string): string | undefined {
  const asked = path.replace(/^\/api-host(?=\/)/, "");
  return NOT_BUILT.find(([pattern]) => pattern.test(asked))?.[1];
}
