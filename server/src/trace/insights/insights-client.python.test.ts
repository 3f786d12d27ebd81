/** Methods of the official Python client: `generate_insights`, `poll_insights`, `get_insights_report`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { getRequestListener } from "@hono/node-server";
import { expect, test } from "vitest";

import { atEnd } from "../../../test/at-end.ts";
import { modelServer } from "../../../test/model-server.ts";
import { openGuard } from "../../../test/principal.ts";
import { nameByTopic, TOPICS } from "../../../test/topic-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { createTraceApp } from "../../trace-app.ts";

const PROGRAM = `
import json, sys, warnings
warnings.simplefilter("ignore")
from langsmith import Client

topics = json.loads(sys.argv[1])
client = Client(info={"batch_ingest_config": {"use_multipart_endpoint": True, "size_limit": 100, "size_limit_bytes": 20000000, "scale_up_nthreads_limit": 1, "scale_up_qsize_trigger": 1000}})
histories = [
    [{"role": "user", "content": " ".join(words.split()[i % 2 : i % 2 + 7])}, {"role": "assistant", "content": "ok"}]
    for i in range(12) for words in topics.values()
]
report = client.generate_insights(chat_histories=histories, name="Conversation topics", openai_api_key="sk-test-0123456789")
done = client.poll_insights(report=report, rate=1, timeout=60)
result = client.get_insights_report(report=report)
first = result.clusters[0]
print("RESULT " + json.dumps({
    "status": done.status,
    "name": result.name,
    "names": sorted(cluster.name for cluster in result.clusters),
    "runs": len(result.runs),
    "of_first": len(first.load_traces()) == first.num_runs,
    "by_name": result.clusters[first.name].level,
    "key_points": len(result.report.key_points) > 0,
    "highlighted": len(result.report.highlighted_traces),
}))
`;

test("generates insights over chat histories, polls, and fetches the report", async () => {
  const provider = await modelServer();
  const { call, platform } = await testTracePlatform({ HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}` });
  provider.script = (asked) => nameByTopic(asked);
  const settings = { base_url: `${provider.url}/v1` };
  await call("POST", "/models/connections", { name: "fake", provider: "openai", settings });
  const listener = getRequestListener(createTraceApp(platform.deps, openGuard).fetch);
  const server = createServer((request, response) => void listener(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const python = spawn(process.env["HEDDLE_PYTHON"]!, ["-c", PROGRAM, JSON.stringify(TOPICS)], {
    env: {
      ...process.env,
      LANGSMITH_ENDPOINT: `http://127.0.0.1:${port}`,
      LANGSMITH_API_KEY: "key",
      LANGSMITH_TRACING: "false",
    },
  });
  let output = "";
  python.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  python.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await once(python, "close");
  const line = /^RESULT (.*)$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(output);
  expect(JSON.parse(line)).toEqual({
    status: "success",
    name: "Conversation topics",
    names: ["billing", "coding", "login", "shipping", "travel"].map((topic) => `Questions about ${topic}`),
    runs: 60,
    of_first: true,
    by_name: 0,
    key_points: true,
    highlighted: 5,
  });
}, 120_000);
