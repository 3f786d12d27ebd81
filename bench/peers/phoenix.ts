import { join } from "node:path";

import { startPhoenix } from "../servers.ts";
import { type Found, PeerClient, type Side, type Way, type Wanted } from "./side.ts";
import { PROJECT } from "./spans.ts";
import { type PythonPackage } from "./python-package.ts";

interface GraphQl {
  data?: Record<string, unknown>;
  errors?: { message: string }[];
}
interface Edges {
  edges: { node: { spanId: string } }[];
}

const ROW = "spanId name statusCode startTime endTime input { value: truncatedValue } output { value: truncatedValue }";
const WHOLE =
  "spanId name spanKind statusCode statusMessage startTime endTime parentId latencyMs tokenCountTotal " +
  "input { value } output { value } attributes events { name message timestamp }";
const TABLE = `query ($id: ID!, $filter: String) { node(id: $id) { ... on Project {
  spans(first: 100, sort: {col: startTime, dir: desc}, filterCondition: $filter) {
    edges { node { ${ROW} TOKENS } } pageInfo { hasNextPage } } } } }`;

const TOTALS = `query ($id: ID!, $range: TimeRange) { node(id: $id) { ... on Project {
  traceCount(timeRange: $range) tokenCountTotal(timeRange: $range)
  p50: latencyMsQuantile(probability: 0.5, timeRange: $range)
  p99: latencyMsQuantile(probability: 0.99, timeRange: $range) } } }`;

/** Starts Phoenix on its data in the directory. */
export async function startPhoenixSide(directory: string, name: string, installed: PythonPackage): Promise<Side> {
  const data = join(directory, `data-${name}`);
  const server = await startPhoenix(directory, name, installed.environment, data);
  const client = new PeerClient(server.url);
  let projectId: string | undefined;
  const project = async (): Promise<string | undefined> => {
    const { data: projects } = await client.ask<{ data: { id: string; name: string }[] }>("/v1/projects");
    return (projectId ??= projects.find((known) => known.name === PROJECT)?.id);
  };
  await project();
  const graphql = (query: string, variables: object) => ({ path: "/graphql", body: { query, variables } });
  const table = (filter: (wanted: Wanted) => string, tokens = "tokenCountTotal"): Way => ({
    name: "GraphQL",
    requests: (wanted) => [graphql(TABLE.replace("TOKENS", tokens), { id: projectId, filter: filter(wanted) })],
    read: ([answer]) => ({ spans: spansOf((dataOf(answer)["node"] as { spans: Edges }).spans) }),
  });
  const rest = (query: (wanted: Wanted) => string): Way => ({
    name: "REST",
    requests: (wanted) => [{ path: `/v1/projects/${PROJECT}/spans?${query(wanted)}` }],
    read: ([answer]) => ({
      spans: (answer as { data: { context: { span_id: string } }[] }).data.map(({ context }) => context.span_id),
    }),
  });
  const totals = (since: (wanted: Wanted) => number | undefined): Way => ({
    requests: (wanted) => {
      const from = since(wanted);
      return [graphql(TOTALS, { id: projectId, range: from === undefined ? null : { start: new Date(from) } })];
    },
    read: ([answer]) => {
      const { traceCount, tokenCountTotal, p50, p99 } = dataOf(answer)["node"] as Record<string, number>;
      return { totals: { traces: traceCount!, tokens: tokenCountTotal!, p50: p50!, p99: p99! } };
    },
  });
  const newest = "limit=100&sort=start_time&order=desc";
  const word = table(({ word: text }) => `'${text}' in input.value or '${text}' in output.value`);
  return {
    name: "Phoenix",
    version: installed.version,
    server,
    client,
    data,
    otlp: { path: "/v1/traces", headers: {} },
    async stored() {
      const id = await project();
      if (id === undefined) return 0;
      const query = "query ($id: ID!) { node(id: $id) { ... on Project { recordCount } } }";
      const { path, body } = graphql(query, { id });
      const { node } = dataOf(await client.ask(path, body)) as { node: { recordCount: number } };
      return node.recordCount;
    },
    ways: {
      run: [
        {
          name: "GraphQL",
          requests: ({ span }) => [
            graphql(`query ($id: String!) { getSpanByOtelId(spanId: $id) { ${WHOLE} } }`, { id: span.id }),
          ],
          read: ([answer]) => ({ spans: [(dataOf(answer)["getSpanByOtelId"] as { spanId: string }).spanId] }),
        },
        rest(({ span }) => `span_id=${span.id}`),
      ],
      trace: [
        {
          name: "GraphQL",
          requests: ({ span }) => [
            graphql(
              `query ($id: ID!, $trace: ID!) { node(id: $id) { ... on Project { trace(traceId: $trace) {
                spans(first: 1000) { edges { node { ${WHOLE} } } } } } } }`,
              { id: projectId, trace: span.traceId },
            ),
          ],
          read: ([answer]) => ({
            spans: spansOf((dataOf(answer)["node"] as { trace: { spans: Edges } }).trace.spans),
          }),
        },
        rest(({ span }) => `trace_id=${span.traceId}&limit=1000`),
      ],
      roots: [
        table(() => "parent_id is None", "cumulativeTokenCountTotal"),
        { ...table(() => "parent_span is None", "cumulativeTokenCountTotal"), name: "GraphQL, parent_span" },
        rest(() => `${newest}&parent_id=null`),
      ],
      errors: [table(() => "status_code == 'ERROR'"), rest(() => `${newest}&status_code=ERROR`)],
      totals: [totals(() => undefined)],
      since: [totals(({ since }) => since)],
      attribute: [
        table(({ region }) => `attributes['region'] == '${region}'`),
        rest(({ region }) => `${newest}&attribute=region:${region}`),
      ],
      common: [word],
      rare: [word],
      absent: [word],
    },
  };
}

function dataOf(answer: unknown): Record<string, unknown> {
  const { data, errors } = answer as GraphQl;
  if (errors || !data) throw new Error(errors?.[0]?.message ?? "no data");
  return data;
}

const spansOf = ({ edges }: Edges): Found["spans"] => edges.map(({ node }) => node.spanId);
