// The import rule: an import goes down, or sideways inside its own space; never up, never across spaces.
//     main -> roles -> {agent,trace,control}-app -> { agent, console, control, trace } -> identity -> base
// Tests may use server/test and the code they test; production code never imports a test.

const TESTS = "(\\.test\\.tsx?$|(^|/)test/)";

// Inside base, lowest first. A layer may import its own and those before it.
const BASE_LAYERS = [
  // errors, ids, clock and other single files without dependencies
  "^server/src/base/(?!log\\.)[^/]+\\.ts$",
  "^server/src/base/config/",
  "^server/src/base/log\\.ts$",
  "^server/src/base/(db|clickhouse|blob)/",
  "^server/src/base/(secrets|events|polling)/",
  "^server/src/base/auth/",
  "^server/src/base/(http|outbound)/",
];

const baseOrder = BASE_LAYERS.slice(0, -1).map((layer, index) => ({
  name: `base-layer-${index + 1}-imports-upward`,
  comment: "Inside base: errors, ids, clock <- config <- log <- db <- secrets, events, polling <- auth <- http.",
  severity: "error",
  from: { path: layer, pathNot: TESTS },
  to: { path: BASE_LAYERS.slice(index + 1).join("|") },
}));

const never = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

// The slices of each space, lowest first: a slice imports only slices before it, and of every slice the layer that lies
// below all routes and verbs: its statements, its schemas, and the rules of its noun that are listed here.
const LOWER_LAYER = [
  "^server/src/[^/]+/[^/]+/[^/]*(sql|schema)\\.ts$",
  "^server/src/control/deployments/(environment-secret|not-found|owner-labels|reserved-names|serialize-deployment|validate)\\.ts$",
  "^server/src/trace/projects/(project-directory|project-filter)\\.ts$",
];

const SLICES = {
  agent: [
    "project",
    "hosts",
    "python-code",
    "encryption",
    "custom-auth",
    "feedback-links",
    "idempotency",
    "webhooks",
    "custom-app",
    "streams",
    "runs",
    "threads",
    "assistants",
    "protocol",
    "crons",
    "waits",
    "mcp",
    "a2a",
    "store",
    "servers",
    "housekeeping",
    "queue-status",
    "thread-stream",
    "truncate",
    "ui",
    "system",
    "metric-history",
    "start",
  ],
  control: [
    "changes",
    "logs",
    "builds",
    "git",
    "watches",
    "uploads",
    "registry",
    "drivers",
    "cluster-images",
    "gateway",
    "leadership",
    "runtime",
    "kubernetes",
    "listeners",
    "integrations",
    "revisions",
    "deployments",
    "pushes",
    "git-webhooks",
    "system",
  ],
  identity: [
    "roles",
    "workspaces",
    "api-keys",
    "audit",
    "key-verification",
    "members",
    "organizations",
    "sign-in",
    "oauth",
  ],
  trace: [
    "run-rows",
    "run-facts",
    "attachments",
    "filter",
    "prices",
    "legal-holds",
    "resource-tags",
    "masking",
    "rule-candidates",
    "feedback-configs",
    "feedback",
    "feedback-tokens",
    "runs",
    "ingest",
    "datasets",
    "examples",
    "prompt-webhooks",
    "prompts",
    "prompt-commits",
    "prompt-tags",
    "prompt-environments",
    "prompt-directories",
    "erasures",
    "projects",
    "export-destinations",
    "bulk-exports",
    "backups",
    "dataset-transfers",
    "annotation-queues",
    "experiments",
    "sharing",
    "otel",
    "rate-limits",
    "retention",
    "system",
    "threads",
    "views",
    "search",
    "prompt-statistics",
    "workspace-secrets",
    "playground-settings",
    "models",
    "playground",
    "code-evaluators",
    "evaluators",
    "rules",
    "rule-actions",
    "experiment-runs",
    "pairwise",
    "dataset-growth",
    "mcp",
    "insights",
    "agent-metrics",
    "dashboards",
    "alerts",
    "budgets",
  ],
};

const sliceOrder = Object.entries(SLICES).flatMap(([space, order]) => {
  const within = (slices) => `^server/src/${space}/(${slices.join("|")})/`;
  return [
    ...order
      .slice(0, -1)
      .map((slice, index) =>
        never(
          `${space}-${slice}-imports-upward`,
          "A slice imports only slices before it in SLICES.",
          { path: within([slice]), pathNot: TESTS },
          { path: within(order.slice(index + 1)), pathNot: LOWER_LAYER },
        ),
      ),
    never(
      `${space}-lower-layer-imports-upward`,
      "Statements, schemas and rules of a noun import no routes and no verbs of its slice.",
      { path: LOWER_LAYER, pathNot: TESTS },
      { path: `^server/src/${space}/[^/]+/((routes|(create|delete|list|change|update)-[^/]+)\\.ts$)` },
    ),
    never(
      `${space}-slice-without-place`,
      "Each slice has its place in SLICES.",
      { path: `^server/src/${space}/(?!(${order.join("|")})/)[^/]+/`, pathNot: TESTS },
      {},
    ),
  ];
});

module.exports = {
  forbidden: [
    never(
      "no-cycles",
      "Two files that need each other are one file, or cut wrongly. Types count.",
      {},
      { circular: true },
    ),
    never(
      "unresolvable",
      "An import that leads nowhere. (Fixtures may be broken: that is what they are for. Front ends have their own packages.)",
      { pathNot: "/fixtures/|^conformance/front-ends/[^/]+/|^scripts/versions/otel-samples/programs/" },
      { couldNotResolve: true, pathNot: "^node:" },
    ),
    never(
      "base-is-the-bottom",
      "base contains no product noun.",
      { path: "^server/src/base/", pathNot: TESTS },
      { path: "^server/", pathNot: "^server/src/base/" },
    ),
    ...baseOrder,
    ...sliceOrder,
    never(
      "identity-looks-down",
      "identity may import base only.",
      { path: "^server/src/identity/", pathNot: TESTS },
      { path: "^server/", pathNot: "^server/src/(identity|base)/" },
    ),
    never(
      "spaces-look-down",
      "A space imports itself, identity and base. What it needs of another is handed over by the roles.",
      { path: "^server/src/(agent|console|control|trace)/", pathNot: TESTS },
      { path: "^server/", pathNot: "^server/src/($1|identity|base)/" },
    ),
    never(
      "app-is-imported-by-main",
      "Only the roles that main.ts starts (and tests) import the modules that mount spaces; these share app.ts.",
      {
        path: "^server/src/",
        pathNot: ["^server/src/(main|(agent|trace|control)-app)\\.ts$", "^server/src/roles/", TESTS],
      },
      { path: "^server/src/((agent|trace|control)-)?app\\.ts$" },
    ),
    ...["agent", "trace", "control"].map((space) =>
      never(
        `${space}-role-loads-its-space-only`,
        "A role loads no other space: that would cost each of its processes memory and start-up time.",
        { path: `^server/src/roles/${space}-role\\.ts$` },
        {
          path: `^server/src/(${["agent", "trace", "control"].filter((other) => other !== space).join("|")})/index\\.ts$`,
          reachable: true,
        },
      ),
    ),
    never(
      "admin-is-for-the-command-line",
      "Nothing in the server imports admin.",
      { path: "^(server|host-kit|graph-host)/", pathNot: ["^server/src/admin/", TESTS] },
      { path: "^server/src/admin/" },
    ),
    never(
      "main-is-the-top",
      "Nothing in the server imports main.ts.",
      { path: "^(server|host-kit|graph-host)/", pathNot: TESTS },
      { path: "^server/src/main\\.ts$" },
    ),
    never(
      "routes-are-mounted-only",
      "A slice's routes are imported by its space's root, never by a sibling.",
      { path: "^server/src/", pathNot: ["^server/src/[^/]+/index\\.ts$", TESTS] },
      { path: "^server/src/.+/routes\\.ts$" },
    ),
    never(
      "server-knows-the-host-kit-only",
      "What the server and the graph host share is in host-kit; the server writes the checkpoints of Python graphs, and encrypts stored ones again, with the graph host's code.",
      { path: "^server/", pathNot: TESTS },
      {
        path: "^graph-host/",
        pathNot: "^graph-host/src/checkpoints/(served-checkpoints|checkpoint-database|sealed-rows)\\.ts$",
      },
    ),
    never(
      "host-kit-is-beneath-both",
      "Server and graph host stand on host-kit.",
      { path: "^host-kit/", pathNot: TESTS },
      { path: "^(server|graph-host|cli|bench|conformance|scripts)/" },
    ),
    never(
      "host-knows-no-server",
      "A graph host runs beside the user's project and must not need the server.",
      { path: "^graph-host/", pathNot: TESTS },
      { path: "^(server|cli|bench|conformance|scripts)/" },
    ),
    never(
      "cli-starts-main",
      "The command line imports nothing of the server but its entries: main.ts starts one, admin works on its data.",
      { path: "^cli/", pathNot: TESTS },
      { path: "^(server|host-kit|graph-host|bench|conformance|scripts)/", pathNot: "^server/src/(main\\.ts$|admin/)" },
    ),
    never(
      "cli-loads-main-late",
      "The entry is imported dynamically, so that --help and mistakes do not load the server.",
      { path: "^cli/", pathNot: TESTS },
      { path: "^server/src/(main\\.ts$|admin/)", dynamic: false, dependencyTypesNot: ["type-only"] },
    ),
    never(
      "black-boxes-import-nothing-of-ours",
      "conformance and examples are strangers.",
      { path: "^(conformance|examples)/" },
      { path: "^(server|host-kit|graph-host|cli|bench|scripts)/" },
    ),
    never(
      "bench-is-a-client",
      "Benchmarks measure the server from outside.",
      { path: "^bench/", pathNot: TESTS },
      { path: "^(server|cli)/", pathNot: "^server/test/" },
    ),
    never(
      "production-imports-no-test",
      "Code that ships imports no test and no test factory.",
      { path: "^(server|host-kit|graph-host|cli)/", pathNot: TESTS },
      { path: ["^[^/]+/test/", "^test/", "\\.test\\.tsx?$"] },
    ),
    never(
      "index-at-a-space-root-only",
      "No barrels: index.ts exists only at a space's root.",
      {},
      {
        path: [
          "^(server|host-kit|graph-host|cli|conformance|bench|scripts|test)/index\\.tsx?$",
          "^(server|host-kit|graph-host|cli|conformance|bench|scripts|test)/.*/index\\.tsx?$",
        ],
        pathNot: "^server/src/[^/]+/index\\.ts$",
      },
    ),
    never(
      "no-re-exports",
      "A name has one home. (Packages may be re-exported: that is where a choice of library lives.)",
      { path: "^(server|host-kit|graph-host|cli|bench|scripts)/" },
      { dependencyTypes: ["export"], path: "^(server|host-kit|graph-host|cli|bench|scripts)/" },
    ),
    never(
      "undeclared-package",
      "Every package is in the package.json of the workspace that imports it. TypeScript's types are the repository's.",
      { path: "^(server|host-kit|graph-host|cli)/src/", pathNot: TESTS },
      { dependencyTypes: ["npm-no-pkg", "npm-unknown"], pathNot: "^node_modules/typescript/" },
    ),
    never(
      "ships-with-a-dev-package",
      "Code that ships imports no devDependency. LangGraph itself is the user's and reaches the host from the project.",
      { path: "^(server|cli|host-kit|graph-host)/src/", pathNot: TESTS },
      {
        dependencyTypes: ["npm-dev"],
        dependencyTypesNot: ["type-only"],
        pathNot: "node_modules/(@langchain/|langsmith|@types/)",
      },
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist[.0-9]*|\\.heddle|\\.langgraph_api)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".tsx", ".js", ".mjs", ".cjs", ".json"],
    },
  },
};
