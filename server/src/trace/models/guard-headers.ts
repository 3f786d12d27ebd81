/** Headers that providers' clients need. Variables of the environment can add others, which are not a workspace's. */
const PERMITTED = new Set([
  "accept",
  "content-type",
  "user-agent",
  "anthropic-version",
  "anthropic-beta",
  "openai-organization",
  "openai-project",
  "openai-beta",
  "x-amz-date",
  "x-amz-content-sha256",
  "amz-sdk-invocation-id",
  "amz-sdk-request",
  "x-amz-user-agent",
]);

/** Headers that carry credentials; only those of the call pass. */
const CREDENTIALS = new Set(["authorization", "api-key", "x-api-key", "x-goog-api-key", "x-amz-security-token"]);

/** Returns a filter that removes all headers but those that the call's own connection accounts for. */
export const guardHeaders =
  (secrets: string[]) =>
  (headers: Headers): void => {
    for (const [name, value] of [...headers]) {
      const isOwn = CREDENTIALS.has(name) && secrets.some((secret) => value.includes(secret));
      if (!PERMITTED.has(name) && !isOwn) headers.delete(name);
    }
  };
