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
];

/** @returns why a test of a suite fails, if that is known and not a defect of Heddle */
export const reasonFor = (suite: string, test: string): string | undefined =>
  KNOWN.find((failure) => failure.suite === suite && failure.test.test(test))?.reason;
