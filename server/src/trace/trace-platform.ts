/**
 * Lifecycle of the trace platform: opens the databases, builds the dependencies of its slices, and closes them again.
 */
import { join } from "node:path";

import { openBlobs, type OpenedBlobs } from "../base/blob/open-blobs.ts";
import type { ClickHouse } from "../base/clickhouse/clickhouse.ts";
import { migrateClickHouse } from "../base/clickhouse/migrate.ts";
import { openClickHouse } from "../base/clickhouse/open-clickhouse.ts";
import { QueryLimiter } from "../base/clickhouse/query-limiter.ts";
import { connect, type DatabaseAddress } from "../base/db/connect.ts";
import { migrateDatabase } from "../base/db/migrate.ts";
import { createFaultPoint } from "../base/fault-point.ts";
import type { Log } from "../base/log.ts";
import { createMetrics } from "../base/metrics.ts";
import { createOutbound } from "../base/outbound/outbound.ts";
import { readPolicy } from "../base/outbound/policy.ts";
import { openSecrets, type Secrets, type SecretsOptions } from "../base/secrets/secrets.ts";
import { startTelemetry } from "../base/telemetry/telemetry.ts";
import { isLoopback, resolveExposure } from "../identity/exposure.ts";
import type { IdentitySettings } from "../identity/settings.ts";
import { startSignIn } from "../identity/sign-in/sign-in-service.ts";
import type { AgentFigures } from "./alerts/agent-figures.ts";
import { AlertEvaluator } from "./alerts/alert-evaluator.ts";
import { createAlertMessages } from "./alerts/alert-messages.ts";
import { evaluateBudget } from "./budgets/evaluate-budget.ts";
import { TraceCopier } from "./backups/trace-copier.ts";
import { FactBuilder } from "./dashboards/fact-builder.ts";
import { measureCopies } from "./dashboards/measure-copies.ts";
import { DestinationTester } from "./export-destinations/worker-test.ts";
import { measureExports } from "./bulk-exports/export-metrics.ts";
import { Exporter, type ExporterOptions } from "./bulk-exports/exporter.ts";
import { CodeRunner } from "./code-evaluators/code-runner.ts";
import type { TraceDeps } from "./deps.ts";
import { ErasureWorker } from "./erasures/erasure-worker.ts";
import { CorrectionCollector } from "./evaluators/correction-collector.ts";
import { ExperimentEvaluator } from "./evaluators/experiment-evaluator.ts";
import { ExperimentRunner } from "./experiment-runs/experiment-runner.ts";
import { FeedbackMirror } from "./feedback/feedback-mirror.ts";
import { FeedbackWriter } from "./feedback/feedback-writer.ts";
import { measureWaitingPieces } from "./ingest/measure-waiting-pieces.ts";
import { startIngest } from "./ingest/start-ingest.ts";
import { Deletions } from "./legal-holds/deletions.ts";
import { InsightWorker } from "./insights/insight-worker.ts";
import { measureModels } from "./models/model-metrics.ts";
import { PairwiseJudges } from "./pairwise/pairwise-judges.ts";
import { StepMemory } from "./run-facts/step-memory.ts";
import { ProjectDirectory } from "./projects/project-directory.ts";
import { createPromptWebhooks } from "./prompt-webhooks/prompt-webhooks.ts";
import { measureRateLimits } from "./rate-limits/measure-rate-limits.ts";
import { RateLimits } from "./rate-limits/rate-limits.ts";
import { RetentionSweep } from "./retention/retention-sweep.ts";
import { Backfiller } from "./rule-actions/backfiller.ts";
import { RuleActor } from "./rule-actions/rule-actor.ts";
import { createRuleMessages } from "./rule-actions/rule-messages.ts";
import { TraceMasking } from "./masking/trace-masking.ts";
import { RuleCandidates } from "./rule-candidates/rule-candidates.ts";
import { measureRules } from "./rules/measure-rules.ts";
import { RuleMatcher } from "./rules/rule-matcher.ts";
import type { TraceSettings } from "./settings.ts";
import { traceHealth } from "./system/health.ts";

export interface TracePlatformOptions {
  settings: TraceSettings & IdentitySettings & SecretsOptions["settings"];
  log: Log;
  database: DatabaseAddress;
  dataDir: string;
  /** Listen address; default loopback. Determines whether rate limits are on by default. */
  host?: string;
  /** An already open client, which stays open; by default the settings determine it. */
  clickhouse?: ClickHouse;
  /** Opens chDB, which takes 200 MB, when the first statement needs it. */
  opensOnUse?: boolean | undefined;
  /** Clock of scheduled exports and their timeouts. */
  now?: ExporterOptions["now"];
  /** Metrics of the agent servers on the same database. */
  agentFigures?: AgentFigures | undefined;
}

export interface TracePlatform {
  deps: TraceDeps;
  stop(): Promise<void>;
}

export async function startTracePlatform({
  settings,
  log,
  database,
  dataDir,
  host = "127.0.0.1",
  clickhouse: configured,
  opensOnUse = false,
  now,
  agentFigures,
}: TracePlatformOptions): Promise<TracePlatform> {
  const sql = connect(database, { max: settings.databasePool, name: "heddle trace" });
  let clickhouse = configured;
  let secrets: Secrets;
  let opened: OpenedBlobs | undefined;
  try {
    await migrateDatabase(database);
    opened = await openBlobs({ sql, log, dataDir, settings });
    secrets = await openSecrets({ sql, log, dataDir, settings });
    clickhouse ??= await openClickHouse({
      url: settings.clickhouseUrl,
      cluster: settings.clickhouseCluster,
      directory: join(dataDir, "chdb"),
      connections: settings.clickhouseConnections,
      maxMemory: settings.chdbMaxMemoryMb * 1024 * 1024,
      onWait: (message) => log.warn(message),
      ...(opensOnUse && { onFirstUse: (engine) => migrateClickHouse(engine, sql) }),
    });
    if (!clickhouse.isAsleep) await migrateClickHouse(clickhouse, sql);
    // one connection is reserved for writes, one for the lookups of ingest
    const atOnce = settings.traceQueries || Math.max(1, settings.clickhouseConnections - 2);
    clickhouse = clickhouse.withLimiter(new QueryLimiter({ seconds: settings.traceQuerySeconds, atOnce }));
  } catch (error) {
    if (!configured) await clickhouse?.close();
    await opened?.stop();
    await sql.end({ timeout: 1 });
    throw error;
  }
  const metrics = createMetrics();
  const telemetry = startTelemetry(settings, log, "trace");
  const isDevelopment = isLoopback(host) && settings.trustedProxies.length === 0;
  const rateLimits = await RateLimits.start({ settings, log, isDevelopment });
  measureRateLimits(rateLimits, metrics.registry);
  const outbound = createOutbound(readPolicy(settings.outboundAllow, !resolveExposure(settings, host).keysNeeded));
  const signIn = startSignIn({ sql, log, settings, outbound });
  const projects = new ProjectDirectory(sql);
  const { registry } = metrics;
  const { blobs } = opened;
  measureWaitingPieces(registry, { sql, log });
  const ruleCandidates = new RuleCandidates({ sql, clickhouse, registry });
  const ingest = await startIngest({ sql, clickhouse, log, projects, ruleCandidates, settings, registry });
  const masking = new TraceMasking({ sql, log, registry });
  const faultPoint = createFaultPoint(settings.exportFaultPoints);
  const exporter = new Exporter(
    {
      sql,
      clickhouse,
      log,
      settings,
      dataDir,
      secrets,
      outbound,
      projects,
      faultPoint,
      metrics: measureExports(registry, { sql, log }),
    },
    { ...(now && { now }) },
  );
  const deletions = new Deletions(sql);
  const erasures = new ErasureWorker({ ...ingest, sql, clickhouse, blobs, projects, log, deletions });
  const promptWebhooks = createPromptWebhooks({ sql, log, settings, outbound, secrets });
  const ruleMessages = createRuleMessages({
    sql,
    log,
    settings,
    outbound,
    secrets,
    fault: faultPoint,
    deps: (): TraceDeps => deps,
  });
  const alertMessages = createAlertMessages({ sql, log, settings, outbound, secrets, fault: faultPoint });
  const deps: TraceDeps = {
    ...ingest,
    blobs,
    sql,
    clickhouse,
    log,
    settings,
    dataDir,
    metrics,
    telemetry,
    health: traceHealth({ sql, clickhouse, log, settings, dataDir, blobs, writer: ingest.writer }),
    rateLimits,
    outbound,
    secrets,
    signIn: signIn.deps,
    projects,
    stepMemory: new StepMemory(),
    feedback: new FeedbackMirror({ sql, clickhouse, log, writer: ingest.writer, ruleCandidates }),
    feedbackWriter: new FeedbackWriter(sql, masking),
    exporter,
    deletions,
    erasures,
    promptWebhooks,
    corrections: { wake: () => corrections.wake() },
    experimentEvaluator: { wake: () => experimentEvaluator.wake() },
    experimentRuns: { wake: () => experiments.wake() },
    pairwiseJudges: { wake: () => pairwiseJudges.wake() },
    models: { metrics: measureModels(registry) },
    masking,
    ruleCandidates,
    ruleMessages,
    alertMessages,
    agentFigures,
    alertEvaluator: { wake: () => alertEvaluator.wake() },
    ruleActor: { wake: () => ruleActor.wake() },
    ruleBackfills: { wake: () => backfiller.wake() },
    ruleMatcher: { wake: () => ruleMatcher.wake() },
    codeRunner: new CodeRunner(settings, outbound),
    insights: { wake: () => insights.wake() },
  };
  measureRules(registry, { sql, log });
  measureCopies(registry, { sql, log });
  const alertEvaluator: AlertEvaluator = new AlertEvaluator(deps, faultPoint, evaluateBudget);
  const ruleActor: RuleActor = new RuleActor(deps, faultPoint);
  const backfiller: Backfiller = new Backfiller(deps, faultPoint);
  const ruleMatcher: RuleMatcher = new RuleMatcher(deps, { database, registry });
  const experiments: ExperimentRunner = new ExperimentRunner(deps);
  const experimentEvaluator: ExperimentEvaluator = new ExperimentEvaluator(deps);
  const corrections: CorrectionCollector = new CorrectionCollector(deps);
  const pairwiseJudges: PairwiseJudges = new PairwiseJudges(deps);
  const insights: InsightWorker = new InsightWorker(deps, { concurrency: settings.insightConcurrency });
  deps.feedback.start();
  masking.start();
  const destinationTester = new DestinationTester(deps);
  // only processes that export run destination tests
  if (settings.exportConcurrency > 0) await destinationTester.start();
  exporter.start();
  const retention = new RetentionSweep(deps);
  retention.start();
  erasures.start();
  promptWebhooks.start();
  ruleMatcher.start();
  ruleActor.start();
  backfiller.start();
  ruleMessages.start();
  corrections.start();
  alertEvaluator.start();
  alertMessages.start();
  experimentEvaluator.start();
  experiments.start();
  insights.start();
  pairwiseJudges.start();
  const factBuilder = new FactBuilder(deps);
  if (settings.runCopies) factBuilder.start();
  const copier = new TraceCopier({ sql, clickhouse, log, directory: join(dataDir, "chdb") });
  copier.start();
  deps.health.start();
  return {
    deps,
    async stop() {
      await deps.health.stop();
      await telemetry?.stop();
      await experiments.stop();
      await exporter.stop();
      await retention.stop();
      await erasures.stop();
      await promptWebhooks.stop();
      await backfiller.stop();
      await ruleMatcher.stop();
      await ruleActor.stop();
      await ruleMessages.stop();
      await corrections.stop();
      await alertEvaluator.stop();
      await alertMessages.stop();
      await experimentEvaluator.stop();
      await pairwiseJudges.stop();
      await deps.codeRunner.stop();
      await insights.stop();
      await factBuilder.stop();
      await copier.stop();
      await deps.feedback.stop();
      await ingest.writer.stop();
      await masking.stop();
      await rateLimits.stop();
      await signIn.stop();
      await destinationTester.stop();
      await outbound.close();
      await opened.stop();
      if (!configured) await clickhouse.close();
      await sql.end({ timeout: 2 });
    },
  };
}
