/** Headers in which requests carry credentials for a server. */
export const CREDENTIAL_HEADERS: readonly string[] = ["authorization", "cookie", "x-api-key", "x-service-key"];
