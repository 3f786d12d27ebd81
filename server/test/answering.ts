/**
 * Answers that users give to questions of others' runs. The scenarios are the same for projects in both languages
 * (fixtures/answering-project).
 */
import { randomUUID } from "node:crypto";

import { describe, expect, test } from "vitest";

import type { TestAgentServer } from "./agent-server.ts";
import { receiver } from "./receiver.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

const userObject = (identity: string, turn = 1) => ({
  identity,
  display_name: identity,
  is_authenticated: true,
  permissions: [identity === "staff" ? "all" : "own"],
  token: `credential-of-${identity}-${turn}`,
});

export function describeAnswers(project: string, { call, sql, agent }: TestAgentServer): void {
  const as =
    (token: string) =>
    (method: string, path: string, body?: unknown): Promise<Json> =>
      call(method, path, body, {
        authorization: `Bearer ${token}`,
        // MCP insists on both
        ...(path === "/mcp" && { accept: "application/json, text/event-stream" }),
      });
  const [anna, ben, staff] = ["anna", "ben", "staff"].map(as) as [Caller, Caller, Caller];
  type Caller = ReturnType<typeof as>;

  async function begin(who: Caller = anna, assistant = "approval", more: object = {}): Promise<string> {
    const { json } = await who("POST", "/threads", {});
    await run(who, json.thread_id, { assistant_id: assistant, input: { topic: "tea" }, ...more });
    return json.thread_id as string;
  }
  const run = async (who: Caller, thread: string, body: object): Promise<Json[]> => {
    const answer = await who("POST", `/threads/${thread}/runs/wait`, { assistant_id: "approval", ...body });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return (await staff("GET", `/threads/${thread}/state`)).json.values.seen as Json[];
  };
  const resume = (who: Caller, thread: string, value: unknown, more: object = {}) =>
    run(who, thread, { command: { resume: value }, ...more });
  /** Users of a step, without the objects. */
  const usersOf = ({ id, answering_id = null, memory }: Json) => [id, answering_id, memory];
  const newestRun = async (thread: string): Promise<Json> =>
    (await staff("GET", `/threads/${thread}/runs?limit=1`)).json[0];
  const remember = async () => {
    for (const who of ["anna", "ben", "staff"])
      await as(who)("PUT", "/store/items", { namespace: ["memory", who], key: "name", value: { text: `${who}'s` } });
  };

  describe(`a run of ${project} that another user resumes`, () => {
    test("works in the name of the user whose run asked, and names who answered", async () => {
      await remember();
      const thread = await begin();
      expect((await ben("POST", `/threads/${thread}/runs/wait`, RESUME)).status).toBe(404);
      const seen = await resume(staff, thread, "yes");
      expect(seen).toEqual([
        { ...of("anna"), step: "begin", answer: null },
        { ...of("anna"), step: "first", answer: "yes", answering: userObject("staff"), answering_id: "staff" },
      ]);
      // what the project's rules see is the request: its caller
      const { metadata, kwargs } = await newestRun(thread);
      expect(metadata.asked).toEqual({ user: "staff", of_run: "staff", resumes: true });
      const ids = { langgraph_auth_user_id: "anna", heddle_answering_user_id: "staff" };
      expect(kwargs.config).toMatchObject({ configurable: ids, metadata: ids });
      // checkpoints and traces have both ids
      const { json: state } = await staff("GET", `/threads/${thread}/state`);
      expect(state.metadata).toMatchObject(ids);
    });

    test("remains theirs through further questions, with any answering user", async () => {
      const thread = await begin();
      await resume(staff, thread, 1);
      const seen = await resume(as("anna:2"), thread, 2);
      expect(usersOf(seen[1])).toEqual(["anna", "staff", "anna's"]);
      // who answers for herself is known as she is now
      expect(seen[2]).toEqual({
        ...of("anna", 2),
        ...{ step: "second", answer: 2, answering: userObject("anna", 2), answering_id: "anna" },
      });
      expect(await resume(staff, await begin(staff), 1)).toMatchObject([{ id: "staff" }, { id: "staff" }]);
    });

    test("is the caller's where new input takes the place of an answer", async () => {
      const thread = await begin();
      const seen = await run(staff, thread, { input: { topic: "coffee" } });
      expect(seen.map(usersOf)).toEqual([
        ["anna", null, "anna's"],
        ["staff", null, "staff's"],
      ]);
      // the question is now one of staff's run
      expect(usersOf((await resume(staff, thread, 1)).at(-1))).toEqual(["staff", "staff", "staff's"]);
    });

    test("answers at a checkpoint in the name of the run that wrote it", async () => {
      const thread = await begin();
      const { json: asked } = await staff("GET", `/threads/${thread}/state`);
      await run(staff, thread, { input: { topic: "coffee" } });
      const seen = await resume(staff, thread, 1, { checkpoint_id: asked.checkpoint.checkpoint_id });
      expect(usersOf(seen.at(-1))).toEqual(["anna", "staff", "anna's"]);
    });

    test("is resolved when it begins, if it was queued", async () => {
      const thread = await begin();
      const { json: queued } = await staff("POST", `/threads/${thread}/runs`, { ...RESUME, after_seconds: 1 });
      await staff("GET", `/threads/${thread}/runs/${queued.run_id}/join`);
      const { json } = await staff("GET", `/threads/${thread}/state`);
      expect(usersOf(json.values.seen.at(-1))).toEqual(["anna", "staff", "anna's"]);
    });

    test("continues a run that stopped before a node, or failed, in its user's name", async () => {
      const stopped = await begin(anna, "approval", { interrupt_before: ["begin"] });
      expect(usersOf((await run(staff, stopped, { input: null })).at(-1))).toEqual(["anna", "staff", "anna's"]);
      const { json } = await anna("POST", "/threads", {});
      const failing = { assistant_id: "failing", input: { topic: "tea" } };
      expect((await anna("POST", `/threads/${json.thread_id}/runs/wait`, failing)).json.__error__).toBeDefined();
      const retried = await run(staff, json.thread_id, { assistant_id: "failing", input: null });
      expect(usersOf(retried.at(-1))).toEqual(["anna", "staff", "anna's"]);
      // a state update keeps the run that it changes
      const updated = await begin(anna, "approval", { interrupt_before: ["begin"] });
      await staff("POST", `/threads/${updated}/state`, { values: { topic: "coffee" } });
      expect(usersOf((await run(staff, updated, { input: null })).at(-1))).toEqual(["anna", "staff", "anna's"]);
      // nothing waits: an ordinary run
      const done = await begin();
      for (const answer of [1, 2]) await resume(anna, done, answer);
      const command = { goto: "begin", update: { topic: "cocoa" }, resume: 3 };
      expect(usersOf((await run(staff, done, { command })).at(-1))[0]).not.toBe("anna");
    });

    test("keeps the user's id when the run that asked is gone, and its checkpoints are needed by others", async () => {
      const thread = await begin();
      await sql`delete from runs where thread_id = ${thread}`;
      const { user, ...rest } = (await resume(staff, thread, 1)).at(-1);
      expect(usersOf(rest)).toEqual(["anna", "staff", "anna's"]);
      expect(user).toEqual({ identity: "anna", display_name: "anna", is_authenticated: true, permissions: [] });
    });

    test("of a copied thread is the copying user's", async () => {
      const thread = await begin();
      const { json: copy } = await staff("POST", `/threads/${thread}/copy`);
      expect(usersOf((await resume(staff, copy.thread_id, 1)).at(-1))).toEqual(["staff", "staff", "staff's"]);
      await sql`delete from runs where thread_id = ${thread}`;
      const { json: later } = await staff("POST", `/threads/${thread}/copy`);
      expect(usersOf((await resume(staff, later.thread_id, 1)).at(-1))).toEqual(["staff", "staff", "staff's"]);
    });

    test("is resumed by the commands of protocol v2, by MCP and by A2A too", async () => {
      const command = (who: Caller, thread: string, method: string, params: object) =>
        who("POST", `/threads/${thread}/commands`, { id: 1, method, params });
      const thread = randomUUID();
      await command(anna, thread, "run.start", { assistant_id: "approval", input: { topic: "tea" } });
      const pending = async () =>
        Object.values((await staff("GET", `/threads/${thread}`)).json?.interrupts ?? {}).flat() as { id: string }[];
      await expect.poll(async () => (await pending()).length).toBe(1);
      const [{ id }] = (await pending()) as [{ id: string }];
      const responded = await command(staff, thread, "input.respond", { interrupt_id: id, response: "v2" });
      expect(responded.json.type).toBe("success");
      const last = async () => (await staff("GET", `/threads/${thread}/state`)).json.values.seen.at(-1);
      await expect.poll(async () => (await last()).step).toBe("first");
      expect(usersOf(await last())).toEqual(["anna", "staff", "anna's"]);

      const rpc = async (who: Caller, path: string, method: string, params: object): Promise<Json> => {
        const { json } = await who("POST", path, { jsonrpc: "2.0", id: "1", method, params });
        expect(json.error).toBeUndefined();
        return json.result;
      };
      const called = await rpc(anna, "/mcp", "tools/call", { name: "approval", arguments: { topic: "tea" } });
      const { thread_id } = JSON.parse(called.content[0].text) as { thread_id: string };
      const answered = { name: "resume_interrupted", arguments: { thread_id, answer: "mcp" } };
      await rpc(staff, "/mcp", "tools/call", answered);
      // the graph asks again, so the thread is still there
      const ofTool = (await staff("GET", `/threads/${thread_id}/state`)).json.values.seen.at(-1);
      expect(usersOf(ofTool)).toEqual(["anna", "staff", "anna's"]);

      const message = (text: object, more: object = {}) => ({
        message: { role: "user", messageId: randomUUID(), parts: [{ kind: "data", data: text }], ...more },
      });
      const [assistant] = (await staff("POST", "/assistants/search", { graph_id: "approval" })).json;
      const path = `/a2a/${assistant.assistant_id}`;
      const task = await rpc(anna, path, "message/send", message({ topic: "tea" }));
      await rpc(staff, path, "message/send", message({ ok: true }, { taskId: task.id, contextId: task.contextId }));
      const ofTask = (await staff("GET", `/threads/${task.contextId}/state`)).json.values.seen.at(-1);
      expect(usersOf(ofTask)).toEqual(["anna", "staff", "anna's"]);
    });

    test("takes users from the server alone", async () => {
      const posing = {
        heddle_answering_user: { identity: "root" },
        heddle_answering_user_id: "root",
        langgraph_auth_user_id: "root",
        langgraph_auth_user: { identity: "root" },
      };
      const config = { configurable: posing, metadata: posing };
      const created = await anna("POST", "/assistants", { graph_id: "approval", config });
      const thread = await begin(anna, created.json.assistant_id, { config });
      const first = (await anna("GET", `/threads/${thread}/state`)).json;
      expect(usersOf(first.values.seen[0])).toEqual(["anna", null, "anna's"]);
      // what Python graphs get as `configurable`, too
      const other = await begin(anna, "approval", { context: posing });
      const second = (await anna("GET", `/threads/${other}/state`)).json;
      expect(usersOf(second.values.seen[0])).toEqual(["anna", null, "anna's"]);
      expect(JSON.stringify([first.metadata, (await newestRun(thread)).kwargs.config.metadata])).not.toContain("root");
      const seen = await resume(staff, thread, 1, { assistant_id: created.json.assistant_id, config });
      expect(usersOf(seen.at(-1))).toEqual(["anna", "staff", "anna's"]);
    });

    test("shows its users' credentials to the graph alone", async () => {
      const hook = await receiver();
      const thread = await begin();
      const stream_mode = ["values", "updates", "debug", "checkpoints", "tasks", "messages-tuple"];
      const body = {
        ...RESUME,
        webhook: `${hook.url}/done`,
        stream_mode,
        stream_resumable: true,
        on_disconnect: "continue",
      };
      const graph = (text: string) => text.replaceAll(/"(?:user|answering)" ?: ?\{[^}]*\}/g, "");
      const streamed = await staff("POST", `/threads/${thread}/runs/stream`, body);
      expect(streamed.text).toContain("event: debug");
      expect(graph(streamed.text)).not.toContain("credential-of");
      await expect.poll(() => hook.received.length).toBe(1);
      const { kwargs } = hook.received[0]!.json;
      expect(kwargs.config.configurable).toMatchObject({
        langgraph_auth_user_id: "anna",
        heddle_answering_user_id: "staff",
      });
      const { run_id } = await newestRun(thread);
      const once = { assistant_id: "approval", input: { topic: "tea" }, on_completion: "delete" };
      for (const [method, path, sent] of [
        ["GET", `/threads/${thread}`],
        ["GET", `/threads/${thread}/history`],
        ["GET", `/threads/${thread}/state`],
        ["GET", `/threads/${thread}/runs`],
        ["GET", `/threads/${thread}/runs/${run_id}`],
        ["GET", `/threads/${thread}/runs/${run_id}/stream`],
        ["POST", "/threads/search", {}],
        ["POST", `/threads/${thread}/copy`],
        ["POST", "/runs", once],
        ["POST", "/runs/crons", { ...once, on_completion: undefined, schedule: "0 0 1 1 *" }],
        ["POST", "/runs/crons/search", {}],
        ["GET", "/webhooks/deliveries"],
      ] as const) {
        const { status, text } = await staff(method, path, sent);
        expect([path, status]).toEqual([path, 200]);
        expect([path, graph(text)]).toEqual([path, expect.not.stringContaining("credential-of")]);
      }
      expect(graph(hook.received[0]!.body)).not.toContain("credential-of");
      const stored = await sql`
        select metadata::text as text from checkpoints union all select config::text from threads
        union all select frames from run_stream_segments union all select run_kwargs::text from webhook_deliveries`;
      expect(graph(stored.map(({ text }) => text as string).join())).not.toContain("credential-of");
      expect(agent.deps.access.isOn).toBe(true);
    });
  });
}

const RESUME = { assistant_id: "approval", command: { resume: "later" } };

/** What a node sees of a user in whose name it works. */
const of = (id: string, turn = 1) => ({
  ...{ id, user: userObject(id, turn), permissions: userObject(id).permissions, memory: `${id}'s` },
});
