export interface SupportedVersion {
  langgraph: string;
  /** The core that it requires, and what the suite's projects import besides. */
  packages: string[];
}

const OLD = ["@langchain/core@^0.3.0", "zod@^3.25.0", "hono@^4.0.0"];
const NEW = ["@langchain/core@^1.0.0", "zod@^4.0.0", "hono@^4.0.0"];

/** Versions of the matrix in docs/versions.md: the oldest and the newest of each supported line, with their core. */
export const SUPPORTED: SupportedVersion[] = [
  { langgraph: "0.2.57", packages: ["@langchain/core@0.3.40", ...OLD.slice(1)] },
  { langgraph: "0.2.74", packages: OLD },
  { langgraph: "0.3.0", packages: OLD },
  { langgraph: "0.3.12", packages: OLD },
  { langgraph: "0.4.0", packages: OLD },
  { langgraph: "0.4.10", packages: OLD },
  { langgraph: "1.0.0", packages: NEW },
  // the last one before interrupts were stored in arrays and messages lost their task's namespace
  { langgraph: "1.5.3", packages: NEW },
  { langgraph: "1.7.3", packages: [...NEW, "langchain@^1.5.0"] },
];
