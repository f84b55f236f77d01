// Writes src/usage/snapshot from two public lists of prices: `npm run prices:update`. The lists are read here only, never by the
// gateway: docs/guides/prices.md.
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { parseWithNumbersAsText } from '../../src/common/json/numbers.js';
import { formatModelRows } from '../../src/usage/snapshot/model-rows.js';
import { formatPriceRows } from '../../src/usage/snapshot/price-rows.js';
import { readSnapshotModels, readSnapshotPrices } from '../../src/usage/snapshot/snapshot.js';
import { formatDifferences } from './report.js';
import { updateSnapshot } from './update-snapshot.js';

const FOLDER = new URL('../../src/usage/snapshot/', import.meta.url);
const TIMEOUT_MS = 60_000;
const MAX_BYTES = 64 * 1024 * 1024;

try {
  const options = readOptions();
  const [modelsDev, genaiPrices] = await Promise.all([read(options['models-dev']), read(options['genai-prices'])]);
  const known = { prices: readSnapshotPrices(), models: readSnapshotModels() };
  const { snapshot, differences, lines } = updateSnapshot(known, { modelsDev, genaiPrices, day: options.date });
  await writeFile(new URL('prices.csv', FOLDER), formatPriceRows(snapshot.prices));
  await writeFile(new URL('models.csv', FOLDER), formatModelRows(snapshot.models));
  await writeFile(new URL('differences.csv', FOLDER), formatDifferences(differences));
  console.log([...lines, `Look at src/usage/snapshot/differences.csv: ${differences.length} lines.`].join('\n'));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      'models-dev': { type: 'string', default: 'https://models.dev/api.json' },
      'genai-prices': {
        type: 'string',
        default: 'https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data.json',
      },
      // The day of the lists, where they are older copies.
      date: { type: 'string', default: new Date().toISOString().slice(0, 10) },
    },
  });
  return values;
}

async function read(place: string): Promise<unknown> {
  const text = /^https?:/.test(place) ? await download(place) : await readFile(place, 'utf8');
  try {
    return parseWithNumbersAsText(text);
  } catch (error) {
    throw new Error(`${place} is not JSON`, { cause: error });
  }
}

async function download(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: unknown) => {
    throw new Error(`${url} does not answer`, { cause: error });
  });
  if (!response.ok || response.body === null) throw new Error(`${url} answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`${url} answered with more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
