import type { RecordedBlobStore } from "../base/blob/recorded-blob-store.ts";
import type { ClickHouse } from "../base/clickhouse/clickhouse.ts";
import type { Sql } from "../base/db/connect.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Outbound } from "../base/outbound/outbound.ts";
import type { Secrets } from "../base/secrets/secrets.ts";
import type { ServerHealth } from "../base/server-health.ts";
import type { Telemetry } from "../base/telemetry/telemetry.ts";
import type { SignInDeps } from "../identity/sign-in/deps.ts";
import type { StepMemory } from "./run-facts/step-memory.ts";
import type { Exporter } from "./bulk-exports/exporter.ts";
import type { Deletions } from "./legal-holds/deletions.ts";
import type { LinkSigner } from "./attachments/sign-link.ts";
import type { AgentFigures } from "./alerts/agent-figures.ts";
import type { CodeRunner } from "./code-evaluators/code-runner.ts";
import type { FeedbackMirror } from "./feedback/feedback-mirror.ts";
import type { FeedbackWriter } from "./feedback/feedback-writer.ts";
import type { IngestGate } from "./ingest/ingest-gate.ts";
import type { RunWriter } from "./ingest/run-writer.ts";
import type { ModelMetrics } from "./models/model-metrics.ts";
import type { ModelPrices } from "./prices/model-prices.ts";
import type { ProjectDirectory } from "./projects/project-directory.ts";
import type { RateLimits } from "./rate-limits/rate-limits.ts";
import type { TraceMasking } from "./masking/trace-masking.ts";
import type { RuleCandidates } from "./rule-candidates/rule-candidates.ts";
import type { TraceSettings } from "./settings.ts";

/** Dependencies of the trace platform's slices, built once. */
export interface TraceDeps {
  sql: Sql;
  clickhouse: ClickHouse;
  log: Log;
  settings: TraceSettings;
  dataDir: string;
  metrics: Metrics;
  telemetry: Telemetry | undefined;
  health: ServerHealth;
  rateLimits: RateLimits;
  /** The only path for outbound requests. */
  outbound: Outbound;
  /** Values encrypted at rest. */
  secrets: Secrets;
  signIn: Omit<SignInDeps, "audit">;
  projects: ProjectDirectory;
  /** Rows of charts that cannot change (dashboards/settled-steps.ts). */
  stepMemory: StepMemory;
  feedback: FeedbackMirror;
  feedbackWriter: FeedbackWriter;
  prices: ModelPrices;
  /** Calls to models of the playground. */
  models: { metrics: ModelMetrics };
  /** Processes in which evaluators written in code run. */
  codeRunner: CodeRunner;
  writer: RunWriter;
  gate: IngestGate;
  /** Files of runs and examples. */
  blobs: RecordedBlobStore;
  links: LinkSigner;
  exporter: Exporter;
  /** All deletions of what a legal hold may cover. */
  deletions: Deletions;
  /** Worker that executes recorded erasures. */
  erasures: { wake(): void };
  /** Worker that judges existing experiments. */
  experimentEvaluator: { wake(): void };
  /** Worker that makes examples of corrected judgements. */
  corrections: { wake(): void };
  /** Worker that executes insights jobs. */
  insights: { wake(): void };
  /** Evaluators of pairs of experiments' runs. */
  pairwiseJudges: { wake(): void };
  /** Sender of webhooks on prompts. */
  promptWebhooks: { wake(): void };
  /** Records runs for the rules. */
  masking: TraceMasking;
  ruleCandidates: RuleCandidates;
  /** Evaluates rules on the runs that were recorded for them. */
  ruleMatcher: { wake(): void };
  /** Executes the actions of matches. */
  ruleActor: { wake(): void };
  /** Executes back-fills of rules. */
  ruleBackfills: { wake(): void };
  /** Absent where no agent server shares the database. */
  agentFigures: AgentFigures | undefined;
  /** Evaluates alert rules. */
  alertEvaluator: { wake(): void };
  /** Sender of the messages of alerts. */
  alertMessages: { wake(): void };
  /** Sender of the webhooks and alerts of rules. */
  ruleMessages: { wake(): void };
  /** Executes experiments. */
  experimentRuns: { wake(): void };
}
