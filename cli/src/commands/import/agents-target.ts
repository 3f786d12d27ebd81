/** Writes to an agent server. What it has is compared first: a repeated copy writes nothing that is there. */
import { sortedKeys } from "../../core/sorted-keys.ts";
import { RejectedError } from "../../core/reach.ts";
import type { Assistant, CopiedAssistant, CopiedThread, Cron, Item } from "./agents-source.ts";
import { readHistory } from "./agents-source.ts";
import { type Batch, forEach, isSame, type Target, type Written } from "./copy.ts";
import type { Server } from "./server.ts";
import { type Checkpoint, compareChains, lineage, type Superstep, toSupersteps } from "./supersteps.ts";

export interface AgentTargetOptions {
  isDry: boolean;
  /** Whether copied crons that are enabled at the source run. */
  enableCrons: boolean;
}

type Left = (what: string) => void;

const AT_ONCE = 4;

export class AgentTarget implements Target {
  readonly #server: Server;
  readonly #options: AgentTargetOptions;
  #crons: Promise<Set<string>> | undefined;

  constructor(server: Server, options: AgentTargetOptions) {
    this.#server = server;
    this.#options = options;
  }

  async write({ kind, records }: Batch, left: Left): Promise<Written> {
    const written: Written = { written: 0, same: 0 };
    const put: Record<string, (value: never, left: Left) => Promise<boolean>> = {
      assistants: (value: CopiedAssistant) => this.#putAssistant(value, left),
      threads: (value: CopiedThread) => this.#putThread(value, left),
      crons: (value: Cron) => this.#putCron(value, left),
      items: (value: Item) => this.#putItem(value, left),
    };
    // of two equal crons, the second waits for the first
    await forEach(records, kind === "crons" ? 1 : AT_ONCE, async ({ text }) => {
      const value = JSON.parse(text) as Record<string, unknown>;
      try {
        const isNew = await put[kind]!(value as never, left);
        if (isNew) written.written++;
        else written.same++;
      } catch (error) {
        if (!(error instanceof RejectedError) || error.status === 401 || error.status === 403) throw error;
        left(`${nameRecord(kind, value)}: ${error.message}`);
      }
    });
    return written;
  }

  async #putAssistant({ assistant, versions }: CopiedAssistant, left: Left): Promise<boolean> {
    const { assistant_id: id } = assistant;
    const found = await this.#server.find<Assistant>(`/assistants/${id}`);
    const known = found
      ? (await this.#server.send<Assistant[]>("POST", `/assistants/${id}/versions`, { limit: 1000 })).toSorted(
          (a, b) => a.version - b.version,
        )
      : [];
    const isSystem = (version: Assistant | undefined) => version?.metadata?.["created_by"] === "system";
    // each server makes the first version of a graph's own assistant from its project
    const differs = known.some(
      (version, index) =>
        !versions[index] ||
        (!isSame(content(version), content(versions[index])) &&
          !(index === 0 && isSystem(version) && isSystem(versions[0]))),
    );
    if (differs) {
      left(`assistant ${id}: the target has versions that the source does not have; nothing was changed`);
      return false;
    }
    const missing = versions.slice(known.length);
    const current = versions.findIndex(({ version }) => version === assistant.version) + 1;
    const isCurrent = missing.length === 0 && (current === 0 || found?.version === current);
    if (isCurrent) return false;
    if (this.#options.isDry) return true;
    for (const [index, version] of missing.entries()) {
      const body = content(version);
      if (known.length + index > 0) await this.#server.send("PATCH", `/assistants/${id}`, body);
      else await this.#server.send("POST", "/assistants", { ...body, assistant_id: id });
    }
    if (current > 0 && current < versions.length)
      await this.#server.send("POST", `/assistants/${id}/latest`, { version: current });
    return true;
  }

  async #putThread(copied: CopiedThread, left: Left): Promise<boolean> {
    const { thread, chain } = copied;
    const name = `thread ${thread.thread_id}`;
    const complain: Left = (what) => left(`${name}: ${what}`);
    if (copied.elsewhere > 0)
      complain(`${copied.elsewhere} checkpoints are not taken: they belong to branches that the thread has left`);
    if (thread.status === "busy") complain("a run is active at the source; repeat the copy when it has ended");
    const known = await this.#server.find<object>(`/threads/${thread.thread_id}`);
    const isNew = known ? await this.#extendThread(copied, complain) : await this.#createThread(copied, complain);
    const last = chain.at(-1);
    if (last?.tasks.some(({ interrupts }) => interrupts && interrupts.length > 0))
      complain(`its interrupt is not taken: a run without input executes ${last.next.join(", ")} again up to it`);
    if (last && last.next.length > 0 && last.tasks.some(({ result }) => result !== null && result !== undefined))
      complain("results of the finished tasks of an unfinished step are not taken; they are executed again");
    return isNew;
  }

  async #createThread(copied: CopiedThread, complain: Left): Promise<boolean> {
    const { thread, chain } = copied;
    if (this.#options.isDry) return true;
    if (chain.length > 0 && typeof thread.metadata?.["graph_id"] !== "string") {
      complain("its state is not taken: the thread names no graph");
      await this.#insertThread(copied, []);
      return true;
    }
    await this.#insertThread(copied, toSupersteps(chain));
    let copy = await this.#readChain(thread.thread_id);
    const routed = compareChains(chain, copy).filter(({ what }) => what === "next");
    if (routed.length > 0) {
      await this.#server.sendText("DELETE", `/threads/${thread.thread_id}`);
      await this.#insertThread(copied, toSupersteps(chain, new Set(routed.map(({ index }) => index))));
      copy = await this.#readChain(thread.thread_id);
    }
    this.#compare(copied, copy, complain);
    return true;
  }

  #insertThread({ thread }: CopiedThread, supersteps: Superstep[]): Promise<unknown> {
    const { thread_id, metadata, ttl } = thread;
    return this.#server.send("POST", "/threads", {
      thread_id,
      metadata,
      ...(ttl && { ttl: { ttl: ttl.ttl, strategy: ttl.strategy } }),
      ...(supersteps.length > 0 && { supersteps }),
    });
  }

  /** Adds the checkpoints that the source has written since the copy. */
  async #extendThread(copied: CopiedThread, complain: Left): Promise<boolean> {
    const { thread, chain } = copied;
    const copy = await this.#readChain(thread.thread_id);
    if (copy.length > chain.length) {
      complain("the target's thread has more checkpoints than the source's; nothing was changed");
      return false;
    }
    const added = toSupersteps(chain).slice(copy.length);
    const before = compareChains(chain, copy);
    if (added.length === 0 || before.length > 0) {
      this.#compare(copied, copy, complain);
      return false;
    }
    if (added.some(({ updates }) => updates.length > 1)) {
      complain(`${added.length} new checkpoints are not taken: a step of parallel nodes cannot be added to a thread`);
      return false;
    }
    if (this.#options.isDry) return true;
    for (const { updates } of added) await this.#server.send("POST", `/threads/${thread.thread_id}/state`, updates[0]!);
    this.#compare(copied, await this.#readChain(thread.thread_id), complain);
    return true;
  }

  #compare({ chain }: CopiedThread, copy: readonly Checkpoint[], complain: Left): void {
    const [first] = compareChains(chain, copy);
    if (first) complain(`checkpoint ${first.index + 1} of ${chain.length} differs in the copy: ${first.what}`);
    if (copy.length < chain.length) complain(`the copy has ${copy.length} of ${chain.length} checkpoints`);
  }

  async #readChain(id: string) {
    return lineage(await readHistory(this.#server, id));
  }

  async #putCron(cron: Cron, left: Left): Promise<boolean> {
    this.#crons ??= this.#listCrons();
    const known = await this.#crons;
    const key = cronKey(cron);
    if (known.has(key)) return false;
    known.add(key);
    if (this.#options.isDry) return true;
    const { payload, thread_id: threadId } = cron as { payload?: object; thread_id?: string | null };
    const body = {
      ...pick(payload ?? {}, PAYLOAD),
      ...pick(cron, ["schedule", "assistant_id", "metadata", "timezone", "end_time", "on_run_completed"]),
      enabled: this.#options.enableCrons && cron["enabled"] !== false,
    };
    const path = typeof threadId === "string" ? `/threads/${threadId}/runs/crons` : "/runs/crons";
    await this.#server.send("POST", path, body);
    if (!body.enabled && cron["enabled"] !== false)
      left(`cron ${cron.cron_id}: was created disabled, so that it does not run twice; --enable-crons enables crons`);
    return true;
  }

  async #listCrons(): Promise<Set<string>> {
    const keys = new Set<string>();
    for (let offset = 0; ; offset += 100) {
      const page = await this.#server.send<Cron[]>("POST", "/runs/crons/search", { limit: 100, offset });
      for (const cron of page) keys.add(cronKey(cron));
      if (page.length < 100) return keys;
    }
  }

  async #putItem({ namespace, key, value, updated_at }: Item, left: Left): Promise<boolean> {
    const query = new URLSearchParams({ namespace: namespace.join("."), key, refresh_ttl: "false" });
    const known = await this.#server.find<Item | null>(`/store/items?${query}`);
    if (known && isSame(known.value, value)) return false;
    if (known && Date.parse(known.updated_at) > Date.parse(updated_at)) {
      left(`item ${JSON.stringify([...namespace, key])}: the target's is newer and differs; it was not changed`);
      return false;
    }
    if (!this.#options.isDry)
      await this.#server.sendText("PUT", "/store/items", JSON.stringify({ namespace, key, value }));
    return true;
  }
}

const VERSIONED = ["graph_id", "name", "description", "config", "context", "metadata"] as const;

const content = (version: Assistant): Record<string, unknown> => ({
  ...pick(version as unknown as Record<string, unknown>, VERSIONED),
  config: version.config ?? {},
  context: version.context ?? {},
  metadata: version.metadata ?? {},
  description: version.description ?? null,
});

const PAYLOAD = `input config context webhook interrupt_before interrupt_after multitask_strategy stream_mode
  stream_subgraphs stream_resumable durability checkpoint_during`.split(/\s+/);

/** Crons have no ids that could be kept: two of the same content are the same. */
function cronKey(cron: Cron): string {
  const { payload, schedule, assistant_id, thread_id, timezone } = cron as Record<string, unknown>;
  // servers add to the config
  const { input } = (payload ?? {}) as Record<string, unknown>;
  return JSON.stringify([assistant_id, thread_id ?? null, schedule, timezone ?? null, sortedKeys(input ?? null)]);
}

const pick = (value: object, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([name, field]) => names.includes(name) && field !== null));

function nameRecord(kind: string, value: unknown): string {
  if (kind === "assistants") return `assistant ${(value as CopiedAssistant).assistant.assistant_id}`;
  if (kind === "threads") return `thread ${(value as CopiedThread).thread.thread_id}`;
  if (kind === "crons") return `cron ${(value as Cron).cron_id}`;
  const { namespace, key } = value as Item;
  return `item ${JSON.stringify([...namespace, key])}`;
}
