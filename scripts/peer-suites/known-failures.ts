/** Failures of the official suites that are not defects of Heddle, with the reason. Anything else is ours. */
interface KnownFailure {
  suite: string;
  test: RegExp;
  reason: string;
}

const KNOWN: KnownFailure[] = [
  {
    suite: "api",
    test: /human in the loop.*no modification/,
    reason: "demands that nested states lack keys that the official server for Python returns",
  },
  {
    suite: "sdk-py",
    test: /test_cancel_(?:a)?sync$/,
    reason:
      "a cancelled run ends as interrupted, after which this client waits; so it does on the official development server",
  },
  {
    suite: "sdk-react",
    test: /marks it failed when the run errors/,
    reason: "also fails on the official development server, whose frames are the same",
  },
  // parts that Heddle does not have: docs/differences.md
  {
    suite: "langsmith-js",
    test: /[Pp]rompt|Context integration \(agent\/skill\)/,
    reason: "there is no prompt hub",
  },
  { suite: "langsmith-js", test: /^annotationqueue/, reason: "there are no annotation queues" },
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
  },
  {
    suite: "langsmith-js",
    test: /child runs that take a while to resolve/,
    reason: "calls a model, which needs an account",
  },
  {
    suite: "langsmith-python",
    test: /test_prompts(?:_async)?\.test_convert_to_/,
    reason: "calls a model's client, which needs an account",
  },
  {
    suite: "langsmith-python",
    test: /\.(?:test_hub_client|test_prompts)(?:_async)?\./,
    reason: "there is no prompt hub",
  },
  { suite: "langsmith-python", test: /annotation_queue/, reason: "there are no annotation queues" },
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
];

/** @returns why a test of a suite fails, if that is known and not a defect of Heddle */
export const reasonFor = (suite: string, test: string): string | undefined =>
  KNOWN.find((failure) => failure.suite === suite && failure.test.test(test))?.reason;
