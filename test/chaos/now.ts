/** The machine's monotonic clock in ms, the same in all processes; clock faults do not touch it. */
export const now = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;
