/** Failures of the official suites that are not defects of Heddle, with the reason. Anything else is ours. */
interface KnownFailure {
  suite: string;
  test: RegExp;
  reason: string;
  /** The test is a race: it may pass. */
  sometimes?: true;
}

const KNOWN: KnownFailure[] = [
  {
    suite: "api",
    test: /^subgraphs human in the loop.*no modification/,
    reason: "demands that nested states lack keys that the official server for Python returns",
  },
  {
    suite: "sdk-py",
    test: /test_cancel_(?:a)?sync$/,
    reason:
      "the client reads on until a question, `completed` or `failed`, and both official servers, too, end a cancelled " +
      "run as `interrupted`: the test passes where the graph asks its question within the 100 ms before the cancel",
    sometimes: true,
  },
  {
    suite: "sdk-py",
    test: /test_extensions_sync$/,
    reason:
      "the client gets the question by one connection and the events before it by another, and stops at the question: " +
      "it may miss the last event, also on the official development server",
    sometimes: true,
  },
  ...["sdk-react", "sdk-vue", "sdk-svelte"].map((suite) => ({
    suite,
    test: /marks it failed when the run errors/,
    reason:
      "the run's input, as the state's first values, marks the message as sent, unless the error comes first: fails in " +
      "half of the tries on the official development server, too",
    sometimes: true as const,
  })),
  ...["sdk-vue", "sdk-svelte"].map((suite) => ({
    suite,
    test: /stop(?:\(\))? does not clear stream values/i,
    reason:
      "expects a message that a cancelled node had begun to stay after the state is read; fails likewise on the official " +
      "development server, and passes on the suite's own server, which does not cancel",
  })),
  // parts that Heddle does not have: docs/differences.md
  { suite: "langsmith-js", test: /^Prompt CRUD lifecycle/, reason: "there are no likes of prompts" },
  { suite: "langsmith-js", test: /^evaluators generated client/, reason: "there are no evaluators" },
  {
    suite: "langsmith-js",
    test: /^list shared examples|^clonePublicDataset/,
    reason: "reads what the vendor shares on its own service",
  },
  {
    suite: "langsmith-js",
    test: /^Test share and unshare run$/,
    reason: "fetches a page of the console, which the client expects on port 3000 and this suite does not start",
    sometimes: true,
  },
  {
    suite: "langsmith-js",
    test: /child runs that take a while to resolve/,
    reason: "calls a model, which needs an account",
  },
  {
    suite: "langsmith-python",
    test: /test_prompts(?:_async)?\.test_(?:convert_to_|pull_prompt_include_model)/,
    reason: "calls a model's client, which needs an account",
  },
  { suite: "langsmith-python", test: /\.test_evaluators_generated_client_crud$/, reason: "there are no evaluators" },
  {
    suite: "langsmith-python",
    test: /\.test_tracing_fake_server$/,
    reason: "fails when it stops its own server, whose library has changed",
  },
  {
    suite: "langsmith-python",
    test: /test_evaluation\.test_aevaluate$/,
    reason: "reads a dataset that the vendor shares on its own service",
  },
  {
    suite: "sdk-angular",
    test: /marks the optimistic message failed when submission errors|surfaces errors through its signal API/,
    reason:
      "expects a failed run without its message, which is what the suite's own server sends; fails likewise on the " +
      "official development server",
  },
  {
    suite: "sdk-angular",
    test: /seeds N parallel subagents on reconnect/,
    reason: "also exceeds 20 s on the official development server; its twins of the other libraries pass",
    sometimes: true,
  },
];

/** @returns why a test of a suite fails, if that is known and not a defect of Heddle */
export const reasonFor = (suite: string, test: string): string | undefined =>
  KNOWN.find((failure) => failure.suite === suite && failure.test.test(test))?.reason;

/** @returns whether a test of a suite is known to fail always */
export const alwaysFails = (suite: string, test: string): boolean =>
  KNOWN.some((failure) => failure.suite === suite && failure.test.test(test) && !failure.sometimes);
