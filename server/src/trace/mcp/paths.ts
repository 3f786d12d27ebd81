export const MCP_PATH = "/mcp";

/** RFC 9728 §3.1: the resource's path follows. */
export const METADATA_PATH = "/.well-known/oauth-protected-resource";

const OPEN =
  /^(?:\/mcp|\/\.well-known\/oauth-(?:protected-resource(?:\/mcp)?|authorization-server)|\/oauth\/(?:register|token|revoke))\/?$/;

/** Whether MCP clients in browsers, of any origin, may call the path: it accepts nothing but tokens and keys from them. */
export const isForMcpClients = (path: string): boolean => OPEN.test(path);
