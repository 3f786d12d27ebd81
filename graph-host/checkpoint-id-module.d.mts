export const GENERATOR: unique symbol;
export function isIdModule(url: string): boolean;
export function isIdCommonJs(path: string): boolean;
export function replacementModule(url: string): string;
export function replaceExport(exports: { uuid6: (clockseq: number) => string }): void;
