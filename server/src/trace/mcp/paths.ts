export const MCP_PATH = "/mcp";

/** RFC 9728 §3.1: the resource's path follows. */
export const METADATA_PATH = "/.well-known/oauth-protected-resource";
