/** JavaScript graphs that wait for themselves. */
import { testSelfWait } from "../../../test/self-wait.ts";

const SDK = ["wait", "stream", "join", "join-stream", "join-queued", "remote"];
const OTHER = ["protocol", "protocol-events", "a2a", "a2a-stream"];
// "mcp": its runs have their own threads, and an answer to a busy one is rejected at once
testSelfWait("langgraph.json", [...SDK, ...OTHER], ["create", "elsewhere", "a2a-later", "a2a-elsewhere", "mcp"]);
