import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createLogger, flushLog, lineWriter, NestLogger, logDestination } from './logger.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-log-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('lineWriter', () => {
  const members = {
    event: 'request',
    status: 200,
    none: null,
    left_out: undefined,
    ms: 1.5,
    metadata: { team: 'ä"\n' },
  };

  it('writes the same line as the logger', () => {
    const [own, ofPino] = [new PassThrough(), new PassThrough()];
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-11-21T10:00:00.000Z'));
    lineWriter(createLogger('info', own))('error', members);
    createLogger('info', ofPino).error(members);
    now.mockRestore();
    expect(String(own.read())).toBe(String(ofPino.read()));
  });

  it('writes nothing below the level of the logger', () => {
    const stream = new PassThrough();
    lineWriter(createLogger('error', stream))('info', members);
    expect(stream.read()).toBeNull();
  });
});

describe('createLogger', () => {
  it('writes one JSON object per line, with the name of the level and an ISO time', () => {
    const stream = new PassThrough();
    createLogger('info', stream).info({ event: 'request', status: 200 });
    expect(JSON.parse(String(stream.read()))).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      event: 'request',
      status: 200,
    });
  });

  it('writes the current time in each line', () => {
    const stream = new PassThrough();
    const logger = createLogger('info', stream);
    const times = ['2026-11-21T10:00:00.000Z', '2026-11-21T10:00:00.000Z', '2026-11-21T10:00:00.001Z'];
    const now = jest.spyOn(Date, 'now');
    for (const time of times) {
      now.mockReturnValue(Date.parse(time));
      logger.info({});
    }
    now.mockRestore();
    const lines = String(stream.read()).trim().split('\n');
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual(times.map((time) => ({ level: 'info', time })));
  });

  it('drops lines below its level', () => {
    const stream = new PassThrough();
    createLogger('warn', stream).info({ event: 'request' });
    expect(stream.read()).toBeNull();
  });
});

describe('a log file', () => {
  it('contains every line after a flush, including those logged during a write', async () => {
    const path = join(folder, 'flushed');
    const destination = logDestination(path);
    const logger = createLogger('info', destination);
    for (let number = 0; number < 5_000; number += 1) logger.info({ number });
    await new Promise((done) => setImmediate(done));
    logger.info({ number: 5_000 });
    await flushLog(logger);
    await flushLog(logger);
    const numbers = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line).number);
    expect(numbers).toEqual(Array.from({ length: 5_001 }, (_, number) => number));
    destination.destroy();
  });

  it('neither ends nor blocks the process when the log file cannot be written', async () => {
    const destination = logDestination('/dev/full');
    const failed = new Promise((done) => destination.once('error', done));
    const logger = createLogger('info', destination);
    logger.info({ text: 'x'.repeat(100_000) });
    await expect(failed).resolves.toMatchObject({ code: 'ENOSPC' });
    await flushLog(logger);
    // As at the end of the process. Pino's own method would retry forever.
    destination.flushSync();
    destination.destroy();
  });

  describe('whose reader stalls', () => {
    const PIPE_BYTES = 64 * 1024;
    let pipe: number;
    let destination: ReturnType<typeof logDestination>;

    beforeEach(() => {
      const path = join(folder, `pipe-${randomUUID()}`);
      execFileSync('mkfifo', [path]);
      pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
      destination = logDestination(pipe);
      const logger = createLogger('info', destination);
      for (let number = 0; number < 50; number += 1) logger.info({ text: 'x'.repeat(4_000) });
    });
    afterEach(async () => {
      const reading = setInterval(readAll, 10);
      await new Promise((done) => {
        destination.once('drain', done);
        destination.flush();
      });
      clearInterval(reading);
      destination.destroy();
    });

    /** The bytes in the pipe, which are at most its capacity. */
    const readAll = (): number => {
      try {
        return readSync(pipe, Buffer.alloc(2 * PIPE_BYTES));
      } catch {
        return 0;
      }
    };

    it('gives up a stalled log after a second at the end of the process', () => {
      const startedAt = performance.now();
      destination.flushSync();
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(900);
      expect(readAll()).toBeGreaterThan(0);
    });

    it('waits at the end only for a reader that has read recently', async () => {
      const listeners = destination.listenerCount('drain');
      for (let time = 0; time < 5; time += 1) destination.flush();
      expect(destination.listenerCount('drain')).toBe(listeners + 1);
      await sleep(700);
      readAll();
      destination.flushSync();
      expect(readAll()).toBe(0);
      destination.emit('write', 1);
      destination.flushSync();
      expect(readAll()).toBeGreaterThan(0);
    });
  });

  it('drops lines instead of using memory when the log is not read', async () => {
    const destination = logDestination(join(folder, 'slow'));
    let dropped = 0;
    destination.on('drop', () => (dropped += 1));
    const logger = createLogger('info', destination);
    for (let number = 0; number < 20; number += 1) logger.info({ text: 'x'.repeat(1024 * 1024) });
    expect(dropped).toBeGreaterThanOrEqual(4);
    await new Promise((done) => destination.once('drain', done));
    await flushLog(logger);
    destination.flushSync();
    const last: unknown = JSON.parse(readFileSync(join(folder, 'slow'), 'utf8').trim().split('\n').at(-1) ?? '');
    expect(last).toMatchObject({ level: 'warn', event: 'log_lines_dropped', lines: dropped });
    destination.destroy();
  });
});

describe('NestLogger', () => {
  const lineOf = (write: (logger: NestLogger) => void): unknown => {
    const stream = new PassThrough();
    write(new NestLogger(createLogger('trace', stream)));
    return JSON.parse(String(stream.read()));
  };

  it.each([
    ['log', 'debug'],
    ['debug', 'trace'],
    ['verbose', 'trace'],
    ['warn', 'warn'],
  ] as const)('%s becomes a line of the level %s', (method, level) => {
    expect(lineOf((logger) => logger[method]('text', 'Router'))).toMatchObject({
      level,
      event: 'framework',
      context: 'Router',
      msg: 'text',
    });
  });

  it.each(['error', 'fatal'] as const)('logs the stack and context of %s messages', (method) => {
    expect(lineOf((logger) => logger[method]('text', 'at here', 'Router'))).toMatchObject({
      level: method,
      event: 'framework',
      context: 'Router',
      stack: 'at here',
      msg: 'text',
    });
  });
});
