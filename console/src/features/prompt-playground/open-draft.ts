/** Opens what the page's address names: the call of a trace, a commit of a prompt, or nothing. */
import type { QueryClient } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { readMetadata } from "../runs/run-record.ts";
import { runQuery } from "../traces/queries.ts";
import { commitQuery, pullName } from "../prompts/queries.ts";
import { contentToText } from "./answer.ts";
import { type Draft, type ModelChoice, newDraft, NO_MODEL } from "./draft.ts";
import { matchTemplate } from "./match-template.ts";
import { readModel } from "./model-node.ts";
import type { PromptOrigin } from "./prompt.ts";
import { readManifest } from "./read-manifest.ts";
import { type PlayedMessage, readRun } from "./read-run.ts";
import type { PlaySearch } from "./play-search.ts";
import { connectionsQuery, providersQuery, secretNamesQuery } from "../models/queries.ts";
import { runToPlayQuery } from "./queries.ts";

export interface Opened {
  draft: Draft;
  /** What could not be taken over, for the user. */
  notes: string[];
}

export async function openDraft(client: QueryClient, search: PlaySearch): Promise<Opened> {
  if (search.run !== undefined) return await openRun(client, search.run);
  if (search.prompt !== undefined) {
    const [owner, repo] = splitName(search.prompt);
    const { prompt, model, origin } = await fetchCommit(client, owner, repo, search.commit ?? "latest");
    const choice = await completeModel(client, readModel(model));
    return { draft: newDraft({ ...prompt, origin }, choice), notes: [] };
  }
  return { draft: newDraft(undefined, await completeModel(client, NO_MODEL)), notes: [] };
}

/** Splits `owner/name`; a name alone is a prompt of the workspace. */
export function splitName(name: string): [owner: string, repo: string] {
  const [first, second] = name.split("/", 2);
  return second === undefined ? ["-", first!] : [first!, second];
}

async function fetchCommit(client: QueryClient, owner: string, repo: string, commit: string) {
  const found = await client.fetchQuery(commitQuery({ owner, repo }, commit));
  if (!found) throw new Error(`The prompt ${pullName({ owner, repo })} has no commits yet.`);
  const origin: PromptOrigin = { owner, repo, commitHash: found.commit_hash };
  return { ...readManifest(found.manifest), origin };
}

async function openRun(client: QueryClient, runId: string): Promise<Opened> {
  const run = await client.fetchQuery(runToPlayQuery(runId));
  const { commit, model } = run;
  const notes = [...run.notes];
  const choice = await completeModel(client, {
    connectionId: model.connection_id,
    provider: model.provider,
    model: model.model ?? "",
    parameters: model.parameters,
  });
  if (model.model !== null && choice.model !== model.model) {
    notes.push(`No ready connection serves the call's model, ${model.model}: ${choice.model || "none"} is selected.`);
  }
  const messages = run.messages as PlayedMessage[];
  const literal = readRun({ ...run, messages });
  const base = {
    run: {
      runId: run.run_id,
      projectId: run.project_id,
      name: run.run_name,
      answer: contentToText(run.output?.message),
    },
  };
  const commits = commit ? [commit] : await findCommits(client, run.run_id);
  const pulled = await findTemplate(client, commits, messages);
  if (pulled) {
    const { tools, toolChoice } = literal;
    const prompt = { ...pulled.prompt, ...(tools.length > 0 && { tools, toolChoice }) };
    return { draft: { ...newDraft(prompt, choice), ...base, inputs: pulled.inputs }, notes };
  }
  const [first] = commits;
  const unmatched = first && [
    `The call used ${pullName(first)} at ${first.commit_hash.slice(0, 8)}, but its messages do not follow from that ` +
      "template. They are shown as they were sent.",
  ];
  return { draft: { ...newDraft(literal, choice), ...base }, notes: [...notes, ...(unmatched ?? [])] };
}

interface UsedCommit {
  owner: string;
  repo: string;
  commit_hash: string;
}

/** Limit on the commits whose templates are compared with a call. */
const MAX_COMMITS = 5;

/** Returns the commits that a call's trace names: LangChain records them with the template's run, not with the call. */
async function findCommits(client: QueryClient, runId: string): Promise<UsedCommit[]> {
  const { trace_id: trace } = await client.fetchQuery(runQuery(runId));
  const body = { trace, run_type: "prompt" as const, select: ["id" as const, "extra" as const], limit: 20 };
  const { runs } = await data(traceApi.POST("/api/v1/runs/query", { body }));
  const commits = new Map<string, UsedCommit>();
  for (const run of runs) {
    const { lc_hub_owner: owner, lc_hub_repo: repo, lc_hub_commit_hash: hash } = readMetadata(run);
    if (typeof repo !== "string" || typeof hash !== "string") continue;
    commits.set(hash, { owner: typeof owner === "string" && owner !== "" ? owner : "-", repo, commit_hash: hash });
  }
  return [...commits.values()].slice(0, MAX_COMMITS);
}

/** Returns the template that renders to the messages, with the values of its variables. */
async function findTemplate(client: QueryClient, commits: readonly UsedCommit[], messages: readonly PlayedMessage[]) {
  for (const { owner, repo, commit_hash: hash } of commits) {
    // a run may outlive its prompt
    const pulled = await fetchCommit(client, owner, repo, hash).catch(() => null);
    const inputs = pulled && matchTemplate(pulled.prompt, messages);
    if (inputs) return { prompt: { ...pulled.prompt, origin: pulled.origin }, inputs };
  }
  return null;
}

/** Chooses a connection that can serve the model, or the first that is ready. */
async function completeModel(client: QueryClient, choice: ModelChoice): Promise<ModelChoice> {
  if (choice.connectionId !== null) return choice;
  const none = () => null;
  const [connections, providers, secrets] = await Promise.all([
    client.fetchQuery(connectionsQuery).catch(none),
    client.fetchQuery(providersQuery).catch(none),
    client.fetchQuery(secretNamesQuery).catch(none),
  ]);
  const usable = (connections?.connections ?? []).filter(({ ready }) => ready);
  const own = usable.find(({ provider }) => provider === choice.provider);
  const known = new Set((secrets ?? []).map(({ key }) => key));
  const hasKeys = (id: string) =>
    providers?.providers.some(
      (provider) =>
        provider.id === id &&
        provider.installed &&
        provider.secrets.every((secret) => !secret.required || known.has(secret.key)),
    );
  if (!own && choice.provider !== null && hasKeys(choice.provider)) return choice;
  const connection = own ?? usable[0];
  if (!connection) return choice;
  // a model's name means nothing to another provider
  const model = own && choice.model !== "" ? choice.model : (connection.default_model ?? choice.model);
  return { ...choice, connectionId: connection.id, provider: null, model };
}
