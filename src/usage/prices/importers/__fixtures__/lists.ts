import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { PriceListFile, PriceListFormat } from '../import-prices.js';

/** An excerpt of this folder. */
function listFile(format: PriceListFormat, path: string): PriceListFile {
  const text = readFileSync(new URL(`./${path}`, import.meta.url), 'utf8');
  return { format, name: basename(path), text };
}

export const COHERE = listFile('portkey', 'portkey/cohere.json');
export const JINA = listFile('portkey', 'portkey/jina.json');
export const VOYAGE = listFile('portkey', 'portkey/voyage.json');
export const LITELLM = listFile('litellm', 'model_prices_and_context_window.json');
