import type { Transaction } from "../../base/db/connect.ts";
import { AppError, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { checkWebhook } from "../../base/webhooks/check-webhook.ts";
import type { TraceDeps } from "../deps.ts";
import { RULES } from "../prompt-webhooks/prompt-webhooks.ts";
import type { ActionInput } from "./channel-schema.ts";
import { enqueueMessages, selectToldIncidents, selectWaitingChannels } from "./message-sql.ts";
import {
  type Channel,
  type ChannelInput,
  type ChannelSecrets,
  joinChannel,
  putChannelSecrets,
  readChannelSecrets,
  splitChannel,
  unmaskChannel,
} from "./secrets.ts";
import type * as rows from "./sql.ts";

type Deps = Pick<TraceDeps, "secrets" | "outbound" | "settings">;

/**
 * Replaces the channels of a locked rule by those of a body. One that is removed is told first that what it knows as
 * firing has ended for it, and is kept until its last message has been sent.
 */
export async function replaceChannels(
  deps: Deps,
  tx: Transaction,
  row: rows.AlertRuleFields,
  inputs: readonly ActionInput[],
): Promise<void> {
  const stored = await readChannelSecrets(deps.secrets, row.rule_id, tx);
  const before = row.actions.filter(({ removed }) => !removed);
  const { actions, values } = takeChannels(deps, inputs, before, stored);
  const dropped = before.filter(({ id }) => !actions.some((action) => action.id === id));
  const told = dropped.length === 0 ? [] : await selectToldIncidents(tx, row.rule_id);
  await enqueueMessages(tx, { ...row, actions: dropped }, "resolved", told, deps.settings.pagerdutyUrl);
  const waiting = await selectWaitingChannels(tx, row.rule_id);
  const gone = row.actions.filter((action) => action.removed || dropped.includes(action));
  const kept = gone.filter(({ id }) => waiting.has(id)).map((action) => ({ ...action, removed: true as const }));
  for (const { id } of kept) if (stored[id]) values[id] = stored[id];
  row.actions = [...actions, ...kept];
  await putChannelSecrets(deps.secrets, row, values, tx);
}

/** Takes the channels of a body. Masked values keep the stored ones of the channel with the same id, else place. */
export function takeChannels(
  { outbound }: Pick<Deps, "outbound">,
  inputs: readonly ActionInput[],
  stored: readonly rows.AlertAction[],
  secrets: ChannelSecrets,
): { actions: rows.AlertAction[]; values: ChannelSecrets; channels: (Channel & { id: string })[] } {
  const actions: rows.AlertAction[] = [];
  const values: ChannelSecrets = {};
  const channels: (Channel & { id: string })[] = [];
  inputs.forEach((input, index) => {
    const place = `actions.${index}`;
    if (input.target === "dynatrace") {
      throw unprocessable(`${place}.target: dynatrace is not supported; use a webhook`);
    }
    const known = stored.find(({ id }) => id === input.id) ?? (input.id == null ? stored[index] : undefined);
    const given = { target: input.target, config: input.config } as ChannelInput;
    const channel = unmaskChannel(given, known && joinChannel(known, secrets[known.id]), place);
    if ("url" in channel.config) checkUrl(outbound, channel.config.url, `${place}.config.url`);
    // an id of a channel of another rule is not taken over: it identifies messages
    const id = known?.target === channel.target ? known.id : uuid7();
    if (actions.some((action) => action.id === id)) throw unprocessable(`${place}.id: occurs twice`);
    const { shown, sealed } = splitChannel(channel);
    actions.push({ id, target: channel.target, config: shown });
    channels.push({ ...channel, id });
    if (sealed) values[id] = sealed;
  });
  return { actions, values, channels };
}

function checkUrl(outbound: Deps["outbound"], url: string, place: string): void {
  try {
    checkWebhook(RULES, outbound, url);
  } catch (error) {
    if (error instanceof AppError) throw unprocessable(`${place}: ${error.message}`);
    throw error;
  }
}
