import { describe, expect, it } from '@jest/globals';
import { AnswerMeter } from './answer-meter.js';
import { CONVERSE_ANSWER } from './bedrock/converse-answer.js';
import { INVOKE_ANSWER } from './bedrock/invoke-answer.js';
import { GEMINI_ANSWER } from './gemini/gemini-answer.js';
import { CHAT_ANSWER } from './openai-chat/chat-answer.js';

const OPTIONS = { hidesUsage: false, hidesReasoning: false };
const FORMS = [
  ['finishReason', '{"candidates":[{"finishReason": "STOP"}]}', GEMINI_ANSWER],
  ['blockReason', '{"promptFeedback":{"blockReason":"SAFETY"}}', GEMINI_ANSWER],
  ['messageStop', '{"messageStop":{"stopReason":"end_turn"}}', CONVERSE_ANSWER],
  ['amazon-bedrock-invocationMetrics', '{"amazon-bedrock-invocationMetrics":{}}', INVOKE_ANSWER],
  ['[DONE]', '[DONE]', CHAT_ANSWER],
] as const;

describe.each(FORMS)('the end mark %s', (words, mark, form) => {
  const isCutShort = (data: string): boolean => {
    const meter = new AnswerMeter(form, OPTIONS);
    meter.push(Buffer.from(data));
    return meter.isCutShort;
  };

  it.each(['\n\n', '\r\n\r\n', '\nid: 7\n\n', ' \n\n'])('ends a stream before %j', (lines) => {
    expect(isCutShort(`data: ${mark}${lines}`)).toBe(false);
    expect(isCutShort(`data:${mark}${lines}`)).toBe(false);
  });

  it.each([words, `data: ${words}`, `data: ${mark}\n\n`, `x\n${mark}`])(
    'does not end a stream when the model writes %j',
    (said) => {
      expect(isCutShort(`data: ${JSON.stringify({ text: said })}\n\n`)).toBe(true);
    },
  );
});
