/** Runs tasks a few at a time. After a failure no other starts; those that run are waited for, so that nothing is lost. */
export async function inParallel<T>(
  items: readonly T[],
  concurrency: number,
  task: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const failures: unknown[] = [];
  const work = async () => {
    while (failures.length === 0) {
      const item = waiting.shift();
      if (item === undefined) return;
      try {
        await task(item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work));
  if (failures.length > 0) throw failures[0];
}
