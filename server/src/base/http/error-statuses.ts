/** Every error status that a route can respond with; the OpenAPI document and the fuzzer know no other. */
export const ERROR_STATUSES = {
  400: "The request cannot be read, or lacks what it needs",
  401: "No valid key or session",
  402: "Not in the workspace's plan",
  403: "The key or session may not do this",
  404: "There is no such thing",
  405: "Not with this method",
  409: "It is in the way of something that exists or is under way",
  410: "It was here and is gone for good",
  413: "The body is larger than the limit",
  415: "A content type or encoding that is not understood",
  416: "A range that the content does not have",
  422: "The request is readable, but says something that cannot be",
  426: "Only as an upgrade to the protocol that Upgrade names",
  431: "The request's line and headers are larger than the limit",
  429: "Too many requests: a limit was reached; Retry-After says when to try again",
  502: "Another service did not do its part",
  503: "The server, or something it needs, is not ready; Retry-After says when to try again",
} as const;

export type ErrorStatus = keyof typeof ERROR_STATUSES;
