/** JavaScript graphs that wait for themselves. */
import { testSelfWait } from "../../../test/self-wait.ts";

testSelfWait("langgraph.json", ["wait", "stream", "join", "join-stream", "join-queued", "remote"]);
