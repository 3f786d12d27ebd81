export const CHECKPOINT_ID: unique symbol;
export const TASK_CALL: unique symbol;
export function isReplaced(url: string): boolean;
export function replacementModule(url: string): string;
export function replaceExport(path: string, exports: object): void;
