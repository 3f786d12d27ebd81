import { RpcError } from "../../base/http/json-rpc.ts";

/** Error codes of the A2A specification. */
const TASK_NOT_FOUND = -32001;
const TASK_NOT_CANCELABLE = -32002;
const PUSH_NOTIFICATION_NOT_SUPPORTED = -32003;
const UNSUPPORTED_OPERATION = -32004;

export const taskNotFound = (id: string): RpcError => new RpcError(TASK_NOT_FOUND, `Task not found: ${id}`);
export const notCancelable = (id: string, state: string): RpcError =>
  new RpcError(TASK_NOT_CANCELABLE, `Task ${id} is ${state} and cannot be canceled.`);
export const unsupported = (message: string): RpcError => new RpcError(UNSUPPORTED_OPERATION, message);
export const pushNotSupported = (): RpcError =>
  new RpcError(PUSH_NOTIFICATION_NOT_SUPPORTED, "Push notifications are not supported. Poll the task or stream it.");
