import { join } from "node:path";

import { startMlflow } from "../servers.ts";
import { type PythonPackage } from "./python-package.ts";
import { PeerClient, type Side, type Way, type Wanted } from "./side.ts";
import { PROJECT } from "./spans.ts";

const API = "/api/3.0/mlflow/traces";
const PERCENTILES = [50, 99].map((percentile_value) => ({ aggregation_type: "PERCENTILE", percentile_value }));

/** Starts MLflow's server on its data in the directory, with an experiment if they are new. */
export async function startMlflowSide(directory: string, name: string, installed: PythonPackage): Promise<Side> {
  const data = join(directory, `data-${name}`);
  const server = await startMlflow(directory, name, installed.environment, data);
  const client = new PeerClient(server.url);
  const found = await client
    .ask<{ experiment: { experiment_id: string } }>(
      `/api/2.0/mlflow/experiments/get-by-name?experiment_name=${PROJECT}`,
    )
    .catch(() => undefined);
  const experiment =
    found?.experiment.experiment_id ??
    (await client.ask<{ experiment_id: string }>("/api/2.0/mlflow/experiments/create", { name: PROJECT }))
      .experiment_id;
  const locations = [{ type: "MLFLOW_EXPERIMENT", mlflow_experiment: { experiment_id: experiment } }];
  const search = (filter: (wanted: Wanted) => string | undefined): Way => ({
    requests: (wanted) => [
      {
        path: `${API}/search`,
        body: { locations, filter: filter(wanted), max_results: 100, order_by: ["timestamp_ms DESC"] },
      },
    ],
    read: ([answer]) => ({
      traces: ((answer as { traces?: { trace_id: string }[] }).traces ?? []).map(({ trace_id }) => otelId(trace_id)),
    }),
  });
  const metric = (view_type: string, metric_name: string, aggregations: object[], start_time_ms?: number) => ({
    path: `${API}/metrics`,
    body: { experiment_ids: [experiment], view_type, metric_name, aggregations, start_time_ms },
  });
  const totals = (since: (wanted: Wanted) => number | undefined): Way => ({
    note: "MLflow's totals are three requests at the same time.",
    requests: (wanted) => [
      metric("TRACES", "trace_count", [{ aggregation_type: "COUNT" }], since(wanted)),
      metric("TRACES", "latency", PERCENTILES, since(wanted)),
      metric("TRACES", "total_tokens", [{ aggregation_type: "SUM" }], since(wanted)),
    ],
    read: ([count, latency, tokens]) => ({
      totals: {
        traces: valueOf(count, "COUNT")!,
        tokens: valueOf(tokens, "SUM")!,
        p50: valueOf(latency, "P50")!,
        p99: valueOf(latency, "P99")!,
      },
    }),
  });
  const whole: Way = {
    requests: ({ span }) => [{ path: `${API}/get?trace_id=tr-${span.traceId}` }],
    read: ([answer]) => ({ spans: (answer as { trace: { spans: SpanOfTrace[] } }).trace.spans.map(spanIdOf) }),
  };
  const word = search(({ word: text }) => `trace.text LIKE '%${text}%'`);
  return {
    name: "MLflow",
    version: installed.version,
    server,
    client,
    data,
    otlp: { path: "/v1/traces", headers: { "x-mlflow-experiment-id": experiment } },
    async stored() {
      const { path, body } = metric("SPANS", "span_count", [{ aggregation_type: "COUNT" }]);
      return valueOf(await client.ask(path, body), "COUNT") ?? 0;
    },
    ways: {
      run: [
        {
          note: "MLflow has no request for a single span: its trace is asked for.",
          requests: whole.requests,
          read: (answers, { span }) => ({
            spans: whole.read(answers, {} as Wanted).spans!.filter((id) => id === span.id),
          }),
        },
      ],
      trace: [whole],
      roots: [search(() => undefined)],
      errors: [search(() => "span.status = 'ERROR'")],
      totals: [totals(() => undefined)],
      since: [totals(({ since }) => since)],
      attribute: [search(({ region }) => `span.attributes.region LIKE '%${region}%'`)],
      common: [word],
      rare: [word],
      absent: [word],
    },
  };
}

interface SpanOfTrace {
  span_id: string;
}

const otelId = (id: string): string => id.replace(/^tr-/, "");

/** Ids of spans are bytes in base64 here. */
const spanIdOf = ({ span_id }: SpanOfTrace): string => Buffer.from(span_id, "base64").toString("hex");

function valueOf(answer: unknown, aggregation: string): number | undefined {
  const { data_points: points } = answer as { data_points?: { values?: Record<string, number> }[] };
  return points?.[0]?.values?.[aggregation] ?? points?.[0]?.values?.[`${aggregation}.0`];
}
