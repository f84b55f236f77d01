import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../../common/json/read.js';

/** What an answer says, in the words of no API. */
export interface Said {
  readonly thoughts: string;
  readonly text: string;
  readonly calls: readonly (readonly [id: string, name: string, json: string])[];
  readonly end: 'end' | 'calls' | 'length' | 'refusal';
  /** The sum is the total that the provider reports. */
  readonly usage: readonly [input: number, cacheRead: number, cacheWritten: number, output: number];
}

interface Form {
  /** The server, and what is special about its answer. */
  readonly name: string;
  readonly said?: Said;
  /** The code of the failure, where there is one instead. */
  readonly error?: string;
}

export interface StreamForm extends Form {
  /** Events, `[DONE]`, and pieces of a stream that are no JSON. */
  readonly events: readonly (JsonObject | string)[];
  readonly lineEnd?: string;
}

export interface AnswerForm extends Form {
  readonly answer: JsonObject;
}

/** Of the file, one form a line. */
export function formsIn<Each>(file: string): readonly Each[] {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
}

/** The stream as its server writes it. */
export function streamText({ events, lineEnd = '\n' }: StreamForm): string {
  return events.map(eventText).join('').replaceAll('\n', lineEnd);
}

function eventText(event: JsonObject | string): string {
  if (event === '[DONE]') return 'data: [DONE]\n\n';
  if (typeof event === 'string') return event;
  const { type } = event;
  const name = typeof type === 'string' ? `event: ${type}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
