import { parseWithNumbersAsText } from '../../../src/common/json/numbers.js';

const TEXT = { input: ['text'], output: ['text'] };

/** As models.dev writes a model, from its prices; `more` replaces members of it. */
export function listedModel(cost: unknown, more: object = {}): unknown {
  return { limit: { context: 1000, output: 100 }, modalities: TEXT, cost, ...more };
}

/** models.dev's list with one provider. */
export function modelsDevList(models: Readonly<Record<string, unknown>>): unknown {
  return parseWithNumbersAsText(JSON.stringify({ maker: { id: 'maker', models } }));
}

/** The list of genai-prices with one provider; each model is known by its own name. */
export function genaiList(models: Readonly<Record<string, unknown>>, more: readonly object[] = []): unknown {
  const entries = Object.entries(models).map(([id, prices]) => ({ id, match: { equals: id }, prices }));
  return parseWithNumbersAsText(JSON.stringify([{ id: 'maker', models: entries }, ...more]));
}
