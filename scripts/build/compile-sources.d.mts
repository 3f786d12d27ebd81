/** Returns the directory of the compiled files. `root`: the checkout. */
export function compileSources(root: string): Promise<string>;
