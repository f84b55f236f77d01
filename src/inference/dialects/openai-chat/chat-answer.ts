import type { AnswerForm } from '../answer-meter.js';
import { readChatUsage } from './chat-usage.js';

export const CHAT_ANSWER: AnswerForm = {
  outputFields: ['"content":', '"reasoning_content":', '"reasoning":', '"arguments":', '"refusal":', '"data":'],
  usageIn: ({ usage }) => readChatUsage(usage),
  isUsageAlone: ({ choices }) => Array.isArray(choices) && choices.length === 0,
};
