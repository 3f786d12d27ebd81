/** Opens what the page's address names: the call of a trace, a commit of a prompt, or nothing. */
import type { QueryClient } from "@tanstack/react-query";

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
  const { commit, model, notes } = run;
  const choice = await completeModel(client, {
    connectionId: model.connection_id,
    provider: model.provider,
    model: model.model ?? "",
    parameters: model.parameters,
  });
  const messages = run.messages as PlayedMessage[];
  const literal = readRun({ ...run, messages });
  const base = {
    run: {
      runId: run.run_id,
      projectId: run.project_id,
      name: run.run_name,
      answer: contentToText(run.output),
    },
  };
  if (commit === null) return { draft: { ...newDraft(literal, choice), ...base }, notes };
  const name = `${commit.owner}/${commit.repo}`;
  // a run may outlive its prompt
  const pulled = await fetchCommit(client, commit.owner, commit.repo, commit.commit_hash).catch(() => null);
  const inputs = pulled && matchTemplate(pulled.prompt, messages);
  if (!pulled || !inputs) {
    const reason = pulled ? "its messages do not follow from the template" : "the commit could not be read";
    const note = `The call used ${name} at ${commit.commit_hash.slice(0, 8)}, but ${reason}: its literal messages are shown.`;
    return { draft: { ...newDraft(literal, choice), ...base }, notes: [...notes, note] };
  }
  const { tools, toolChoice } = literal;
  const prompt = { ...pulled.prompt, origin: pulled.origin, ...(tools.length > 0 && { tools, toolChoice }) };
  return { draft: { ...newDraft(prompt, choice), ...base, inputs }, notes };
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
