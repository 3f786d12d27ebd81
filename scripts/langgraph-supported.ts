/** Versions of the matrix in docs/versions.md: the oldest and the newest of each supported line, with their core. */
export const SUPPORTED = [
  { langgraph: "0.2.57", core: "0.3.40" },
  { langgraph: "0.2.74", core: "^0.3.0" },
  { langgraph: "0.3.0", core: "^0.3.0" },
  { langgraph: "0.3.12", core: "^0.3.0" },
  { langgraph: "0.4.0", core: "^0.3.0" },
  { langgraph: "0.4.10", core: "^0.3.0" },
  { langgraph: "1.0.0", core: "^1.0.0" },
  { langgraph: "1.7.3", core: "^1.0.0" },
];
