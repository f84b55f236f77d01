import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import axios from 'axios';
import { Clock } from '../common/time/clock.js';
import type { AppConfig } from '../config/environment.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { guardedHttp } from '../upstream/egress/guarded-http.js';
import { loneSender } from '../upstream/egress/lone-sender.js';
import { importPrices, PRICE_LIST_FORMATS, type PriceListFile } from '../usage/prices/importers/import-prices.js';
import { reportLines } from '../usage/prices/importers/import-report.js';
import { type CommandCall, UsageError } from './command.js';
import { assertDatabase, onDatabase } from './on-database.js';

const USAGE = `usage: npm run prices:import -- <${PRICE_LIST_FORMATS.join('|')}> <file or https URL> [--accept]`;
const LIMITS = { timeoutMs: 30_000, maxRequestBytes: 0, maxResponseBytes: 32 * 1024 * 1024 } as const;

export async function importPriceList({ words, readSettings, print }: CommandCall): Promise<number> {
  const accept = words.includes('--accept');
  const [word, location, ...others] = words.filter((argument) => argument !== '--accept');
  const format = PRICE_LIST_FORMATS.find((known) => known === word);
  if (format === undefined || location === undefined || others.length > 0) throw new UsageError(USAGE);
  const settings = assertDatabase(readSettings());
  const file = { format, ...(await read(location, settings)) };
  const outcome = await onDatabase(settings, (dataSource) => {
    return importPrices(dataSource, file, { accept, clock: new Clock() });
  });
  for (const line of reportLines(outcome)) print(`${line}\n`);
  return outcome.isWritten ? 0 : 1;
}

async function read(place: string, settings: AppConfig): Promise<Pick<PriceListFile, 'name' | 'text'>> {
  // As in the answer of a server, a byte order mark is not part of the text.
  if (!/^https?:/i.test(place)) {
    return { name: posix.basename(place), text: new TextDecoder().decode(await readFile(place)) };
  }
  const url = new URL(place);
  const send = loneSender(EgressPolicy.of(settings), LIMITS.timeoutMs);
  const { status, data } = await axios.create(guardedHttp(send, LIMITS)).get<Buffer>(url.href);
  if (status !== 200) throw new Error(`${url.host} answered ${status}`);
  return { name: posix.basename(url.pathname), text: new TextDecoder().decode(data) };
}
