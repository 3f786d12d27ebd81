import { z } from "zod";

import { isoTime, storableText, uuid } from "../../base/http/fields.ts";

const time = z.iso.datetime().nullable();

const fields = {
  id: uuid,
  short_key: z.string(),
  description: z.string(),
  read_only: z.boolean(),
  created_at: time,
  last_used_at: time,
  expires_at: time,
  workspace_names: z.array(z.string()).nullable(),
  default_workspace_name: z.string().nullable(),
};

export const apiKey = z.object(fields).meta({ id: "ApiKey" });

export const newApiKey = z.object({ ...fields, key: z.string().describe("Shown only once") }).meta({ id: "NewApiKey" });

export const apiKeyRequest = z
  .object({
    description: storableText.min(1).max(1000).default("Default API key"),
    read_only: z.boolean().default(false),
    expires_at: isoTime.nullish(),
    workspaces: z.array(uuid).min(1).max(1000).nullish(),
    role_id: uuid.nullish(),
    org_role_id: uuid.nullish(),
    default_workspace_id: uuid.nullish(),
  })
  .meta({ id: "ApiKeyCreate" });

export type ApiKeyRequest = z.output<typeof apiKeyRequest>;

export const apiKeyId = z.object({ api_key_id: uuid });

export const personalKeyId = z.object({ pat_id: uuid });
