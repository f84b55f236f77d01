import type { AnswerForm } from '../answer-meter.js';
import { DONE_MARK } from '../end-marks.js';
import { readChatUsage, usageMemberOf } from './chat-usage.js';

export const CHAT_ANSWER: AnswerForm = {
  // Mistral sends a list of parts, whose text is in `text`.
  outputFields: [
    '"content":',
    '"reasoning_content":',
    '"reasoning":',
    '"arguments":',
    '"input":',
    '"refusal":',
    '"data":',
    '"text":',
  ],
  endMarks: [DONE_MARK],
  usageIn: (message) => readChatUsage(usageMemberOf(message)),
  isUsageAlone: ({ choices }) => Array.isArray(choices) && choices.length === 0,
};
