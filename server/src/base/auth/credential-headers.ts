/** Headers in which requests carry credentials. */
export const CREDENTIAL_HEADERS: readonly string[] = [
  "authorization",
  "cookie",
  "proxy-authorization",
  "x-api-key",
  "x-service-key",
];
