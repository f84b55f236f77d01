import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { send } from '../../test/support/send.js';
import { addConsole } from './console.js';

const PAGE = '<!doctype html><title>Tollgate</title>';
const SCRIPT = 'console.log(1)';

let folder: string;
let server: Server;
let url: string;

beforeAll(async () => {
  folder = `${mkdtempSync(join(tmpdir(), 'tollgate-console-'))}/`;
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'assets/index-abc.js'), SCRIPT);
  writeFileSync(join(folder, 'assets/index-abc.js.gz'), gzipSync(SCRIPT));
  writeFileSync(join(folder, 'favicon.svg'), '<svg/>');
  writeFileSync(join(folder, '.built'), 'secret');
  const app = express();
  addConsole(app, folder);
  app.get('/', (_request, response) => void response.json({ object: 'gateway' }));
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
});
afterAll(async () => {
  server.close();
  await once(server, 'close');
  rmSync(folder, { recursive: true });
});

function get(path: string, headers: Readonly<Record<string, string>> = {}) {
  return send(url, { method: 'GET', path, headers });
}

describe('the console', () => {
  it('serves its page at every address of its own, which is never cached without asking', async () => {
    for (const path of ['/console', '/console/', '/console/limits/x', '/console/.built', '/console/assets/../.built']) {
      const answer = await get(path);
      expect([path, answer.status, answer.text]).toEqual([path, 200, PAGE]);
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-cache', 'x-frame-options': 'DENY' });
      expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(answer.headers['content-security-policy']).not.toContain('unsafe');
    }
  });

  it('serves its files for a year, compressed for those who ask', async () => {
    const plain = await get('/console/assets/index-abc.js');
    expect(plain).toMatchObject({ status: 200, text: SCRIPT });
    expect(plain.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'accept-encoding',
    });
    const zipped = await get('/console/assets/index-abc.js', { 'accept-encoding': 'gzip' });
    expect(zipped.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': 'text/javascript; charset=utf-8',
    });
    expect((await get('/console/favicon.svg')).headers).toMatchObject({ 'content-type': 'image/svg+xml' });
  });

  it('answers 404 for a file of another build, which no one may cache', async () => {
    for (const accepted of ['identity', 'gzip']) {
      const answer = await get('/console/assets/index-old.js', { 'accept-encoding': accepted });
      expect(answer.status).toBe(404);
      expect(answer.headers).not.toHaveProperty('cache-control');
      expect(answer.headers).not.toHaveProperty('content-encoding');
    }
  });

  it('takes browsers from / to the page, and leaves programs there', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect([browser.status, browser.headers.location]).toEqual([302, '/console']);
    for (const accept of ['*/*', 'application/json']) expect((await get('/', { accept })).status).toBe(200);
  });
});
