export const SYSTEM_PROMPT_TEMPLATE = `You are a helpful assistant. System time: {system_time}`;
