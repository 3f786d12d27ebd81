/** Every error status that a route can respond with; the OpenAPI document knows no other, and generated inputs (test/hostile) check it. */
export const ERROR_STATUSES = {
  400: "The request is malformed or incomplete",
  401: "No valid API key or session",
  402: "Not included in the workspace's plan, or over its budget",
  403: "The API key or session lacks the permission",
  404: "The resource does not exist",
  405: "The method is not allowed",
  408: "The body arrived too slowly while other requests waited for memory",
  409: "Conflict with an existing resource or a running operation",
  410: "The resource is permanently gone",
  413: "The body exceeds the size limit",
  415: "Unsupported content type or encoding",
  416: "The range lies outside the content",
  422: "The request is well-formed but invalid",
  424: "A package or a secret that the operation needs is missing",
  426: "The request must upgrade to the protocol in the Upgrade header",
  431: "The request line and headers exceed the size limit",
  429: "Rate limit exceeded; Retry-After gives the time to wait",
  502: "An upstream service failed",
  503: "The server or one of its dependencies is not ready; Retry-After gives the time to wait",
} as const;

export type ErrorStatus = keyof typeof ERROR_STATUSES;
