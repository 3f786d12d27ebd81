// Loaded before everything else into test hosts: Date.now is off by SKEW_MS, plus what code sets the global to.
const now = Date.now;
globalThis.clockSkewMs = Number(process.env.SKEW_MS ?? 0);
Date.now = () => now() + globalThis.clockSkewMs;
