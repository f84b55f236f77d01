import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from '@jest/globals';
import { localRerank } from './local.provider.js';

const cases: [string, string, string[]][] = [];
const en = 'the quick brown fox jumps over a lazy dog and retrieval pipelines rerank documents well ';
const zh = '检索增强生成系统通常先召回候选文档然后使用重排序模型对它们重新打分以提高相关性';
const total = 4 * 1024 * 1024;
cases.push(['en 1000 docs', 'quick retrieval documents', Array.from({ length: 1000 }, () => en.repeat(48))]);
cases.push(['en 10000 docs', 'quick retrieval documents', Array.from({ length: 10000 }, () => en.repeat(4))]);
cases.push(['zh 130 docs of 32k bytes', '候选文档 重排序', Array.from({ length: 130 }, () => zh.repeat(266))]);
cases.push([
  'single letters 10000',
  'a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9',
  Array.from({ length: 10000 }, () =>
    'a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9 '.repeat(5),
  ),
]);
cases.push(['one huge en', 'quick', [en.repeat(total / en.length)]]);
cases.push(['one huge zh', '候选文档', [zh.repeat(total / zh.length / 3)]]);
cases.push(['huge query', en.repeat(40000), Array.from({ length: 1000 }, () => en)]);
cases.push([
  'huge unique query',
  Array.from({ length: 300000 }, (_, i) => 'w' + i).join(' '),
  Array.from({ length: 10000 }, (_, i) => Array.from({ length: 20 }, (_, j) => 'w' + ((i * j) % 256)).join(' ')),
]);
cases.push(['32k zh docs x 40', zh.repeat(800), Array.from({ length: 40 }, () => zh.repeat(800))]);

describe('measure', () => {
  for (const [name, query, documents] of cases)
    it(name, async () => {
      let longest = 0;
      let last = performance.now();
      let stop = false;
      const tick = () => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        if (!stop) setImmediate(tick);
      };
      setImmediate(tick);
      await new Promise((r) => setTimeout(r, 20));
      longest = 0;
      const t0 = performance.now();
      const out = await localRerank.rerank({
        model: 'm',
        query,
        documents,
        topN: undefined,
        returnDocuments: false,
        maxTokensPerDoc: undefined,
        priority: undefined,
        rankFields: undefined,
        truncation: undefined,
        parameters: undefined,
      });
      const total = performance.now() - t0;
      stop = true;
      await new Promise((r) => setTimeout(r, 5));
      console.log(
        name,
        'chars',
        documents.reduce((a, d) => a + d.length, 0),
        'total',
        total.toFixed(0),
        'longest gap',
        longest.toFixed(1),
        out.scores.length,
        out.scores[0],
      );
    });
});
