import { expect, test } from "vitest";

import { priceUsage } from "./price-usage.ts";
import { findUsage, type Usage } from "./usage.ts";

/** Dollars per million tokens, chosen so that each category is recognizable in the sum. */
const price = {
  id: "p",
  tenant_id: null,
  name: "m",
  start_time: null,
  match_pattern: "m",
  match_path: [],
  provider: null,
  prompt_cost: "0.000003",
  completion_cost: "0.000015",
  prompt_cost_details: {
    cache_read: "0.0000003",
    cache_creation: "0.00000375",
    ephemeral_5m_input_tokens: "0.00000375",
    ephemeral_1h_input_tokens: "0.000006",
    audio: "0.00004",
    priority: "0.000006",
    priority_cache_read: "0.0000006",
  },
  completion_cost_details: { audio: "0.00008", reasoning: "0.00002", priority: "0.00003" },
};

const provider = (ls_provider: string) => ({ ls_provider });

interface Case {
  outputs: object;
  metadata?: object;
  /** All tokens of the two sides. */
  tokens: [prompt: number, completion: number];
  /** Cached and reasoning tokens: how they were counted, and how that was found. */
  cached?: string;
  reasoning?: string;
  cost: string;
}

function read({ outputs, metadata }: Pick<Case, "outputs" | "metadata">): Usage {
  return priceUsage(findUsage(outputs, metadata)!, price);
}

const cases: Record<string, Case> = {
  "OpenAI, chat": {
    outputs: {
      usage: {
        prompt_tokens: 2006,
        completion_tokens: 300,
        total_tokens: 2306,
        prompt_tokens_details: { cached_tokens: 1920, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 200, audio_tokens: 0, accepted_prediction_tokens: 0 },
      },
    },
    tokens: [2006, 300],
    cached: "inside by format",
    reasoning: "inside by standard",
    // 86 × 3 + 1920 × 0.3 + 100 × 15 + 200 × 20
    cost: "0.006334",
  },
  "OpenAI, responses": {
    outputs: {
      usage: {
        input_tokens: 328,
        input_tokens_details: { cached_tokens: 128 },
        output_tokens: 52,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 380,
      },
    },
    tokens: [328, 52],
    cached: "inside by format",
    cost: "0.0014184",
  },
  "OpenAI, audio": {
    outputs: {
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { audio_tokens: 80, text_tokens: 20, cached_tokens: 0 },
        completion_tokens_details: { audio_tokens: 40, text_tokens: 10 },
      },
    },
    tokens: [100, 50],
    // 20 × 3 + 80 × 40 + 10 × 15 + 40 × 80
    cost: "0.00661",
  },
  Anthropic: {
    outputs: {
      usage: {
        input_tokens: 19,
        cache_creation_input_tokens: 1000,
        cache_read_input_tokens: 38_000,
        cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 0 },
        output_tokens: 100,
        service_tier: "standard",
      },
    },
    tokens: [39_019, 100],
    cached: "beside by format",
    // 19 × 3 + 38000 × 0.3 + 1000 × 3.75 + 100 × 15
    cost: "0.016707",
  },
  "Anthropic, two lifetimes": {
    outputs: {
      usage: {
        input_tokens: 2048,
        cache_read_input_tokens: 1800,
        cache_creation_input_tokens: 248,
        cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 },
        output_tokens: 503,
      },
    },
    tokens: [4096, 503],
    cached: "beside by format",
    // 2048 × 3 + 1800 × 0.3 + 148 × 3.75 + 100 × 6 + 503 × 15
    cost: "0.015384",
  },
  Gemini: {
    outputs: {
      usageMetadata: {
        promptTokenCount: 1000,
        cachedContentTokenCount: 400,
        candidatesTokenCount: 50,
        thoughtsTokenCount: 200,
        toolUsePromptTokenCount: 30,
        totalTokenCount: 1280,
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 900 },
          { modality: "AUDIO", tokenCount: 100 },
        ],
      },
    },
    tokens: [1030, 250],
    cached: "inside by format",
    reasoning: "beside by format",
    // 530 × 3 + 400 × 0.3 + 100 × 40 + 50 × 15 + 200 × 20
    cost: "0.01046",
  },
  "Gemini in Python": {
    outputs: {
      usage_metadata: {
        prompt_token_count: 10,
        candidates_token_count: 5,
        thoughts_token_count: 20,
        total_token_count: 35,
        cached_content_token_count: null,
      },
    },
    tokens: [10, 25],
    reasoning: "beside by format",
    cost: "0.000505",
  },
  "Bedrock, Converse": {
    outputs: {
      usage: {
        inputTokens: 10,
        outputTokens: 20,
        totalTokens: 1530,
        cacheReadInputTokens: 1000,
        cacheWriteInputTokens: 500,
        cacheDetails: [
          { ttl: "5m", inputTokens: 300 },
          { ttl: "1h", inputTokens: 200 },
        ],
      },
    },
    tokens: [1510, 20],
    cached: "beside by format",
    // 10 × 3 + 1000 × 0.3 + 300 × 3.75 + 200 × 6 + 20 × 15
    cost: "0.002955",
  },
  "Bedrock, metrics of an invocation": {
    outputs: {
      usage: {
        inputTokenCount: 10,
        outputTokenCount: 20,
        cacheReadInputTokenCount: 5,
        cacheWriteInputTokenCount: 0,
        invocationLatency: 1700,
      },
    },
    tokens: [15, 20],
    cached: "beside by format",
    cost: "0.0003315",
  },
  Mistral: {
    outputs: {
      usage: {
        prompt_tokens: 40,
        completion_tokens: 10,
        total_tokens: 50,
        prompt_tokens_details: { cached_tokens: 16 },
      },
    },
    tokens: [40, 10],
    cached: "inside by format",
    cost: "0.0002268",
  },
  xAI: {
    outputs: {
      usage: {
        prompt_tokens: 32,
        completion_tokens: 9,
        total_tokens: 135,
        prompt_tokens_details: { text_tokens: 32, audio_tokens: 0, image_tokens: 0, cached_tokens: 6 },
        completion_tokens_details: { reasoning_tokens: 94, audio_tokens: 0 },
      },
    },
    tokens: [32, 103],
    cached: "inside by format",
    reasoning: "beside by numbers",
    // 26 × 3 + 6 × 0.3 + 9 × 15 + 94 × 20
    cost: "0.0020948",
  },
  "xAI without a total": {
    outputs: {
      usage: { prompt_tokens: 32, completion_tokens: 90, completion_tokens_details: { reasoning_tokens: 10 } },
    },
    metadata: provider("xai"),
    tokens: [32, 100],
    reasoning: "beside by provider",
    cost: "0.001646",
  },
  DeepSeek: {
    outputs: {
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_cache_hit_tokens: 64,
        prompt_cache_miss_tokens: 36,
        completion_tokens_details: { reasoning_tokens: 30 },
      },
    },
    tokens: [100, 50],
    cached: "inside by format",
    reasoning: "inside by standard",
    // 36 × 3 + 64 × 0.3 + 20 × 15 + 30 × 20
    cost: "0.0010272",
  },
  "a gateway that adds Anthropic's names to OpenAI's": {
    outputs: {
      usage: {
        prompt_tokens: 2000,
        completion_tokens: 10,
        total_tokens: 2010,
        prompt_tokens_details: { cached_tokens: 1000, cache_creation_tokens: 500 },
        cache_read_input_tokens: 1000,
        cache_creation_input_tokens: 500,
      },
    },
    tokens: [2000, 10],
    cached: "inside by standard",
    // 500 × 3 + 1000 × 0.3 + 500 × 3.75 + 10 × 15
    cost: "0.003825",
  },
  Ollama: {
    outputs: { message: { role: "assistant", content: "" }, prompt_eval_count: 26, eval_count: 259 },
    tokens: [26, 259],
    cost: "0.003963",
  },
  "Anthropic's wrapper in Python": {
    outputs: {
      usage_metadata: {
        input_tokens: 39_019,
        output_tokens: 100,
        total_tokens: 39_119,
        input_token_details: { cache_read: 38_000, ephemeral_5m_input_tokens: 1000 },
      },
    },
    tokens: [39_019, 100],
    cached: "inside by standard",
    cost: "0.016707",
  },
  "wrappers that spell an hour as 1hr": {
    outputs: {
      usage_metadata: {
        input_tokens: 1100,
        output_tokens: 0,
        total_tokens: 1100,
        input_token_details: { ephemeral_1hr_input_tokens: 1000 },
      },
    },
    tokens: [1100, 0],
    cached: "inside by standard",
    cost: "0.0063",
  },
  "OpenAI's wrapper with a tier of service": {
    outputs: {
      usage_metadata: {
        input_tokens: 1000,
        output_tokens: 100,
        total_tokens: 1100,
        input_token_details: { audio: 0, priority_cache_read: 600, priority: 400 },
        output_token_details: { audio: 0, priority_reasoning: 60, priority: 40 },
      },
    },
    tokens: [1000, 100],
    cached: "inside by standard",
    reasoning: "inside by standard",
    // 400 × 6 + 600 × 0.6 + 100 × 30
    cost: "0.00576",
  },
  "Gemini's wrapper, whose output has no reasoning": {
    outputs: {
      usage_metadata: {
        input_tokens: 10,
        output_tokens: 5,
        total_tokens: 35,
        input_token_details: {},
        output_token_details: { reasoning: 20, over_200k: 0 },
      },
    },
    tokens: [10, 25],
    reasoning: "beside by numbers",
    cost: "0.000505",
  },
  "Gemini's wrapper with prompts of tools": {
    outputs: {
      usage_metadata: {
        input_tokens: 10,
        output_tokens: 5,
        total_tokens: 65,
        output_token_details: { reasoning: 20 },
      },
    },
    metadata: provider("google"),
    tokens: [40, 25],
    reasoning: "beside by numbers",
    cost: "0.000595",
  },
  "LangChain's message": {
    outputs: {
      generations: [
        [
          {
            message: {
              kwargs: {
                usage_metadata: {
                  input_tokens: 100,
                  output_tokens: 10,
                  total_tokens: 110,
                  input_token_details: { cache_creation: 0, cache_read: 40, ephemeral_5m_input_tokens: 30 },
                },
              },
            },
          },
        ],
      ],
    },
    tokens: [100, 10],
    cached: "inside by standard",
    // 30 × 3 + 40 × 0.3 + 30 × 3.75 + 10 × 15
    cost: "0.0003645",
  },
  "LangChain for Bedrock, where the total has what the input has not": {
    outputs: {
      usage_metadata: {
        input_tokens: 10,
        output_tokens: 20,
        total_tokens: 1030,
        input_token_details: { cache_read: 900, cache_creation: 100 },
      },
    },
    tokens: [1010, 20],
    cached: "beside by numbers",
    // 10 × 3 + 900 × 0.3 + 100 × 3.75 + 20 × 15
    cost: "0.000975",
  },
  "LangChain.js's older totals": {
    outputs: { llm_output: { tokenUsage: { promptTokens: 10, completionTokens: 2, totalTokens: 12 } } },
    tokens: [10, 2],
    cost: "0.00006",
  },
  "cached tokens beside the input of usage_metadata": {
    outputs: {
      usage_metadata: {
        input_tokens: 19,
        output_tokens: 0,
        input_token_details: { cache_read: 38_000, cache_creation: 1000 },
      },
    },
    tokens: [39_019, 0],
    cached: "beside by numbers",
    cost: "0.015207",
  },
  "written tokens as a sum and by lifetime": {
    outputs: {
      usage_metadata: {
        input_tokens: 2000,
        output_tokens: 0,
        total_tokens: 2000,
        input_token_details: { cache_creation: 1000, ephemeral_5m_input_tokens: 1000 },
      },
    },
    tokens: [2000, 0],
    cached: "inside by standard",
    cost: "0.00675",
  },
  "written tokens, some with a lifetime": {
    outputs: {
      usage_metadata: {
        input_tokens: 2000,
        output_tokens: 0,
        total_tokens: 2000,
        input_token_details: { cache_creation: 1000, ephemeral_1h_input_tokens: 400 },
      },
    },
    tokens: [2000, 0],
    cached: "inside by standard",
    // 1000 × 3 + 600 × 3.75 + 400 × 6
    cost: "0.00765",
  },
  "the Vercel AI SDK 5 with Anthropic": {
    outputs: { usage: { inputTokens: 19, outputTokens: 10, totalTokens: 29, cachedInputTokens: 15 } },
    metadata: provider("anthropic.messages"),
    tokens: [34, 10],
    cached: "beside by format",
    cost: "0.0002115",
  },
  "the Vercel AI SDK 5 with OpenAI": {
    outputs: {
      usage: { inputTokens: 19, outputTokens: 10, totalTokens: 29, reasoningTokens: 4, cachedInputTokens: 15 },
    },
    metadata: provider("openai.responses"),
    tokens: [19, 10],
    cached: "inside by format",
    reasoning: "inside by standard",
    cost: "0.0001865",
  },
  "the Vercel AI SDK 6 and 7": {
    outputs: {
      usage: {
        inputTokens: { total: 19, noCache: 4, cacheRead: 15, cacheWrite: undefined },
        outputTokens: { total: 10, text: 6, reasoning: 4 },
      },
    },
    tokens: [19, 10],
    cached: "inside by standard",
    reasoning: "inside by standard",
    cost: "0.0001865",
  },
};

test.each(Object.entries(cases))("counts and bills each token once: %s", (_, expected) => {
  const { prompt_tokens, completion_tokens, total_tokens, total_cost, basis } = read(expected);
  expect([prompt_tokens ?? 0, completion_tokens ?? 0]).toEqual(expected.tokens);
  expect(total_tokens).toBe(expected.tokens[0] + expected.tokens[1]);
  const found = (name: "cached_tokens" | "reasoning_tokens") =>
    basis?.[name] && `${basis[name]} by ${basis[`${name}_by`]}`;
  expect({ cached: found("cached_tokens"), reasoning: found("reasoning_tokens"), cost: total_cost }).toEqual({
    cached: expected.cached,
    reasoning: expected.reasoning,
    cost: expected.cost,
  });
  expect(basis?.cost).toBe("price");
});

test("says what was billed otherwise than its category says", () => {
  const notes = (usage_metadata: object, of: Partial<typeof price> = {}) =>
    priceUsage(findUsage({ usage_metadata }, undefined)!, { ...price, ...of }).basis?.notes;
  // cached audio is in both categories
  expect(notes({ input_tokens: 1000, input_token_details: { cache_read: 500, audio: 800 } })).toEqual([
    "300 of 800 tokens of audio are also in other categories, billed once",
  ]);
  const unpriced = { prompt_cost_details: { cache_read: "0.1" } as never };
  expect(notes({ input_tokens: 9, input_token_details: { cache_read: 1, cache_creation: 2 } }, unpriced)).toEqual([
    "no price for cache_creation: its 2 tokens cost the general price",
  ]);
  const once = { prompt_cost_details: { cache_creation: "0.1" } as never };
  expect(notes({ input_tokens: 9, input_token_details: { ephemeral_1h_input_tokens: 2 } }, once)).toEqual([
    "no price for ephemeral_1h_input_tokens: its 2 tokens cost the price of cache_creation",
  ]);
  expect(notes({ input_tokens: 9, output_tokens: 1 })).toBeUndefined();
});

test("keeps the costs that a client reports", () => {
  const usage = read({ outputs: { usage_metadata: { input_tokens: 5, total_cost: 1 } } });
  expect(usage).toMatchObject({ total_cost: "1", basis: { cost: "client" } });
  expect(usage.prompt_cost).toBeUndefined();
});
