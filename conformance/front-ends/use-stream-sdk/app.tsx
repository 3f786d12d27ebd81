import "../apps/use-stream-sdk.tsx";
