import type { AuthHandlers, HandlerInput } from "./auth-user.ts";
import { describeRequest } from "../python-code/describe-request.ts";
import type { PythonCode } from "../python-code/python-code.ts";

/** The handlers of the project's `langgraph_sdk.Auth`, which run in the process of its Python code. */
export function pythonAuth(code: PythonCode): AuthHandlers | null {
  const description = code.ready?.auth;
  if (!description) return null;
  const decide = async (input: HandlerInput): Promise<unknown> => {
    const { resource, action, value, user, permissions } = input;
    const question = JSON.stringify({ resource, action, value, user, permissions });
    const text = await code.process.call((id) => ({ t: "auth.decide", id }), question);
    const answer = JSON.parse(text.toString()) as { result: unknown; value: Record<string, unknown> };
    // a handler's changes take effect
    for (const name of Object.keys(value)) if (!(name in answer.value)) delete value[name];
    Object.assign(value, answer.value);
    return answer.result;
  };
  const authenticate = async (request: Request): Promise<unknown> => {
    const body = request.body === null ? "" : Buffer.from(await request.arrayBuffer());
    const described = describeRequest(request);
    const text = await code.process.call((id) => ({ t: "auth.authenticate", id, request: described }), body);
    return JSON.parse(text.toString());
  };
  return {
    authenticate: description.authenticates ? authenticate : undefined,
    callbacks: Object.fromEntries(description.events.map((event) => [event, decide])),
  };
}
