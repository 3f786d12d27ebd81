/**
 * What an application does with prompts and the JavaScript client, run with the packages of the current directory:
 *
 *     cd DIRECTORY && LANGSMITH_ENDPOINT=… LANGSMITH_API_KEY=… PEER_WORKSPACE=ID PEER_HANDLE=… HANDLE=… \
 *       node …/prompts.mjs PREFIX [PREFIX_OF_OTHER_CLIENT]
 *
 * The names of its prompts begin with PREFIX. Prints one JSON line a check, as javascript.mjs, and one for each manifest
 * that it pushed: {"name": "manifest KIND", "manifest"}. With the prefix of another client, only pulls what that pushed,
 * and prints the manifests.
 */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(join(process.cwd(), "package.json")));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = require("langsmith");
const { ChatPromptTemplate, MessagesPlaceholder, PromptTemplate, StructuredPrompt } =
  await load("@langchain/core/prompts");
const { ChatOpenAI } = await load("@langchain/openai");
const hub = await load("langchain/hub");
const hubOfNode = await load("langchain/hub/node");

const [prefix, other] = process.argv.slice(2);
const { PEER_WORKSPACE: peerWorkspace, PEER_HANDLE: peerHandle, HANDLE: handle } = process.env;
const client = new Client();
const peer = new Client({ workspaceId: peerWorkspace });
const name = (kind) => `${prefix}-${kind}`;
const fresh = { skipCache: true };
const toJson = (value) => JSON.parse(JSON.stringify(value));
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Moves a tag to the latest commit, which the client has no method for. */
async function moveTag(repo, tag) {
  const [{ id: commit_id }] = await all(client.listCommits(repo));
  const response = await fetch(`${process.env.LANGSMITH_ENDPOINT}/repos/-/${repo}/tags/${tag}`, {
    method: "PATCH",
    headers: { "content-type": "application/json", "x-api-key": process.env.LANGSMITH_API_KEY },
    body: JSON.stringify({ commit_id }),
  });
  assert.equal(response.status, 200);
}

async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("did not fail");
}

const schema = {
  title: "answer",
  description: "d",
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
};
const chat = ChatPromptTemplate.fromMessages([
  ["system", 'Answer in {language} – „ä“ 😀 \\ "quoted".'],
  new MessagesPlaceholder("history"),
  ["human", "{question}"],
]);
const model = () => new ChatOpenAI({ model: "gpt-x", temperature: 0.5, apiKey: "sk-not-stored" });

/** LangChain neither serializes nor loads these: they are pushed and pulled as their manifests. */
const template = (text, variables) => ({
  lc: 1,
  type: "constructor",
  id: ["langchain_core", "prompts", "prompt", "PromptTemplate"],
  kwargs: { template: text, input_variables: variables, template_format: "f-string" },
});
const fewShot = {
  lc: 1,
  type: "constructor",
  id: ["langchain_core", "prompts", "few_shot", "FewShotPromptTemplate"],
  kwargs: {
    examples: [{ q: "1+1", a: "2" }],
    example_prompt: template("{q} = {a}", ["q", "a"]),
    suffix: "{input} =",
    input_variables: ["input"],
  },
};

const KINDS = {
  chat: () => chat,
  string: () => PromptTemplate.fromTemplate("Hello {name}"),
  mustache: () => ChatPromptTemplate.fromMessages([["human", "Hi {{user.name}}"]], { templateFormat: "mustache" }),
  structured: () => StructuredPrompt.fromMessagesAndSchema([["human", "{question}"]], schema),
  fewshot: () => fewShot,
  model: () => chat.pipe(model()),
};

const CHECKS = {
  async create() {
    const created = await client.createPrompt(name("created"), { description: "d", readme: "# r", tags: ["a", "b"] });
    assert.deepEqual([created.repo_handle, created.owner, created.is_public], [name("created"), handle, false]);
    assert.equal(await client.promptExists(name("created")), true);
    assert.equal(await client.promptExists(name("absent")), false);
    const read = await client.getPrompt(name("created"));
    assert.deepEqual([read.description, read.readme, read.tags, read.num_commits], ["d", "# r", ["a", "b"], 0]);
    assert.equal(await client.getPrompt(name("absent")), null);
    assert.match(String(await failure(client.createPrompt(name("created")))), /409|already exists/);
    assert.match(String(await failure(client.createPrompt(`${peerHandle}/x`))), /another tenant/);
  },

  async "push and pull"() {
    for (const [kind, build] of Object.entries(KINDS)) {
      const object = build();
      const url = await client.pushPrompt(name(kind), { object, description: kind, commitDescription: "first" });
      const commit = await client.pullPromptCommit(name(kind), { includeModel: true, ...fresh });
      assert.ok(url.includes(`/prompts/${name(kind)}/${commit.commit_hash.slice(0, 8)}`), url);
      assert.deepEqual(commit.manifest, toJson(object));
      print({ name: `manifest ${kind}`, manifest: commit.manifest });
    }
    assert.equal((await client.getPrompt(name("chat"))).description, "chat");
    assert.match(await client.pushPrompt(name("chat"), { readme: "new" }), new RegExp(`/prompts/${name("chat")}`));
    assert.equal((await client.getPrompt(name("chat"))).readme, "new");
  },

  async "hub.pull"() {
    const url = await hub.push(name("hub"), chat, { tags: ["t"] });
    assert.match(url, new RegExp(`/prompts/${name("hub")}/`));
    const { commit_hash } = await client.pullPromptCommit(name("hub"), fresh);
    for (const { pull } of [hub, hubOfNode]) {
      const pulled = await pull(name("hub"), fresh);
      assert.deepEqual(pulled.metadata, {
        lc_hub_owner: "-",
        lc_hub_repo: name("hub"),
        lc_hub_commit_hash: commit_hash,
      });
      const { messages } = await pulled.invoke({ language: "de", history: [], question: "q" });
      assert.deepEqual(
        messages.map((message) => message.content),
        ['Answer in de – „ä“ 😀 \\ "quoted".', "q"],
      );
    }
    const text = await hub.pull(name("string"), fresh);
    assert.equal(await text.format({ name: "x" }), "Hello x");
    assert.ok((await hub.pull(name("structured"), fresh)) instanceof StructuredPrompt);
    const mustache = await hub.pull(name("mustache"), fresh);
    assert.equal((await mustache.invoke({ user: { name: "Ada" } })).messages[0].content, "Hi Ada");
  },

  async include_model() {
    const bare = await client.pullPromptCommit(name("model"), fresh);
    assert.equal(bare.manifest.id.at(-1), "ChatPromptTemplate");
    const full = await client.pullPromptCommit(name("model"), { includeModel: true, ...fresh });
    assert.equal(full.manifest.id.at(-1), "RunnableSequence");
    assert.ok(!JSON.stringify(full.manifest).includes("sk-not-stored"));
    const secrets = { OPENAI_API_KEY: "sk-test" };
    const sequence = await hubOfNode.pull(name("model"), { includeModel: true, secrets, ...fresh });
    assert.deepEqual([sequence.last.model, sequence.last.temperature], ["gpt-x", 0.5]);
    const prompt = await hub.pull(name("model"), fresh);
    assert.ok(prompt instanceof ChatPromptTemplate);
  },

  async versions() {
    const push = (text, more = {}) =>
      client.pushPrompt(name("versions"), { object: ChatPromptTemplate.fromTemplate(text), ...more });
    const textOf = async (version, more = {}) => {
      const { manifest } = await client.pullPromptCommit(version, { ...fresh, ...more });
      return manifest.kwargs.messages[0].kwargs.prompt.kwargs.template;
    };
    await push("one", { commitTags: ["production", "v1"] });
    const { commit_hash: first } = await client.pullPromptCommit(name("versions"), fresh);
    await push("two", { commitTags: "staging" });
    const named = (version) => `${name("versions")}:${version}`;
    const found = [];
    for (const version of ["production", "v1", "staging", "latest", first, first.slice(0, 8)]) {
      found.push(await textOf(named(version)));
    }
    assert.deepEqual(found, ["one", "one", "two", "two", "one", "one"]);
    assert.equal(await textOf(`-/${named("production")}`), "one");
    assert.equal(await textOf(`${handle}/${named("staging")}`, { dangerouslyPullPublicPrompt: true }), "two");
    // the client creates tags, and does not move them; the commit is stored
    const taken = await failure(push("three", { commitTags: ["production"] }));
    assert.match(String(taken), /409|PATCH/);
    assert.deepEqual([await textOf(named("production")), await textOf(named("latest"))], ["one", "three"]);
    await moveTag(name("versions"), "production");
    assert.equal(await textOf(named("production")), "three");
    const stale = await failure(push("four", { parentCommitHash: first }));
    assert.equal(stale.status ?? stale.response?.status, 409, String(stale));
    const commits = await all(client.listCommits(name("versions")));
    assert.equal(commits.length, 3);
    assert.deepEqual([commits[2].commit_hash, commits[1].parent_commit_hash], [first, first]);
    const { commit_tags, num_commits, last_commit_hash } = await client.getPrompt(name("versions"));
    assert.deepEqual([commit_tags.toSorted(), num_commits], [["production", "staging", "v1"], 3]);
    assert.equal(last_commit_hash, commits[0].commit_hash);
  },

  async cache() {
    // as applications do it: without skipCache, so that a moved tag is seen after the cache's time to live
    const version = `${name("versions")}:v1`;
    const [one, two] = [await client.pullPromptCommit(version), await client.pullPromptCommit(version)];
    assert.equal(one, two);
    assert.deepEqual(await client.pullPromptCommit(version, fresh), one);
  },

  async list() {
    const found = await all(client.listPrompts({ query: name("versions") }));
    assert.deepEqual(
      found.map(({ repo_handle }) => repo_handle),
      [name("versions")],
    );
    for (let n = 0; n < 3; n++) await client.createPrompt(name(`list-${n}`));
    assert.equal((await all(client.listPrompts({ query: name("list"), sortField: "num_downloads" }))).length, 3);
    assert.equal((await all(client.listPrompts({ query: name("list"), isPublic: true }))).length, 0);
  },

  async update() {
    await client.createPrompt(name("updated"));
    await client.updatePrompt(name("updated"), { description: "new", readme: "r", tags: ["x"], isArchived: true });
    const { description, readme, tags, is_archived } = await client.getPrompt(name("updated"));
    assert.deepEqual([description, readme, tags, is_archived], ["new", "r", ["x"], true]);
    const query = name("updated");
    assert.equal((await all(client.listPrompts({ query }))).length, 0);
    assert.equal((await all(client.listPrompts({ query, isArchived: true }))).length, 1);
    await client.deletePrompt(name("updated"));
    assert.equal(await client.promptExists(name("updated")), false);
  },

  async "public prompts"() {
    await peer.pushPrompt(name("peer"), { object: chat, isPublic: true });
    await peer.pushPrompt(name("private"), { object: chat });
    const open = { dangerouslyPullPublicPrompt: true, ...fresh };
    const pulled = await client.pullPromptCommit(`${peerHandle}/${name("peer")}`, open);
    assert.deepEqual([pulled.manifest, pulled.owner], [toJson(chat), peerHandle]);
    const hidden = await failure(client.pullPromptCommit(`${peerHandle}/${name("private")}`, open));
    assert.match(String(hidden), /not found|404/i);
    assert.equal(await client.promptExists(`${peerHandle}/${name("private")}`), false);
    assert.equal(await client.promptExists(name("peer")), false);
    assert.match(
      String(await failure(client.updatePrompt(`${peerHandle}/${name("peer")}`, { readme: "x" }))),
      /tenant/,
    );
    await peer.updatePrompt(name("peer"), { isPublic: false });
    assert.match(String(await failure(client.pullPromptCommit(`${peerHandle}/${name("peer")}`, open))), /not found/i);
  },

  async errors() {
    const wrong = new Client({ apiKey: "lsv2_sk_wrong" });
    const messages = [];
    for (const pull of [
      () => client.pullPromptCommit(name("absent"), fresh),
      () => client.pullPromptCommit(name("created"), fresh),
      () => client.pullPromptCommit(`${name("chat")}:no-such-tag`, fresh),
      () => wrong.pullPromptCommit(name("chat"), fresh),
    ]) {
      messages.push(String((await failure(pull())).message));
    }
    assert.equal(new Set(messages).size, 4, messages.join("\n"));
    print({ name: "messages", messages });
    assert.match(messages[0], new RegExp(`${name("absent")}.*not found`, "i"));
    assert.match(messages[1], /commit/i);
    assert.match(messages[2], /no-such-tag/);
    assert.match(messages[3], /401|403/);
    const liked = await failure(client.likePrompt(name("chat")));
    assert.match(String(liked), /like/i);
  },

  async agents() {
    if (!client.pushAgent) return "absent";
    for (const [push, pull, exists, list, remove] of [
      ["pushAgent", "pullAgent", "agentExists", "listAgents", "deleteAgent"],
      ["pushSkill", "pullSkill", "skillExists", "listSkills", "deleteSkill"],
    ]) {
      const id = name(push.toLowerCase());
      const files = { "AGENTS.md": { type: "file", content: "# ä\n" }, "a/b.txt": { type: "file", content: "" } };
      const url = await client[push](id, { files, description: "d" });
      const first = await client[pull](id);
      assert.ok(url.includes(first.commit_hash.slice(0, 8)), url);
      assert.deepEqual(first.files, files);
      await client[push](id, {
        files: { "a/b.txt": null, c: { type: "file", content: "c" } },
        parentCommit: first.commit_hash,
      });
      const second = await client[pull](id);
      assert.deepEqual(Object.keys(second.files).toSorted(), ["AGENTS.md", "c"]);
      assert.deepEqual((await client[pull](id, { version: first.commit_hash })).files, files);
      assert.equal(await client[exists](id), true);
      assert.equal((await all(client[list]({ query: id }))).length, 1);
      await client[remove](id);
      assert.equal(await client[exists](id), false);
    }
  },
};

const CROSS_CHECKS = {
  async "pull of the other client's prompts"() {
    for (const kind of Object.keys(KINDS)) {
      const { manifest } = await client.pullPromptCommit(`${other}-${kind}`, { includeModel: true });
      print({ name: `manifest ${kind}`, manifest });
    }
    const pulled = await hub.pull(`${other}-chat`);
    const { messages } = await pulled.invoke({ language: "de", history: [], question: "q" });
    assert.equal(messages.at(-1).content, "q");
  },
};

for (const [check, run] of Object.entries(other === undefined ? CHECKS : CROSS_CHECKS)) {
  let error = null;
  let absent = false;
  try {
    absent = (await run()) === "absent";
  } catch (reason) {
    error = String(reason?.stack ?? reason);
  }
  print({ name: check, error, absent });
}
process.exit();
