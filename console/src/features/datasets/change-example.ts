interface Values {
  outputs: Record<string, unknown> | null | undefined;
  splits: string[];
}

/**
 * Builds the change of an example's outputs and splits. A field that it omits keeps its value, so removed outputs are
 * sent as an empty object, and removed splits as the one that examples have without any.
 */
export const changeExample = (before: Values, { outputs, splits }: Values) => ({
  ...(outputs != null ? { outputs } : before.outputs != null && { outputs: {} }),
  ...(splits.length > 0 ? { split: splits } : before.splits.length > 0 && { split: ["base"] }),
});
