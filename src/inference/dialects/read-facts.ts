import { invalidField } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';

const MAX_MODEL_LENGTH = 512;

export function readModel({ model }: JsonObject): string {
  if (typeof model === 'string' && model !== '' && model.length <= MAX_MODEL_LENGTH) return model;
  throw invalidField('model', `must be a string of 1 to ${MAX_MODEL_LENGTH} characters`);
}

export function readSwitch(members: JsonObject, name: string): boolean {
  const value = members[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw invalidField(name, 'must be true or false');
}
