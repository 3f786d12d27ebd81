/** A sample: a program, and the published packages that it runs with. */
export interface Sample {
  name: string;
  /** File below `programs`. */
  program: string;
  /** Packages of PyPI, or of npm if the program is a module of Node. */
  packages: string[];
  env?: Record<string, string>;
}

const SDK = "opentelemetry-sdk==1.45.2";
const EXPORTER = "opentelemetry-exporter-otlp-proto-http==1.45.2";
const JS_EXPORTER = ["@opentelemetry/sdk-trace-node@2.12.0", "@opentelemetry/exporter-trace-otlp-proto@0.223.1"];

// the instrumentation does not pin its utilities, and newer ones lack what it imports
const GENAI = [
  "opentelemetry-instrumentation-openai-v2==2.4b0",
  "opentelemetry-util-genai==1.0b0",
  "openai==2.54.0",
  SDK,
  EXPORTER,
];

/** Exporters whose spans the trace platform is tested with, as published in November 2026. */
export const SAMPLES: Sample[] = [
  {
    name: "genai-2.4b0-without-content",
    program: "genai_openai.py",
    packages: GENAI,
  },
  {
    name: "genai-2.4b0",
    program: "genai_openai.py",
    packages: GENAI,
    env: {
      OTEL_SEMCONV_STABILITY_OPT_IN: "gen_ai_latest_experimental",
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "SPAN_ONLY",
    },
  },
  {
    name: "genai-2.0b0",
    program: "genai_openai.py",
    packages: [
      "opentelemetry-instrumentation-openai-v2==2.0b0",
      "openai==1.109.1",
      "opentelemetry-sdk==1.30.0",
      "opentelemetry-exporter-otlp-proto-http==1.30.0",
    ],
    env: { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" },
  },
  {
    name: "openinference-openai",
    program: "openinference_openai.py",
    packages: ["openinference-instrumentation-openai==0.1.66", "openai==3.54.0", SDK, EXPORTER],
  },
  {
    name: "openinference-langchain",
    program: "openinference_langchain.py",
    packages: [
      "openinference-instrumentation-langchain==0.1.80",
      "langchain-openai==1.7.3",
      "langgraph==1.2.22",
      SDK,
      EXPORTER,
    ],
  },
  {
    name: "pydantic-ai-v1",
    program: "pydantic_agent.py",
    packages: [
      "pydantic-ai-slim[openai]==1.0.18",
      "openai==1.109.1",
      "opentelemetry-sdk==1.30.0",
      "opentelemetry-exporter-otlp-proto-http==1.30.0",
    ],
    env: { SAMPLE_VERSION: "1" },
  },
  ...["2", "6"].map((version) => ({
    name: `pydantic-ai-v${version}`,
    program: "pydantic_agent.py",
    packages: ["pydantic-ai-slim[openai]==2.68.0", SDK, EXPORTER],
    env: { SAMPLE_VERSION: version },
  })),
  {
    name: "openai-agents-openinference",
    program: "openai_agents.py",
    packages: ["openai-agents==0.24.0", "openinference-instrumentation-openai-agents==2.6.0", SDK, EXPORTER],
  },
  {
    name: "openai-agents-traceloop",
    program: "openai_agents.py",
    packages: ["openai-agents==0.24.0", "traceloop-sdk==0.62.4"],
    env: { SAMPLE_WITH: "traceloop" },
  },
  {
    name: "crewai",
    program: "crewai_crew.py",
    packages: [
      "crewai==1.15.30",
      "openinference-instrumentation-crewai==1.1.21",
      "openinference-instrumentation-openai==0.1.66",
      SDK,
      EXPORTER,
    ],
  },
  {
    name: "vercel-ai-5",
    program: "vercel-ai.mjs",
    packages: ["ai@5.0.277", "@ai-sdk/openai@2.0.131", "zod@4.6.7", ...JS_EXPORTER],
    env: { SAMPLE_VERSION: "5" },
  },
  {
    name: "vercel-ai-7",
    program: "vercel-ai.mjs",
    packages: ["ai@7.0.173", "@ai-sdk/openai@4.0.118", "@ai-sdk/otel@1.0.173", "zod@4.6.7", ...JS_EXPORTER],
    env: { SAMPLE_VERSION: "7" },
  },
];
