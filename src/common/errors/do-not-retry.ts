/** For an answer that another try would not change, or that must not be asked for twice. SDKs of OpenAI and others obey it. */
export const DO_NOT_RETRY = { 'x-should-retry': 'false' } as const;
