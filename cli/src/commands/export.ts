import { isUuid } from "../core/uuid.ts";
import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { formatTable } from "../core/table.ts";
import { type ExportOnWire, resolveProject, TraceApi, watch } from "../core/trace-api.ts";
import { TRACE_FLAGS } from "../core/trace-flags.ts";
import { nameOptions } from "./export-words.ts";
import { reportLeft, runCopy } from "./import/open-copy.ts";

export const summary = "Export agents and traces to files, or traces to a bucket as Parquet";

export const command = declareActions({
  noun: "export",
  actions: {
    destinations: { summary: "List the workspace's destinations. Create them in the console or over HTTP." },
    agents: {
      summary:
        "Export assistants, threads with their history, crons and store items of an agent server to files: heddle export agents --url URL --to DIRECTORY",
    },
    traces: {
      summary:
        "Export projects with runs and feedback, datasets with versions, prompts and prices of a trace platform to files: heddle export traces --to DIRECTORY",
    },
    create: {
      summary:
        "Export a window of a project's runs: heddle export create --destination ID --project ID --from TIME --to TIME",
    },
    list: { summary: "List the workspace's exports, newest first." },
    watch: {
      summary: "Wait for the end of an export. Exits with 1 unless it completes.",
      argument: { placeholder: "ID", what: "id of the export", flag: "id", isUuid: true, list: "heddle export list" },
    },
    cancel: {
      summary: "Cancel an export or a schedule.",
      argument: { placeholder: "ID", what: "id of the export", flag: "id", isUuid: true, list: "heddle export list" },
    },
    verify: {
      summary:
        "Recount an export in the bucket. Reads the platform's data directly, and exits with 1 if rows are missing, duplicated or changed.",
      argument: { placeholder: "ID", what: "id of the export", flag: "id", isUuid: true, list: "heddle export list" },
    },
  },
  flags: {
    ...TRACE_FLAGS,
    url: { ...TRACE_FLAGS.url, description: "URL of the trace platform, for agents of the agent server." },
    destination: { type: "text", placeholder: "ID", only: ["create"], description: "Destination, by id or name." },
    project: {
      type: "text",
      placeholder: "ID",
      only: ["create", "traces"],
      description: "Project whose runs are exported, by id or name; for traces by name, and all without it.",
    },
    from: {
      type: "text",
      placeholder: "TIME",
      only: ["create"],
      description: "Start of the time window, inclusive, ISO 8601.",
    },
    to: {
      type: "text",
      placeholder: "TIME",
      only: ["create", "agents", "traces"],
      description: "End of the time window, exclusive, ISO 8601; for agents and traces the directory to write.",
    },
    since: {
      type: "text",
      placeholder: "TIME",
      only: ["traces"],
      description: "Export only runs that started at this time or later, ISO 8601.",
    },
    "every-hours": {
      type: "integer",
      placeholder: "N",
      min: 1,
      max: 168,
      only: ["create"],
      description: "Export repeatedly at this interval; without --to.",
    },
    filter: {
      type: "text",
      placeholder: "EXPR",
      only: ["create"],
      description: "Export only runs that match this filter.",
    },
    fields: { type: "text", placeholder: "A,B", only: ["create"], description: "Export only these columns." },
    compression: {
      type: "text",
      placeholder: "NAME",
      only: ["create"],
      description: "Compression: none, gzip, snappy or zstd.",
    },
    "format-version": {
      type: "text",
      placeholder: "NAME",
      only: ["create"],
      description: "Format version: v1 or v2_beta.",
    },
    watch: { type: "switch", default: false, only: ["create"], description: "Wait for the end and show progress." },
    id: { type: "text", placeholder: "ID", only: ["watch", "cancel", "verify"], description: "Id of the export." },
    json: { type: "switch", default: false, description: "Print as JSON." },
    ...DATA_FLAGS,
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, argument, options } = readAction(command, args);
  const api = new TraceApi(options.url, options["api-key"]);
  const print = (value: unknown, text: string) =>
    process.stdout.write(options.json ? `${JSON.stringify(value)}\n` : `${text}\n`);
  if (action === "agents" || action === "traces") {
    if (options.to === undefined) throw new UsageError(`heddle export ${action} needs --to, a directory.`);
    const source = { place: options.url, key: options["api-key"] };
    const { left } = await runCopy(
      action,
      source,
      { place: options.to, key: undefined },
      {
        isDry: false,
        enableCrons: false,
        selection: { projects: options.project === undefined ? [] : [options.project], since: options.since },
        dataDirectory: options["data-dir"],
        state: undefined,
      },
    );
    reportLeft(left);
  } else if (action === "destinations") {
    const all = await destinations(api);
    if (options.json) return void print(all, "");
    const rows = all.map(({ id, display_name, config }) => [
      id,
      display_name,
      [config.bucket_name, config.prefix].filter(Boolean).join("/"),
      config.endpoint_url ?? config.region ?? "",
    ]);
    process.stdout.write(formatTable(["ID", "NAME", "BUCKET", "WHERE"], rows));
  } else if (action === "create") {
    const body = await buildBody(api, options);
    const created = await api.send<ExportOnWire>("POST", "/bulk-exports", body).catch((error: Error) => {
      throw new Error(nameOptions(error.message), { cause: error });
    });
    if (!options.watch) return void print(created, created.id);
    console.error(`Created export ${created.id}`);
    conclude(await watch(api, created.id));
  } else if (action === "watch") {
    conclude(await watch(api, argument));
  } else if (action === "list") {
    const all = await api.send<ExportOnWire[]>("GET", "/bulk-exports?limit=1000");
    if (options.json) return void print(all, "");
    const rows = all.map((row) => [
      row.id,
      row.status,
      `${row.progress.percent} %`,
      String(row.progress.rows_written),
      `${row.start_time.slice(0, 16)} – ${row.end_time?.slice(0, 16) ?? `every ${row.interval_hours} h`}`,
    ]);
    process.stdout.write(formatTable(["ID", "STATUS", "DONE", "ROWS", "WINDOW"], rows));
  } else if (action === "cancel") {
    const changed = await api.send<ExportOnWire>("PATCH", `/bulk-exports/${argument}`, {
      status: "Cancelled",
    });
    print(changed, `${changed.id} ${changed.status}`);
  } else {
    const { verify } = await import("../../../server/src/admin/export.ts");
    const onFile = (done: number, total: number) => {
      if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${total} files`);
    };
    const found = await verify(readDataLocation(options), process.env, argument, onFile);
    if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
    const lines = found.problems.map((problem) => `WRONG  ${problem}\n`).join("");
    const counted = `${found.rows} rows in ${found.files} files, ${found.bytes} bytes; the query had ${found.query_count}`;
    if (!found.listed)
      console.error(
        "The credentials may not list the bucket, so files that do not belong to the export are not detected.",
      );
    print(found, `${lines}${counted}${found.deleted_count > 0 ? `, ${found.deleted_count} deleted since` : ""}`);
    if (found.problems.length > 0) process.exitCode = 1;
  }

  function conclude(ended: ExportOnWire): void {
    print(ended, `${ended.id} ${ended.status}${ended.error === null ? "" : `: ${ended.error}`}`);
    if (ended.status.toUpperCase() !== "COMPLETED") process.exitCode = 1;
  }
}

interface ExportFlags {
  destination?: string | undefined;
  project?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  "every-hours"?: number | undefined;
  filter?: string | undefined;
  fields?: string | undefined;
  compression?: string | undefined;
  "format-version"?: string | undefined;
  watch: boolean;
}

async function buildBody(api: TraceApi, flags: ExportFlags): Promise<object> {
  const missing = (["destination", "project", "from"] as const).find((name) => flags[name] === undefined);
  if (missing) throw new UsageError(`heddle export create needs --${missing}.`);
  if (flags.watch && flags["every-hours"] !== undefined)
    throw new UsageError("A schedule has no end; --watch cannot be used with --every-hours.");
  const noEnd = flags.to === undefined && flags["every-hours"] === undefined;
  if (noEnd) throw new UsageError("heddle export create needs --to, or --every-hours for a schedule.");
  return {
    bulk_export_destination_id: await resolveDestination(api, flags.destination!),
    session_id: await resolveProject(api, flags.project!),
    start_time: flags.from,
    end_time: flags.to,
    interval_hours: flags["every-hours"],
    filter: flags.filter,
    export_fields: flags.fields?.split(",").map((name) => name.trim()),
    compression: flags.compression,
    format_version: flags["format-version"],
  };
}

interface DestinationOnWire {
  id: string;
  display_name: string;
  config: { bucket_name?: string | null; prefix?: string | null; endpoint_url?: string | null; region?: string | null };
}

const destinations = (api: TraceApi) => api.send<DestinationOnWire[]>("GET", "/bulk-exports/destinations?limit=1000");

async function resolveDestination(api: TraceApi, idOrName: string): Promise<string> {
  if (isUuid(idOrName)) return idOrName;
  const named = (await destinations(api)).filter(({ display_name }) => display_name === idOrName);
  if (named.length > 1)
    throw new Error(`Several destinations are named "${idOrName}": use one of the ids ${ids(named)}.`);
  if (named[0]) return named[0].id;
  throw new Error(`There is no destination "${idOrName}". To list them: heddle export destinations`);
}

const ids = (items: { id: string }[]) => items.map(({ id }) => id).join(", ");
