import { describe, expect, it } from '@jest/globals';
import { parseModelRows } from './model-rows.js';
import { parsePriceRows } from './price-rows.js';
import { formatTable } from './table.js';

const PRICES = 'id,provider,model,unit,mode,min_input_tokens,price,from,until,source,read';
const PRICE =
  '5d235b31-ec9c-830b-8ba4-e1979a03b9b1,openai,m,input,standard,0,0.00000015,2026-09-23,,models.dev,2026-09-23';
const MODELS = 'provider,model,context_window,max_output,input,output,source,read';
const MODEL = 'openai,m,1000,100,text+image,text,models.dev,2026-09-23';

describe('parsePriceRows', () => {
  it('reads a row exactly', () => {
    const [row] = parsePriceRows(`${PRICES}\n${PRICE}\n`);
    expect(row).toMatchObject({ price: 150_000_000_000n, unit: 'input', effectiveUntil: undefined });
  });

  it.each([
    [PRICE.replace('openai', 'nobody')],
    [PRICE.replace('input', 'smell')],
    [PRICE.replace('standard', 'slow')],
    [PRICE.replace(',0,', ',x,')],
    [PRICE.replace('0.00000015', '1e')],
    [PRICE.replace('2026-09-23', '2026-99-23')],
    [PRICE.replace('5d235b31', 'x')],
    [PRICE.replace(',m,', ',,')],
    [`${PRICE},`],
    [''],
  ])('refuses "%s"', (line) => expect(() => parsePriceRows(`${PRICES}\n${line}\n${PRICE}\n`)).toThrow());

  it('refuses a table with other columns', () => expect(() => parsePriceRows(`${MODELS}\n`)).toThrow());
});

describe('parseModelRows', () => {
  it('reads a row', () => {
    const [row] = parseModelRows(`${MODELS}\n${MODEL}\n`);
    expect(row?.facts).toMatchObject({ contextWindow: 1_000, maxOutput: 100, inputModalities: ['text', 'image'] });
  });

  it.each([[MODEL.replace('openai', 'nobody')], [MODEL.replace('1000', 'many')], [MODEL.replace(',m,', ',,')]])(
    'refuses "%s"',
    (line) => expect(() => parseModelRows(`${MODELS}\n${line}\n`)).toThrow(),
  );
});

it.each(['a,b', 'a\nb', 'a"b'])('writes no cell with %j', (cell) => {
  expect(() => formatTable(['x'], [[cell]])).toThrow('no cell can hold');
});
