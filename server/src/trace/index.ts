import type { AuditSink } from "../base/auth/principal.ts";
import type { Route } from "../base/http/route.ts";
import { auditRoutes } from "../identity/audit/routes.ts";
import { identityRoutes } from "../identity/index.ts";
import { signInRoutes } from "../identity/sign-in/routes.ts";
import { agentMetricRoutes } from "./agent-metrics/routes.ts";
import { alertRoutes } from "./alerts/routes.ts";
import { budgetRoutes } from "./budgets/routes.ts";
import { annotationQueueItemRoutes } from "./annotation-queues/item-routes.ts";
import { queueItemRoutes } from "./annotation-queues/queue-item-routes.ts";
import { annotationReviewRoutes } from "./annotation-queues/review-routes.ts";
import { annotationQueueRoutes } from "./annotation-queues/routes.ts";
import { attachmentRoutes } from "./attachments/routes.ts";
import { destinationRoutes } from "./export-destinations/routes.ts";
import { bulkExportRoutes } from "./bulk-exports/routes.ts";
import { datasetGrowthRoutes } from "./dataset-growth/routes.ts";
import { datasetCloneRoutes } from "./dataset-transfers/clone-routes.ts";
import { datasetTransferRoutes } from "./dataset-transfers/routes.ts";
import { datasetRoutes } from "./datasets/routes.ts";
import { datasetVersionRoutes } from "./datasets/version-routes.ts";
import { changeRoutes } from "./dashboards/change-routes.ts";
import { organizationScope, workspaceScope } from "./dashboards/chart-scopes.ts";
import { prebuiltRoutes } from "./dashboards/prebuilt-routes.ts";
import { chartRoutes } from "./dashboards/routes.ts";
import type { TraceDeps } from "./deps.ts";
import { exampleFromRunRoutes } from "./examples/from-run-routes.ts";
import { exampleRoutes } from "./examples/routes.ts";
import { splitRoutes } from "./examples/split-routes.ts";
import { exampleUploadRoutes } from "./examples/upload-routes.ts";
import { comparativeRoutes } from "./experiments/comparative-routes.ts";
import { erasureRoutes } from "./erasures/routes.ts";
import { evaluatorAlignmentRoutes } from "./evaluators/alignment-routes.ts";
import { experimentEvaluationRoutes } from "./evaluators/experiment-routes.ts";
import { evaluatorLibraryRoutes } from "./evaluators/library-routes.ts";
import { experimentRunRoutes } from "./experiment-runs/routes.ts";
import { compareRoutes } from "./experiments/compare-routes.ts";
import { evaluatorRoutes } from "./evaluators/routes.ts";
import { deltaRoutes } from "./experiments/delta-routes.ts";
import { groupRoutes } from "./experiments/group-routes.ts";
import { uploadExperimentRoutes } from "./experiments/upload-routes.ts";
import { viewOverrideRoutes } from "./experiments/view-override-routes.ts";
import { experimentRoutes } from "./experiments/routes.ts";
import { feedbackConfigRoutes } from "./feedback-configs/routes.ts";
import { feedbackFormulaRoutes } from "./feedback-configs/formula-routes.ts";
import { feedbackRoutes } from "./feedback/routes.ts";
import { feedbackTokenRoutes } from "./feedback-tokens/routes.ts";
import { insightConfigRoutes } from "./insights/config-routes.ts";
import { insightRoutes } from "./insights/routes.ts";
import { ingestRoutes } from "./ingest/routes.ts";
import { legalHoldRoutes } from "./legal-holds/routes.ts";
import { mcpRoutes } from "./mcp/routes.ts";
import type { OwnApp } from "./mcp/platform-api.ts";
import { modelBudgetRoutes } from "./models/budget-routes.ts";
import { modelRoutes } from "./models/routes.ts";
import { otelRoutes } from "./otel/routes.ts";
import { pairwiseJudgeRoutes } from "./pairwise/judge-routes.ts";
import { pairwiseRoutes } from "./pairwise/routes.ts";
import { playgroundExperimentRoutes } from "./playground/experiment-routes.ts";
import { playgroundRoutes } from "./playground/routes.ts";
import { playgroundSettingsRoutes } from "./playground-settings/routes.ts";
import { priceRoutes } from "./prices/routes.ts";
import { projectRoutes } from "./projects/routes.ts";
import { promptCommitRoutes } from "./prompt-commits/routes.ts";
import { promptStatisticsRoutes } from "./prompt-statistics/routes.ts";
import { promptDirectoryRoutes } from "./prompt-directories/routes.ts";
import { promptEnvironmentRoutes } from "./prompt-environments/routes.ts";
import { promptTagRoutes } from "./prompt-tags/routes.ts";
import { promptWebhookRoutes } from "./prompt-webhooks/routes.ts";
import { promptRoutes } from "./prompts/routes.ts";
import { rateLimitRoutes } from "./rate-limits/routes.ts";
import { maskingRoutes } from "./masking/routes.ts";
import { ruleActionRoutes } from "./rule-actions/routes.ts";
import { ruleRoutes } from "./rules/routes.ts";
import { runDeleteRoutes } from "./erasures/run-routes.ts";
import { runQueryRoutes } from "./runs/query-routes.ts";
import { runV2Routes } from "./runs/v2-routes.ts";
import { searchRoutes } from "./search/routes.ts";
import { experimentShareRoutes } from "./sharing/experiment-routes.ts";
import { datasetShareRoutes } from "./sharing/dataset-routes.ts";
import { publicRunRoutes } from "./sharing/public-routes.ts";
import { sharingRoutes } from "./sharing/routes.ts";
import { guideRoutes } from "./system/guide-routes.ts";
import { systemRoutes } from "./system/routes.ts";
import { workspaceSettingsRoutes } from "./system/settings-routes.ts";
import { oauthRoutes } from "../identity/oauth/routes.ts";
import { MCP_PATH } from "./mcp/paths.ts";
import { threadRoutes } from "./threads/routes.ts";
import { resourceTagRoutes } from "./resource-tags/routes.ts";
import { viewRoutes } from "./views/routes.ts";
import { workspaceSecretRoutes } from "./workspace-secrets/routes.ts";

/** All endpoints of the trace platform. The system routes come last: their document describes the others. */
export function traceRoutes(deps: TraceDeps, audit: AuditSink, app: OwnApp = {}): Route[] {
  const routes: Route[] = [
    ...ingestRoutes(deps),
    ...otelRoutes(deps),
    ...priceRoutes(deps),
    // before /runs/:run_id, which would match "rules" as an id
    ...oauthRoutes({
      sql: deps.sql,
      outbound: deps.outbound,
      publicUrl: deps.settings.publicUrl,
      consoleUrl: deps.settings.consoleUrl,
      path: MCP_PATH,
    }),
    ...maskingRoutes(deps),
    ...ruleActionRoutes(deps),
    ...ruleRoutes(deps),
    ...runQueryRoutes(deps),
    ...threadRoutes(deps),
    ...runV2Routes(deps),
    ...runDeleteRoutes(deps),
    ...erasureRoutes(deps),
    ...legalHoldRoutes(deps),
    ...sharingRoutes(deps),
    ...publicRunRoutes(deps),
    // before /insights/:job_id, which would match "configs" and "estimate" as ids
    ...insightConfigRoutes(deps),
    ...insightRoutes(deps),
    // before /charts/:chart_id, which would match "changes" as an id
    ...changeRoutes(deps),
    ...agentMetricRoutes(deps),
    // before /charts/section/:section_id, which would match "clone" as an id
    ...prebuiltRoutes(deps),
    ...chartRoutes(deps, workspaceScope(deps)),
    ...chartRoutes(deps, organizationScope(deps)),
    ...alertRoutes(deps),
    ...budgetRoutes(deps),
    ...viewRoutes(deps),
    ...resourceTagRoutes(deps),
    ...searchRoutes(deps),
    ...projectRoutes(deps),
    ...attachmentRoutes(deps),
    // before /feedback/:feedback_id, which would match "tokens" and "formulas" as ids
    ...feedbackTokenRoutes(deps),
    ...feedbackFormulaRoutes(),
    ...feedbackRoutes(deps),
    ...feedbackConfigRoutes(deps),
    // before /datasets/:dataset_id/…, which would match "playground_experiment" as an id
    ...playgroundExperimentRoutes(deps),
    ...datasetGrowthRoutes(deps),
    ...datasetTransferRoutes(deps),
    ...datasetCloneRoutes(deps),
    ...comparativeRoutes(deps),
    ...pairwiseRoutes(deps),
    ...pairwiseJudgeRoutes(deps),
    ...uploadExperimentRoutes(deps),
    ...datasetRoutes(deps),
    ...datasetVersionRoutes(deps),
    ...splitRoutes(deps),
    ...datasetShareRoutes(deps),
    ...experimentShareRoutes(deps),
    ...experimentRoutes(deps),
    ...experimentRunRoutes(deps),
    ...compareRoutes(deps),
    ...deltaRoutes(deps),
    ...groupRoutes(deps),
    ...viewOverrideRoutes(deps),
    ...exampleUploadRoutes(deps),
    ...exampleFromRunRoutes(deps),
    ...exampleRoutes(deps),
    ...queueItemRoutes(deps),
    ...annotationQueueItemRoutes(deps),
    ...annotationReviewRoutes(deps),
    ...annotationQueueRoutes(deps),
    ...destinationRoutes(deps),
    ...bulkExportRoutes(deps),
    ...promptStatisticsRoutes(deps),
    ...promptWebhookRoutes(deps),
    ...promptTagRoutes(deps),
    ...promptRoutes(deps),
    ...promptCommitRoutes(deps),
    ...promptEnvironmentRoutes(deps),
    ...promptDirectoryRoutes(deps),
    ...workspaceSecretRoutes(deps),
    ...playgroundSettingsRoutes(deps),
    // before /evaluators/:evaluator_id, which would match "library" as an id
    ...evaluatorLibraryRoutes(deps),
    ...evaluatorAlignmentRoutes(deps),
    ...experimentEvaluationRoutes(deps),
    ...evaluatorRoutes(deps),
    ...modelBudgetRoutes(deps),
    ...modelRoutes(deps),
    ...playgroundRoutes(deps),
    ...workspaceSettingsRoutes(deps),
    ...rateLimitRoutes(deps),
    ...guideRoutes(),
    ...mcpRoutes(deps, app),
    ...identityRoutes(deps),
    ...auditRoutes(deps),
    ...signInRoutes({ ...deps.signIn, audit }),
  ];
  return [...routes, ...systemRoutes(deps, routes)];
}
