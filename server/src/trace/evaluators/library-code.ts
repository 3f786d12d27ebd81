import type { CodeEntry } from "./library-entry.ts";

const code = { type: "code", subject: "run" } as const;

/** Deterministic evaluators, in both languages. The constants at the top of each are to be changed. */
export const CODE_EVALUATORS: CodeEntry[] = [
  {
    ...code,
    id: "exact-match",
    name: "Exact match",
    description: "Whether the outputs equal those of the reference, ignoring case and space around texts.",
    key: "exact_match",
    javascript: `function normalize(value) {
  if (typeof value === "string") return value.trim().toLowerCase();
  if (Array.isArray(value)) return value.map(normalize);
  if (value && typeof value === "object")
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, normalize(value[key])]));
  return value;
}

function performEval(run, example) {
  if (!example) return { key: "exact_match", score: 0, comment: "The run has no reference." };
  const same = JSON.stringify(normalize(run.outputs)) === JSON.stringify(normalize(example.outputs));
  return { key: "exact_match", score: same };
}
`,
    python: `def normalize(value):
    if isinstance(value, str):
        return value.strip().lower()
    if isinstance(value, list):
        return [normalize(item) for item in value]
    if isinstance(value, dict):
        return {key: normalize(item) for key, item in value.items()}
    return value


def perform_eval(run, example):
    if example is None:
        return {"key": "exact_match", "score": 0, "comment": "The run has no reference."}
    return {"key": "exact_match", "score": normalize(run["outputs"]) == normalize(example["outputs"])}
`,
  },
  {
    ...code,
    id: "json-valid",
    name: "JSON valid",
    description: "Whether the answer is valid JSON, also within a code fence.",
    key: "json_valid",
    javascript: `function performEval(run) {
  const text = lastText(run.outputs).replace(/^\\s*\`\`\`(json)?\\s*|\\s*\`\`\`\\s*$/g, "");
  try {
    JSON.parse(text);
    return { key: "json_valid", score: true };
  } catch (error) {
    return { key: "json_valid", score: false, comment: String(error) };
  }
}

// the text of the last message, or of the only field with a text
function lastText(outputs) {
  const messages = outputs && outputs.messages;
  const last = Array.isArray(messages) ? messages[messages.length - 1].content : undefined;
  const found = last ?? Object.values(outputs ?? {}).find((value) => typeof value === "string");
  return typeof found === "string" ? found : JSON.stringify(found ?? null);
}
`,
    python: `import json
import re


def perform_eval(run, example):
    text = re.sub(r"^\\s*\`\`\`(json)?\\s*|\\s*\`\`\`\\s*$", "", last_text(run["outputs"]))
    try:
        json.loads(text)
        return {"key": "json_valid", "score": True}
    except ValueError as error:
        return {"key": "json_valid", "score": False, "comment": str(error)}


# the text of the last message, or of the only field with a text
def last_text(outputs):
    outputs = outputs or {}
    messages = outputs.get("messages")
    if messages:
        found = messages[-1].get("content")
    else:
        found = next((value for value in outputs.values() if isinstance(value, str)), None)
    return found if isinstance(found, str) else json.dumps(found)
`,
  },
  {
    ...code,
    id: "contains",
    name: "Contains",
    description: "Whether the outputs contain all of some texts.",
    key: "contains",
    javascript: `const WANTED = ["thank you"];

function performEval(run) {
  const text = JSON.stringify(run.outputs ?? "").toLowerCase();
  const missing = WANTED.filter((each) => !text.includes(each.toLowerCase()));
  return { key: "contains", score: missing.length === 0, comment: missing.length ? "missing: " + missing.join(", ") : "" };
}
`,
    python: `import json

WANTED = ["thank you"]


def perform_eval(run, example):
    text = json.dumps(run["outputs"], ensure_ascii=False).lower()
    missing = [each for each in WANTED if each.lower() not in text]
    return {"key": "contains", "score": not missing, "comment": "missing: " + ", ".join(missing) if missing else ""}
`,
  },
  {
    ...code,
    id: "regex-match",
    name: "Regular expression",
    description: "Whether the outputs match a regular expression.",
    key: "regex_match",
    javascript: `const PATTERN = /\\b[A-Z]{2}-\\d{4}\\b/;

function performEval(run) {
  return { key: "regex_match", score: PATTERN.test(JSON.stringify(run.outputs ?? "")) };
}
`,
    python: `import json
import re

PATTERN = re.compile(r"\\b[A-Z]{2}-\\d{4}\\b")


def perform_eval(run, example):
    return {"key": "regex_match", "score": bool(PATTERN.search(json.dumps(run["outputs"], ensure_ascii=False)))}
`,
  },
  {
    ...code,
    id: "latency-limit",
    name: "Latency limit",
    description: "Whether the run ended within a time.",
    key: "within_latency",
    javascript: `const MAX_SECONDS = 10;

function performEval(run) {
  const seconds = run.latency;
  return { key: "within_latency", score: seconds !== null && seconds <= MAX_SECONDS, comment: seconds + " s" };
}
`,
    python: `MAX_SECONDS = 10


def perform_eval(run, example):
    seconds = run["latency"]
    return {"key": "within_latency", "score": seconds is not None and seconds <= MAX_SECONDS, "comment": f"{seconds} s"}
`,
  },
  {
    ...code,
    id: "cost-limit",
    name: "Cost limit",
    description: "Whether the run cost at most an amount; a root costs what its trace costs.",
    key: "within_cost",
    javascript: `const MAX_USD = 0.05;

function performEval(run) {
  const cost = run.total_cost ?? 0;
  return { key: "within_cost", score: cost <= MAX_USD, comment: cost + " USD" };
}
`,
    python: `MAX_USD = 0.05


def perform_eval(run, example):
    cost = run["total_cost"] or 0
    return {"key": "within_cost", "score": cost <= MAX_USD, "comment": f"{cost} USD"}
`,
  },
];
