/** Code samples of empty pages, with this installation's addresses and a placeholder for an API key. */
import type { Sample } from "../../ui/code-sample.tsx";

export interface Access {
  /** Address of the space, such as `http://127.0.0.1:3000/api/trace`. */
  url: string;
  /** API key or its placeholder; null if none is required. */
  key: string | null;
}

const quoted = (text: string) => JSON.stringify(text);

/** Returns a value for the tracing clients, which do not start without a key. */
const traceKey = ({ key }: Access): string => key ?? "none";

export function tracingSamples(access: Access, project: string): Sample[] {
  const environment = [
    "export LANGSMITH_TRACING=true",
    `export LANGSMITH_ENDPOINT=${access.url}`,
    `export LANGSMITH_API_KEY=${/[<>]/.test(traceKey(access)) ? `'${traceKey(access)}'` : traceKey(access)}`,
    `export LANGSMITH_PROJECT=${quoted(project)}`,
  ].join("\n");
  return [
    {
      language: "Python",
      code: `${environment}\n\npip install langsmith\npython - <<'EOF'\nfrom langsmith import traceable\n\n@traceable\ndef answer(question: str) -> str:\n    return "42"\n\nanswer("What is the answer?")\nEOF`,
    },
    {
      language: "TypeScript",
      code: `${environment}\n\nnpm install langsmith\nnode --input-type=module <<'EOF'\nimport { Client } from "langsmith";\nimport { traceable } from "langsmith/traceable";\n\nconst client = new Client();\nconst answer = traceable(async (question) => "42", { name: "answer", client });\nawait answer("What is the answer?");\nawait client.awaitPendingTraceBatches();\nEOF`,
    },
  ];
}

export function runSamples({ url, key }: Access, assistant: string): Sample[] {
  const pythonKey = key === null ? "" : `, api_key=${quoted(key)}`;
  const scriptKey = key === null ? "" : `, apiKey: ${quoted(key)}`;
  const input = `{"messages": [{"role": "user", "content": "What is the weather in Berlin?"}]}`;
  return [
    {
      language: "Python",
      code: `from langgraph_sdk import get_sync_client\n\nclient = get_sync_client(url=${quoted(url)}${pythonKey})\nthread = client.threads.create()\nresult = client.runs.wait(\n    thread["thread_id"],\n    ${quoted(assistant)},\n    input=${input},\n)\nprint(result)`,
    },
    {
      language: "TypeScript",
      code: `import { Client } from "@langchain/langgraph-sdk";\n\nconst client = new Client({ apiUrl: ${quoted(url)}${scriptKey} });\nconst thread = await client.threads.create();\nconst result = await client.runs.wait(thread.thread_id, ${quoted(assistant)}, {\n  input: { messages: [{ role: "user", content: "What is the weather in Berlin?" }] },\n});\nconsole.log(result);`,
    },
  ];
}

export function datasetSamples(access: Access, name: string): Sample[] {
  const [url, key] = [quoted(access.url), quoted(traceKey(access))];
  return [
    {
      language: "Python",
      code: `from langsmith import Client\n\nclient = Client(api_url=${url}, api_key=${key})\ndataset = client.create_dataset(${quoted(name)})\nclient.create_examples(\n    dataset_id=dataset.id,\n    examples=[{"inputs": {"question": "2 + 2?"}, "outputs": {"answer": "4"}}],\n)`,
    },
    {
      language: "TypeScript",
      code: `import { Client } from "langsmith";\n\nconst client = new Client({ apiUrl: ${url}, apiKey: ${key} });\nconst dataset = await client.createDataset(${quoted(name)});\nawait client.createExamples([\n  { dataset_id: dataset.id, inputs: { question: "2 + 2?" }, outputs: { answer: "4" } },\n]);`,
    },
  ];
}

/** @param name as clients take it: `name`, or `owner/name` */
export function promptSamples(access: Access, name: string): Sample[] {
  const [url, key] = [quoted(access.url), quoted(traceKey(access))];
  return [
    {
      language: "Python",
      code: `from langchain_core.prompts import ChatPromptTemplate\nfrom langsmith import Client\n\nclient = Client(api_url=${url}, api_key=${key})\nprompt = ChatPromptTemplate([\n    ("system", "You are a helpful assistant."),\n    ("human", "{question}"),\n])\nclient.push_prompt(${quoted(name)}, object=prompt)`,
    },
    {
      language: "TypeScript",
      code: `import { ChatPromptTemplate } from "@langchain/core/prompts";\nimport { Client } from "langsmith";\n\nconst client = new Client({ apiUrl: ${url}, apiKey: ${key} });\nconst prompt = ChatPromptTemplate.fromMessages([\n  ["system", "You are a helpful assistant."],\n  ["human", "{question}"],\n]);\nawait client.pushPrompt(${quoted(name)}, { object: prompt });`,
    },
    {
      language: "Shell",
      code: `${cliLogin(access)}npx heddle prompts push ${name} --url ${access.url}`,
    },
  ];
}

/**
 * @param name as clients take it: `name`, or `owner/name`
 * @param version tag or hash
 */
export function pullSamples(access: Access, name: string, version: string): Sample[] {
  const [url, key] = [quoted(access.url), quoted(traceKey(access))];
  const pulled = quoted(`${name}:${version}`);
  return [
    {
      language: "Python",
      code: `from langsmith import Client\n\nclient = Client(api_url=${url}, api_key=${key})\nprompt = client.pull_prompt(${pulled})`,
    },
    {
      language: "TypeScript",
      code: `import { pull } from "langchain/hub";\n\nconst prompt = await pull(${pulled}, {\n  apiUrl: ${url},\n  apiKey: ${key},\n});`,
    },
    {
      language: "Shell",
      code: `${cliLogin(access)}npx heddle prompts pull ${name}:${version} --url ${access.url}`,
    },
  ];
}

/** Sets the key of commands, which are run in a shell. */
const cliLogin = ({ key }: Access): string =>
  key === null ? "" : `export LANGSMITH_API_KEY=${/[<>]/.test(key) ? `'${key}'` : key}\n`;

export function experimentSamples(access: Access, dataset: string): Sample[] {
  const [url, key] = [quoted(access.url), quoted(traceKey(access))];
  return [
    {
      language: "Python",
      code: `from langsmith import Client\n\ndef target(inputs: dict) -> dict:\n    return {"answer": "4"}\n\ndef correct(outputs: dict, reference_outputs: dict) -> bool:\n    return outputs == reference_outputs\n\nclient = Client(api_url=${url}, api_key=${key})\nclient.evaluate(target, data=${quoted(dataset)}, evaluators=[correct])`,
    },
    {
      language: "TypeScript",
      code: `import { Client } from "langsmith";\nimport { evaluate } from "langsmith/evaluation";\n\nconst client = new Client({ apiUrl: ${url}, apiKey: ${key} });\nawait evaluate(async (inputs) => ({ answer: "4" }), {\n  data: ${quoted(dataset)},\n  evaluators: [\n    ({ outputs, referenceOutputs }) => ({\n      key: "correct",\n      score: JSON.stringify(outputs) === JSON.stringify(referenceOutputs),\n    }),\n  ],\n  client,\n});`,
    },
  ];
}

export function storeSamples({ url, key }: Access): Sample[] {
  const pythonKey = key === null ? "" : `, api_key=${quoted(key)}`;
  const scriptKey = key === null ? "" : `, apiKey: ${quoted(key)}`;
  return [
    {
      language: "Python",
      code: `from langgraph_sdk import get_sync_client\n\nclient = get_sync_client(url=${quoted(url)}${pythonKey})\nclient.store.put_item(["users", "ada"], key="profile", value={"likes": "trains"})`,
    },
    {
      language: "TypeScript",
      code: `import { Client } from "@langchain/langgraph-sdk";\n\nconst client = new Client({ apiUrl: ${quoted(url)}${scriptKey} });\nawait client.store.putItem(["users", "ada"], "profile", { likes: "trains" });`,
    },
  ];
}

export function webhookSamples({ url, key }: Access, assistant: string): Sample[] {
  const pythonKey = key === null ? "" : `, api_key=${quoted(key)}`;
  const scriptKey = key === null ? "" : `, apiKey: ${quoted(key)}`;
  return [
    {
      language: "Python",
      code: `from langgraph_sdk import get_sync_client\n\nclient = get_sync_client(url=${quoted(url)}${pythonKey})\nclient.runs.create(\n    None,\n    ${quoted(assistant)},\n    input={},\n    webhook="https://example.com/hook",\n)`,
    },
    {
      language: "TypeScript",
      code: `import { Client } from "@langchain/langgraph-sdk";\n\nconst client = new Client({ apiUrl: ${quoted(url)}${scriptKey} });\nawait client.runs.create(null, ${quoted(assistant)}, {\n  input: {},\n  webhook: "https://example.com/hook",\n});`,
    },
  ];
}

export function cronSamples({ url, key }: Access, assistant: string): Sample[] {
  const pythonKey = key === null ? "" : `, api_key=${quoted(key)}`;
  const scriptKey = key === null ? "" : `, apiKey: ${quoted(key)}`;
  return [
    {
      language: "Python",
      code: `from langgraph_sdk import get_sync_client\n\nclient = get_sync_client(url=${quoted(url)}${pythonKey})\nclient.crons.create(\n    ${quoted(assistant)},\n    schedule="0 9 * * 1-5",\n    input={"messages": [{"role": "user", "content": "Good morning"}]},\n)`,
    },
    {
      language: "TypeScript",
      code: `import { Client } from "@langchain/langgraph-sdk";\n\nconst client = new Client({ apiUrl: ${quoted(url)}${scriptKey} });\nawait client.crons.create(${quoted(assistant)}, {\n  schedule: "0 9 * * 1-5",\n  input: { messages: [{ role: "user", content: "Good morning" }] },\n});`,
    },
  ];
}

/** @param access of the control plane */
export function deploySamples(access: Access): Sample[] {
  return [{ language: "Shell", code: `${cliLogin(access)}npx heddle deploy --url ${access.url} --name my-agent` }];
}
