/** Types of runs, as clients send them in small letters (contract §1.6). */
export const RUN_TYPES = ["tool", "chain", "llm", "retriever", "embedding", "prompt", "parser"] as const;
