/** A pair of the matrix in docs/versions.md. */
export interface PythonPair {
  python: string;
  langgraph: string;
  /** Further packages, pinned where the newest would not be what a project of that time has. */
  packages: string[];
}

/** The oldest and the newest langgraph of each supported line, spread over the supported versions of Python. */
export const PYTHON_PAIRS: PythonPair[] = [
  { python: "3.10", langgraph: "0.6.0", packages: ["langchain-core<1", "langgraph-checkpoint==2.1.0"] },
  { python: "3.10", langgraph: "0.6.11", packages: ["langchain-core<1"] },
  {
    python: "3.11",
    langgraph: "1.0.0",
    packages: ["langchain-core==1.0.0", "langgraph-checkpoint==2.1.2", "langgraph-prebuilt==1.0.0"],
  },
  { python: "3.11", langgraph: "1.0.10", packages: ["langgraph-prebuilt<1.0.9", "langchain<1.1"] },
  { python: "3.12", langgraph: "1.1.10", packages: ["langchain"] },
  {
    python: "3.13",
    langgraph: "1.2.24",
    packages: ["langchain", "deepagents", "langgraph-checkpoint-conformance", "langgraph-checkpoint-postgres"],
  },
  { python: "3.14", langgraph: "1.2.24", packages: ["langchain", "deepagents"] },
];
