import { z } from "zod";

import { jsonObject, notBuilt, storableText, uuid } from "../../base/http/fields.ts";

/** Most saved configurations of a workspace. */
export const MAX_SETTINGS = 500;

const options = z.object({ requests_per_second: z.int().min(1).max(1000).nullish() });

const oauth = {
  oauth_enabled: z.literal(false, "is not supported; leave it out").nullish(),
  oauth_token_url: notBuilt("oauth_token_url"),
  oauth_client_id: notBuilt("oauth_client_id"),
  oauth_client_secret: notBuilt("oauth_client_secret"),
  oauth_token_endpoint_auth_method: notBuilt("oauth_token_endpoint_auth_method"),
  oauth_params: notBuilt("oauth_params"),
  oauth_headers: notBuilt("oauth_headers"),
};

const name = storableText.max(256).nullish();
const description = storableText.max(10_000).nullish();

export const createBody = z
  .object({
    name,
    description,
    settings: jsonObject,
    options: options.nullish(),
    settings_type: z.enum(["complex", "simple"]).default("complex"),
    ...oauth,
  })
  .meta({ id: "PlaygroundSettingsCreateRequest" });

const availability = {
  available_in_playground: z.boolean().nullish(),
  available_in_evaluators: z.boolean().nullish(),
  available_in_agent_builder: z.boolean().nullish(),
  available_in_polly: z.boolean().nullish(),
  available_in_insights_heavy: z.boolean().nullish(),
  available_in_insights_light: z.boolean().nullish(),
};
export const AVAILABILITY = Object.keys(availability) as (keyof typeof availability)[];

export const patchBody = z
  .object({
    name,
    description,
    settings: jsonObject.nullish(),
    options: options.nullish(),
    ...availability,
    ...oauth,
  })
  .meta({ id: "PlaygroundSettingsUpdateRequest" });

export const settings = z
  .object({
    id: z.guid(),
    name: z.string().nullable(),
    description: z.string().nullable(),
    settings: jsonObject,
    options: options.nullable(),
    settings_type: z.enum(["complex", "simple"]),
    created_at: z.string(),
    updated_at: z.string(),
    created_by_ls_user_id: z.guid().nullable(),
    updated_by_ls_user_id: z.guid().nullable(),
    available_in_playground: z.boolean(),
    available_in_evaluators: z.boolean(),
    available_in_agent_builder: z.boolean(),
    available_in_polly: z.boolean(),
    available_in_insights_heavy: z.boolean(),
    available_in_insights_light: z.boolean(),
    oauth_enabled: z.boolean().nullable(),
  })
  .meta({ id: "PlaygroundSettingsResponse" });

export const params = z.object({ playground_settings_id: uuid });

export type SettingsCreate = z.output<typeof createBody>;
export type SettingsPatch = z.output<typeof patchBody>;
