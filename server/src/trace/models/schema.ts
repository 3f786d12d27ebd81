import { z } from "zod";

import { jsonObject, storableText, uuid } from "../../base/http/fields.ts";
import { secretKey } from "../workspace-secrets/schema.ts";
import { PROVIDER_IDS } from "./providers.ts";

/** Most connections of a workspace. */
export const MAX_CONNECTIONS = 100;

const settings = z.record(z.string().max(64), storableText.min(1).max(2048));
const secrets = z.record(z.string().max(64), secretKey);
const modelName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[\x20-\x7e]+$/, "must be ASCII text");

export const createBody = z
  .object({
    name: storableText.trim().min(1).max(128),
    provider: z.enum(PROVIDER_IDS),
    settings: settings.default({}),
    secrets: secrets.default({}),
    default_model: modelName.nullish(),
    embedding_model: modelName.nullish(),
  })
  .meta({ id: "ModelConnectionCreate" });

/** Missing fields stay unchanged; objects are replaced. */
export const patchBody = z
  .object({
    name: storableText.trim().min(1).max(128).optional(),
    settings: settings.optional(),
    secrets: secrets.optional(),
    default_model: modelName.nullish(),
    embedding_model: modelName.nullish(),
  })
  .meta({ id: "ModelConnectionUpdate" });

export const connection = z
  .object({
    id: z.guid(),
    name: z.string(),
    provider: z.string(),
    settings: z.record(z.string(), z.string()),
    secrets: z.record(z.string(), z.string()),
    default_model: z.string().nullable(),
    embedding_model: z.string().nullable(),
    ready: z.boolean(),
    problem: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "ModelConnection" });

export const connections = z.object({ connections: z.array(connection) });

export const connectionParams = z.object({ connection_id: uuid });
export const providerParams = z.object({ provider: z.string().max(64) });

export const testBody = z.object({ model: modelName.nullish() }).meta({ id: "ModelConnectionTest" });

export const failure = z
  .object({
    kind: z.string(),
    status: z.int().nullable(),
    message: z.string(),
    retry_after_seconds: z.int().nullable(),
  })
  .meta({ id: "ModelFailure" });

export const testResult = z
  .object({
    ok: z.boolean(),
    latency_ms: z.int(),
    model: z.string(),
    text: z.string().nullable(),
    error: failure.nullable(),
    run_id: z.guid(),
  })
  .meta({ id: "ModelConnectionTestResult" });

export const modelList = z.object({ models: z.array(z.object({ id: z.string() })) }).meta({ id: "ModelList" });

export const providers = z
  .object({
    providers: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        package: z.string(),
        installed: z.boolean(),
        install_command: z.string(),
        secrets: z.array(
          z.object({ name: z.string(), key: z.string(), required: z.boolean(), description: z.string() }),
        ),
        settings: z.array(
          z.object({
            name: z.string(),
            type: z.literal("string"),
            required: z.boolean(),
            default: z.string().nullable(),
            description: z.string(),
          }),
        ),
        parameters: jsonObject,
        supports: z.record(z.string(), z.boolean()),
        models: z.array(z.string()),
        embedding_models: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: "ModelProviders" });

const money = z.string();

export const budgetBody = z
  .object({
    limit_usd: z
      .union([
        z.number().min(0).max(10_000_000),
        z.string().regex(/^\d{1,8}(\.\d{1,12})?$/, "must be a decimal number"),
      ])
      .transform(String)
      .nullable(),
  })
  .meta({ id: "ModelBudgetUpdate" });

export const budget = z
  .object({
    month: z.string(),
    limit_usd: money.nullable(),
    spent_usd: money,
    reserved_usd: money,
    remaining_usd: money.nullable(),
    calls: z.int(),
    tokens: z.int(),
    resets_at: z.string(),
  })
  .meta({ id: "ModelBudget" });
