/** Reads the machine's monotonic clock in ms. It is the same in all processes; clock faults do not affect it. */
export const now = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;
