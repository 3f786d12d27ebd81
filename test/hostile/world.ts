/**
 * What the generators know: the running servers, their documents, the caller's objects, and those of another tenant, whose
 * contents no answer may show and no request may change.
 */
import { execFile } from "node:child_process";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { createKey } from "../../server/src/identity/api-keys/create-key.ts";
import { BUILT_IN_ROLES } from "../../server/src/identity/roles/built-in.ts";
import type { Sql } from "../../server/src/base/db/connect.ts";
import { type Call, type Callable, createCaller } from "../../server/test/call.ts";
import { createArchive, createDeployment, deployArchive, graphProject, untilStatus } from "../../server/test/deploy.ts";
import { type GitServer, testGitServer } from "../../server/test/git-server.ts";
import { type TestWorkspace, testWorkspace } from "../../server/test/identity.ts";
import { testPerson } from "../../server/test/people.ts";
import { startTestS3, type TestS3 } from "../../server/test/s3.ts";
import { tableRows } from "../security/table-states.ts";
import { fillDeployments, fillTenant } from "../security/tenant-things.ts";
import { ArchiveReader } from "./archive-reader.ts";
import type { Schema, KnownIds } from "./from-schema.ts";
import type { Caller, Credentials } from "./http-input.ts";
import { HostileProvider } from "./hostile-provider.ts";
import { startIdleEngine } from "./idle-engine.ts";
import { Command, type CommandName, commandOf, makeDirectory, type ServerName } from "./servers.ts";

/** Marks of what tenants own: A is the caller, B the other one. And of a header that no answer may repeat. */
export const MARKS = {
  a: "of-tenant-A-alone",
  b: "of-tenant-B-alone",
  heddleHeader: "of-a-heddle-header",
  customRoute: "of-a-custom-route",
} as const;

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, ResponseObject> };
}

export interface Operation {
  parameters?: { name: string; in: "path" | "query" | "header"; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
  responses: Record<string, ResponseObject | { $ref: string }>;
}

export interface ResponseObject {
  content?: Record<string, { schema?: Schema }>;
}

/** Messages about requests that ended with an internal error, and errors that nothing has caught. */
const FAILURES =
  /"msg":"(?:request failed|a protocol command failed|a gRPC call failed|a request to a deployment failed)|uncaught|unhandled|heap out of memory/i;

/** Failures of a service that Heddle calls, which its answer and the log name. */
const OF_OTHERS = /"type":"OutboundError"/;

/** Tables whose rows complete in the background. */
const PROGRESSING = new Set(["erasures", "project_deletions"]);

interface Tenant {
  workspaceId: string;
  key: string;
}

export class World {
  readonly commands: Command[] = [];
  readonly documents: Partial<Record<ServerName, OpenApi>> = {};
  /** The caller's objects. */
  readonly ids: Record<ServerName, KnownIds> = {
    ...{ agent: {}, trace: {}, control: {}, console: {}, app: {}, python: {} },
  };
  /** The other tenant's objects. */
  readonly foreignIds: string[] = [];
  /** Links that show objects to everyone. */
  readonly publicTokens: string[] = [];
  /** Image registries of deployments, the caller's and the other tenant's. */
  registries = { own: { id: "", token: "" }, foreign: { id: "", token: "" } };
  /** A Git integration of the caller. */
  integration = { id: "", secret: "" };
  /** A listener of the caller, with ids of what it runs, and of what a listener of the other tenant runs. */
  listener = { id: "", credential: "", own: noTarget(), foreign: noTarget() };
  readonly provider = new HostileProvider();
  readonly #tenants = new Map<CommandName, { a: Tenant; b: Tenant }>();
  readonly #directory: ReturnType<typeof makeDirectory>;
  readonly #stores: TestS3[] = [];
  readonly archiveReader = new ArchiveReader();
  #backup: Promise<{ file: string; passphrase: string }> | undefined;
  readonly #deployments: string[] = [];
  #gitHost: Promise<ScriptedGitHost> | undefined;
  #engine: Server | undefined;
  #deployment: string | undefined;
  #before = new Map<CommandName, Map<string, string[]>>();

  private constructor() {
    this.#directory = makeDirectory();
  }

  get #engineSocket(): string {
    return join(this.#directory.path, "engine.sock");
  }

  /** Starts the commands that serve these servers, and fills them. */
  static async open(servers: readonly ServerName[], env: Record<string, string> = {}): Promise<World> {
    const world = new World();
    try {
      world.#engine = await startIdleEngine(world.#engineSocket);
      await world.provider.start();
      const environment = {
        HEDDLE_CONTAINER_ENGINE: `unix://${world.#engineSocket}`,
        HEDDLE_OIDC_ISSUER: world.provider.issuer,
        HEDDLE_OIDC_CLIENT_ID: world.provider.clientId,
        HEDDLE_OIDC_CLIENT_SECRET: "x",
        // never called by a browser; the same for all servers
        HEDDLE_PUBLIC_URL: "http://127.0.0.1:1",
        ...env,
      };
      for (const name of new Set(servers.map((server) => commandOf(server)))) {
        world.commands.push(new Command(name, world.#directory.path, environment));
      }
      await Promise.all(world.commands.map((command) => command.start()));
      await Promise.all(world.commands.map((command) => world.#fill(command)));
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.commands.map((command) => command.stop()));
    await Promise.all(this.#stores.map((store) => store.stop()));
    this.archiveReader.stop();
    await (await this.#gitHost)?.close();
    this.provider.stop();
    this.#engine?.closeAllConnections();
    this.#engine?.close();
    this.#directory.remove();
  }

  command(server: ServerName): Command {
    return this.commands.find((command) => command.ports[server] !== undefined)!;
  }

  port(server: ServerName): number {
    return this.command(server).ports[server]!;
  }

  get grpcPort(): number {
    return this.command("trace").grpcPort;
  }

  credentials(server: ServerName, caller: Caller): Credentials | undefined {
    const tenants = this.#tenants.get(this.command(server).name)!;
    if (caller === "nobody") return undefined;
    if (caller === "listener") return { key: this.listener.credential, workspaceId: tenants.a.workspaceId };
    return tenants[caller === "key" ? "a" : "b"];
  }

  /** Text that no answer to this caller may contain. */
  hiddenFrom(caller: Caller): string[] {
    const others =
      caller === "key" || caller === "listener"
        ? [MARKS.b]
        : caller === "nobody"
          ? [MARKS.a, MARKS.b, MARKS.customRoute]
          : [MARKS.a, MARKS.customRoute];
    return [...others, MARKS.heddleHeader];
  }

  /** Paths of the caller's deployment behind the gateway. */
  gatewayPaths(server: ServerName): string[] {
    if (server !== "control" || this.#deployment === undefined) return [];
    return [
      "",
      "/",
      "/ok",
      "/info",
      "/metrics",
      "/x/metrics",
      "/threads",
      "/threads/search",
      "/store/items",
      "/docs",
    ].map((path) => `/d/${this.#deployment}${path}`);
  }

  /** Whether everyone may read a path of the deployment: not its metrics, which are for the platform alone. */
  isPublicDeploymentPath(path: string): boolean {
    const found = /^\/d\/[^/]+(\/[^?#]*)?$/.exec(path);
    return (
      found !== null &&
      ["/", "", "/ok", "/info", "/docs", "/openapi.json", "/livez", "/ready", "/readyz"].includes(found[1] ?? "")
    );
  }

  /** Ids of the caller's and of the other tenant's objects. */
  allIds(server: ServerName): string[] {
    return [...new Set(Object.values(this.ids[server]).flat()), ...this.foreignIds];
  }

  /** Takes a deployment of source code for one caller at a time. */
  async takeDeployment(): Promise<string> {
    const free = this.#deployments.pop();
    if (free !== undefined) return free;
    const { key, workspaceId } = this.credentials("control", "key")!;
    const call = createCaller({
      request: (path, init) => fetch(`http://127.0.0.1:${this.port("control")}${path}`, init),
    });
    const owner: Call = (method, path, body) =>
      call(method, path, body, { "x-api-key": key, "x-tenant-id": workspaceId });
    return createDeployment(owner, `uploads-${crypto.randomUUID().slice(0, 8)}`);
  }

  returnDeployment(id: string): void {
    this.#deployments.push(id);
  }

  /** A backup of the platform, made once. */
  backup(): Promise<{ file: string; passphrase: string }> {
    return (this.#backup ??= this.#makeBackup());
  }

  async #makeBackup(): Promise<{ file: string; passphrase: string }> {
    const [file, passphrase] = [join(this.#directory.path, "archive.tar"), "a passphrase of the test"];
    const { dataDir } = this.command("control");
    const launcher = fileURLToPath(new URL("../../cli/bin/heddle.js", import.meta.url));
    const env = { ...process.env, HEDDLE_BACKUP_PASSPHRASE: passphrase };
    await promisify(execFile)(process.execPath, [launcher, "backup", file, "--data-dir", dataDir], { env });
    return { file, passphrase };
  }

  /** A Git host, some of whose repositories answer by a script. */
  gitHost(): Promise<ScriptedGitHost> {
    return (this.#gitHost ??= openGitHost());
  }

  /** Forgets the attempts to sign in, which are limited. */
  async forgetAttempts(): Promise<void> {
    await this.command("trace").sql`delete from sign_in_attempts`;
  }

  /** Failures that servers have logged as their own, one of each kind. */
  loggedFailures(): string[] {
    const lines = this.commands.flatMap((command) =>
      command
        .log()
        .split("\n")
        .filter((line) => FAILURES.test(line) && !OF_OTHERS.test(line)),
    );
    const kinds = new Map(lines.map((line) => [line.replaceAll(/[0-9a-f-]{6,}|\d+/g, "N").slice(0, 200), line]));
    return [...kinds.values()].map((line) => `a server has logged: ${line.slice(0, 1500)}`);
  }

  /** Rows of the other tenant that have changed since the start. */
  async changedRows(): Promise<string[]> {
    const changes = [...this.#before].map(async ([name, before]) => {
      const command = this.commands.find((each) => each.name === name)!;
      const after = await this.#foreignRows(command);
      const { workspaceId } = this.#tenants.get(name)!.b;
      return [...new Set([...before.keys(), ...after.keys()])].flatMap((table) => {
        if (PROGRESSING.has(table)) return [];
        const [old, now] = [new Set(before.get(table)), new Set(after.get(table))];
        const gone = [...old].filter((row) => !now.has(row));
        // the caller may write the ids of others into its own rows
        const added = [...now].filter((row) => !old.has(row) && row.includes(`_id": "${workspaceId}"`));
        return [...gone, ...added].map((row) => `${table}: ${row}`);
      });
    });
    return (await Promise.all(changes)).flat();
  }

  #foreignRows(command: Command): Promise<Map<string, string[]>> {
    const { a, b } = this.#tenants.get(command.name)!;
    return tableRows(command.sql, [...this.foreignIds, b.workspaceId], a.workspaceId);
  }

  async #fill(command: Command): Promise<void> {
    const [first] = await command.sql<{ id: string; organization_id: string }[]>`
      select id, organization_id from workspaces order by created_at limit 1`;
    const a = { workspaceId: first!.id, key: command.key };
    const other = await testWorkspace({ sql: command.sql } as never, "B");
    const b = { workspaceId: other.workspaceId, key: other.org };
    this.#tenants.set(command.name, { a, b });
    const here = { organizationId: first!.organization_id, workspaceId: first!.id } as TestWorkspace;
    if (command.name === "up")
      await testPerson({ sql: command.sql } as never, here, "anna", { workspace: "WORKSPACE_VIEWER" });
    for (const server of Object.keys(command.ports) as ServerName[]) {
      if (server === "console") continue;
      const url = `http://127.0.0.1:${command.ports[server]}`;
      this.documents[server] = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;
      const app: Callable = { request: (path, init) => fetch(url + path, init) };
      if (commandOf(server) === "app" || commandOf(server) === "python") continue;
      if (server === "agent") this.ids.agent = await fillAgent(app, toHeaders(a));
      else {
        const fill = async (tenant: Tenant, mark: string): Promise<Record<string, string[]>> =>
          server === "control"
            ? fillDeployments(app, toHeaders(tenant), mark)
            : fillTenant(app, toHeaders(tenant), tenant.workspaceId, { mark, s3: await this.#openStore() });
        const own = await fill(a, MARKS.a);
        this.publicTokens.push(...(own["share_token"] ?? []), ...(own["token"] ?? []));
        this.ids[server] = own;
        // without links that anyone may use who has them
        const links = new Set(["share_token", "token"]);
        const ids = Object.entries(await fill(b, MARKS.b)).filter(([name]) => !links.has(name));
        this.foreignIds.push(...ids.flatMap(([, each]) => each));
        if (server === "control") await this.#fillControl(app, a, b);
      }
    }
    // an agent server has one tenant, whose rows may name anything
    if (command.name === "up") this.#before.set(command.name, await this.#foreignRows(command));
  }

  async #fillControl(app: Callable, a: Tenant, b: Tenant): Promise<void> {
    const call = createCaller(app);
    const registry = async (tenant: Tenant, name: string) => {
      const body = { name, source: "internal_docker", source_config: {}, source_revision_config: {}, secrets: [] };
      const { json } = await call("POST", "/v2/deployments", body, toHeaders(tenant));
      const pushed = await call("POST", `/v2/deployments/${json.id}/push-token`, {}, toHeaders(tenant));
      return { id: String(json.id), token: String(pushed.json.token) };
    };
    this.registries = { own: await registry(a, "images-of-a"), foreign: await registry(b, "images-of-b") };
    const integration = { name: "webhooks", url: "https://git.invalid" };
    const { json } = await call("POST", "/v2/integrations/git", integration, toHeaders(a));
    this.integration = { id: String(json.id), secret: String(json.webhook_secret) };
    const own = await this.#fillListener(call, a, "a");
    const foreign = await this.#fillListener(call, b, "b");
    this.listener = { id: own.id, credential: own.credential, own: own.target, foreign: foreign.target };
    this.foreignIds.push(foreign.id, ...Object.values(foreign.target));
    // not the one that reports: other surfaces delete it, or change its credential
    const idle = { compute_type: "k8s", compute_id: "idle", compute_config: {} };
    const { json: unused } = await call("POST", "/v2/listeners", idle, toHeaders(a));
    this.ids.control = { ...this.ids.control, listener_id: [String(unused.id)] };
    const owner: Call = (method, path, body, headers) => call(method, path, body, { ...toHeaders(a), ...headers });
    const deployment = await createDeployment(owner, "hostile");
    const revision = await deployArchive(owner, deployment, createArchive(graphProject(MARKS.a)));
    await untilStatus(owner, deployment, revision, "DEPLOYED", 300_000);
    this.#deployment = "hostile";
  }

  /** Makes a listener with a deployment that it ran, as its reports and the control plane have recorded it. */
  async #fillListener(call: Call, tenant: Tenant, name: "a" | "b") {
    const headers = toHeaders(tenant);
    const body = { compute_type: "k8s", compute_id: `reports-${name}`, compute_config: {} };
    const { json } = await call("POST", "/v2/listeners", body, headers);
    const { id, credential } = json as { id: string; credential: string };
    const deployment = await createDeployment(
      (...args) => call(args[0], args[1], args[2], headers),
      `reported-${name}`,
    );
    const target = { deployment, revision: crypto.randomUUID(), pod: crypto.randomUUID() };
    const { sql } = this.command("control");
    await sql`insert into revisions (id, deployment_id, number, source, source_config, status, cluster)
      values (${target.revision}, ${deployment}, 1, 'internal_source', '{}', 'DEPLOYED', ${id})`;
    // not planned any more, so that it changes by reports only
    await sql`insert into cluster_targets (deployment_id, cluster, generation, fingerprint, state)
      values (${deployment}, ${id}, 5, 'x', 'removed')`;
    await sql`insert into instances (id, deployment_id, revision_id, replica, state, place, port, pod, pod_uid)
      values (gen_random_uuid(), ${deployment}, ${target.revision}, 0, 'ready', ${`cluster:${id}`}, 8000, ${MARKS[name]},
        ${target.pod})`;
    return { id, credential, target };
  }

  async #openStore(): Promise<TestS3> {
    const store = await startTestS3();
    this.#stores.push(store);
    return store;
  }
}

type Script = (request: IncomingMessage, response: ServerResponse) => boolean;

interface ScriptedGitHost extends Pick<GitServer, "create" | "close"> {
  /** Answers requests for a repository by `script`, where that returns true. */
  replace(name: string, script: Script | undefined): void;
}

async function openGitHost(): Promise<ScriptedGitHost> {
  const server = await testGitServer();
  const scripts = new Map<string, Script>();
  server.instead = (request, response) =>
    scripts.get(/^\/([^/.]+)\.git/.exec(request.url ?? "")?.[1] ?? "")?.(request, response) ?? false;
  return {
    create: (name) => server.create(name),
    close: () => server.close(),
    replace: (name, script) => void (script ? scripts.set(name, script) : scripts.delete(name)),
  };
}

const noTarget = () => ({ deployment: "", revision: "", pod: "" });

const toHeaders = ({ key, workspaceId }: Tenant) => ({ "x-api-key": key, "x-tenant-id": workspaceId });

/** Makes threads with finished and interrupted runs, a cron, and an item of the store. */
async function fillAgent(app: Callable, headers: Record<string, string>): Promise<KnownIds> {
  const ask = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const response = await app.request(path, {
      method,
      headers: { ...headers, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
  };
  const ids: Record<string, string[]> = { thread_id: [], run_id: [], checkpoint_id: [] };
  const graphs = ["counter", "approval", "echo", "nested", "failing", "steps", "parallel", "memory"];
  const inputs: Record<string, unknown> = {
    counter: { add: 1 },
    approval: { topic: MARKS.a },
    echo: { text: MARKS.a },
  };
  for (const [graph, input] of Object.entries(inputs)) {
    const thread = String((await ask("POST", "/threads", { metadata: { mark: MARKS.a } }))["thread_id"]);
    const run = await ask("POST", `/threads/${thread}/runs`, { assistant_id: graph, input });
    await ask("GET", `/threads/${thread}/runs/${String(run["run_id"])}/join`).catch(() => {});
    const states = (await ask("GET", `/threads/${thread}/history`)) as unknown as { checkpoint_id?: string }[];
    ids["thread_id"]!.push(thread);
    ids["run_id"]!.push(String(run["run_id"]));
    ids["checkpoint_id"]!.push(...states.flatMap((state) => state.checkpoint_id ?? []));
  }
  await ask("PUT", "/store/items", { namespace: ["notes"], key: "k", value: { text: MARKS.a } });
  const cron = await ask("POST", "/runs/crons", { assistant_id: "echo", schedule: "0 0 1 1 *", input: {} });
  const assistants = (await ask("POST", "/assistants/search", {})) as unknown as { assistant_id: string }[];
  return {
    ...ids,
    cron_id: [String(cron["cron_id"])],
    assistant_id: [...graphs, ...assistants.map(({ assistant_id: id }) => id)],
    graph_id: graphs,
  };
}

/** Creates a key that may only read workspace A. */
export async function createReader(sql: Sql, organizationId: string, workspaceId: string): Promise<string> {
  const { key } = await createKey(sql, {
    organizationId,
    kind: "service",
    userId: null,
    description: "reads only",
    readOnly: true,
    expiresAt: null,
    workspaceIds: [workspaceId],
    defaultWorkspaceId: null,
    roleId: BUILT_IN_ROLES.WORKSPACE_VIEWER,
    organizationRoleId: null,
  });
  return key;
}
