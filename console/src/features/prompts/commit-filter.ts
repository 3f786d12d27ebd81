/** Returns the filter for runs whose metadata names a commit of a prompt, as the SDKs record it. */
export const commitFilter = (hash: string): string =>
  `and(eq(metadata_key, "lc_hub_commit_hash"), eq(metadata_value, ${JSON.stringify(hash)}))`;
