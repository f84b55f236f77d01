import { describe, expect, it } from '@jest/globals';
import { stringifyLongNumbers } from '../common/json/long-numbers.js';
import type { CreateRerankDto } from './dto/create-rerank.dto.js';
import { toRerankRequest } from './rerank.mapper.js';

function requestOf(json: string) {
  const dto: CreateRerankDto = JSON.parse(json);
  return toRerankRequest(dto, Buffer.from(json));
}

describe('toRerankRequest', () => {
  it('keeps whole numbers beyond 2^53 beside the documents that tokens are counted of', () => {
    const [documents, parameters] = ['[{"v":12345678901234567,"text":"a"},"b"]', '{"seed":12345678901234567}'];
    const { exact, ...request } = requestOf(
      `{"model":"m","query":"q","documents":${documents},"parameters":${parameters}}`,
    );
    expect(stringifyLongNumbers(exact)).toBe(`{"documents":${documents},"parameters":${parameters}}`);
    expect(request).toMatchObject({ documents: JSON.parse(documents), parameters: JSON.parse(parameters) });
  });

  it.each(['["12345678901234567"]', '[{"text":"a","v":0.5}]'])('keeps nothing beside %s', (documents) => {
    expect(requestOf(`{"model":"m","query":"q","documents":${documents}}`).exact).toBeUndefined();
  });
});
