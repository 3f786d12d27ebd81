import { Readable } from "node:stream";

import { z } from "zod";

import { notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { boundedParse } from "../../base/http/bounded-parse.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { BODY_SETTING } from "../settings.ts";
import { createDataset } from "../datasets/create-dataset.ts";
import { csvLine } from "./csv.ts";
import { MAX_KEYS, readAllExamples, selectKeys } from "./sql.ts";
import { writtenExamples } from "../examples/schema.ts";
import { evalsLine, fineTuningLine } from "./fine-tuning.ts";
import { readParts } from "../examples/read-parts.ts";
import { type AsOf, resolveAsOf } from "../datasets/resolve-version.ts";
import { createBody, dataset, datasetParams } from "../datasets/schema.ts";
import { type DatasetRow, findDataset, findDatasetRow } from "../datasets/sql.ts";
import { readUpload } from "./read-upload.ts";
import { addExamples, createExamples } from "../examples/write-examples.ts";

const tag = "Datasets";
const params = datasetParams;
const downloadQuery = z.object({ as_of: z.string().min(1).optional() });

/** Routes for downloading and uploading whole datasets as files. */
export function datasetTransferRoutes({ sql, settings }: Pick<TraceDeps, "sql" | "settings">): Route[] {
  const limit = { maxBytes: settings.maxBodyBytes, setting: BODY_SETTING };
  const download = async (
    tenantId: string,
    id: string,
    tagOrTime: string | undefined,
    type: string,
    extension: string,
    lines: (tenantId: string, dataset: DatasetRow, asOf: AsOf) => AsyncGenerator<string>,
  ): Promise<Response> => {
    const found = await findDatasetRow(sql, tenantId, id);
    if (!found) throw notFound("Dataset not found");
    const asOf = await resolveAsOf(sql, tenantId, id, tagOrTime);
    const name = encodeURIComponent(`${found.name}.${extension}`);
    // the first line is generated before the response begins, so that immediate failures get an error status
    const all = lines(tenantId, found, asOf);
    const first = await all.next();
    const body = Readable.toWeb(Readable.from(chunks(first, all), { objectMode: false }));
    return new Response(body as ReadableStream, {
      headers: { "Content-Type": type, "Content-Disposition": `attachment; filename*=UTF-8''${name}` },
    });
  };

  async function* asCsv(tenantId: string, { dataset_id: id }: DatasetRow, asOf: AsOf): AsyncGenerator<string> {
    const { inputs, outputs } = await selectKeys(sql, tenantId, id, asOf);
    if (Math.max(inputs.length, outputs.length) > MAX_KEYS) {
      throw unprocessable(`The inputs or outputs have more than ${MAX_KEYS} keys. Export JSON Lines instead.`);
    }
    const header = [...inputs.map((key) => `inputs.${key}`), ...outputs.map((key) => `outputs.${key}`)];
    yield csvLine(["id", ...header, "metadata"]);
    for await (const example of readAllExamples(sql, tenantId, id, asOf)) {
      const values = [...inputs.map((key) => example.inputs[key]), ...outputs.map((key) => example.outputs?.[key])];
      yield csvLine([example.id, ...values, example.metadata]);
    }
  }
  async function* asJsonLines(tenantId: string, { dataset_id: id }: DatasetRow, asOf: AsOf): AsyncGenerator<string> {
    for await (const example of readAllExamples(sql, tenantId, id, asOf)) yield `${JSON.stringify(example)}\n`;
  }
  async function* asFineTuning(tenantId: string, { dataset_id: id }: DatasetRow, asOf: AsOf): AsyncGenerator<string> {
    for await (const example of readAllExamples(sql, tenantId, id, asOf)) yield fineTuningLine(example);
  }
  async function* asEvals(tenantId: string, { dataset_id: id }: DatasetRow, asOf: AsOf): AsyncGenerator<string> {
    for await (const example of readAllExamples(sql, tenantId, id, asOf)) yield evalsLine(example);
  }

  return [
    route({
      tag,
      method: "POST",
      ...v1("/datasets/upload"),
      permission: "datasets:create",
      summary: "Create a dataset from a CSV or JSON Lines file",
      out: { 200: dataset },
      errors: [400, 409, 413, 415, 422],
      async handler({ principal, c }) {
        const tenantId = principal.workspaceId;
        const { examples, ...table } = await readUpload(await readParts(c), limit);
        const parsed = boundedParse(createBody, table);
        if (!parsed.success) throw unprocessable("name: the form or the file must name the dataset");
        const id = (await sql.begin(async (tx) => {
          const created = await createDataset(tx, tenantId, parsed.data);
          if (examples.length > 0) await addExamples(tx, tenantId, created, examples);
          return created;
        })) as string;
        return rawJson((await findDataset(sql, tenantId, id))!);
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/examples/upload/:dataset_id"),
      permission: "datasets:create",
      summary: "Add the rows of a CSV or JSON Lines file to a dataset",
      params,
      out: { 200: writtenExamples },
      errors: [400, 413, 415],
      async handler({ params: { dataset_id: id }, principal, c }) {
        const tenantId = principal.workspaceId;
        if (!(await findDatasetRow(sql, tenantId, id))) throw notFound("Dataset not found");
        const { examples } = await readUpload(await readParts(c), limit);
        if (examples.length === 0) throw unprocessable("file: contains no rows");
        return c.json(await createExamples(sql, tenantId, id, examples));
      },
    }),
    route({
      tag,
      params,
      method: "GET",
      ...v1("/datasets/:dataset_id/csv"),
      permission: "datasets:read",
      summary: "Download a dataset as CSV, with one column per key of inputs and outputs, without attachments",
      query: downloadQuery,
      out: { 200: "text/csv" },
      handler: ({ params: { dataset_id: id }, query, principal }) =>
        download(principal.workspaceId, id, query.as_of, "text/csv; charset=UTF-8", "csv", asCsv),
    }),
    route({
      tag,
      params,
      method: "GET",
      ...v1("/datasets/:dataset_id/jsonl"),
      permission: "datasets:read",
      summary: "Download a dataset as JSON Lines, without attachments",
      query: downloadQuery,
      out: { 200: "application/jsonl" },
      handler: ({ params: { dataset_id: id }, query, principal }) =>
        download(principal.workspaceId, id, query.as_of, "application/jsonl", "jsonl", asJsonLines),
    }),
    route({
      tag,
      params,
      method: "GET",
      ...v1("/datasets/:dataset_id/openai"),
      permission: "datasets:read",
      summary: "Download a dataset in OpenAI's Evals format",
      query: downloadQuery,
      out: { 200: "application/jsonl" },
      handler: ({ params: { dataset_id: id }, query, principal }) =>
        download(principal.workspaceId, id, query.as_of, "application/jsonl", "jsonl", asEvals),
    }),
    route({
      tag,
      params,
      method: "GET",
      ...v1("/datasets/:dataset_id/openai_ft"),
      permission: "datasets:read",
      summary: "Download a dataset of chat messages in OpenAI's fine-tuning format",
      query: downloadQuery,
      out: { 200: "application/jsonl" },
      handler: ({ params: { dataset_id: id }, query, principal }) =>
        download(principal.workspaceId, id, query.as_of, "application/jsonl", "jsonl", asFineTuning),
    }),
  ];
}

/** Groups lines into larger chunks: one write per line costs more than the line. */
async function* chunks(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  let text = first.done ? "" : first.value;
  for await (const line of rest) {
    text += line;
    if (text.length < 64 * 1024) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}
