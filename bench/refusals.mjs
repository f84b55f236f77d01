// What it costs to refuse a body: 4 MiB in every list, map and other field of every body of the API description.
//   node bench/refusals.mjs           prints the most expensive ones
//   node bench/refusals.mjs --check   ends with code 1 above 300 ms of CPU, or 20 KB of answer
// How to read it: bench/README.md.
import { buildIfStale } from '../scripts/build.mjs';
import { makeDatabase } from './database.mjs';
import { startGateway } from './gateway.mjs';
import { cpuMs, startServer, stopAll } from './processes.mjs';

const BYTES = 4 * 1024 * 1024 - 1_024;
const MOST_CPU_MS = 300;
const MOST_BYTES = 20_000;
const SHOWN = 10;
/** Of a body that seems expensive: the cheapest one counts. */
const TRIES = 3;
/** Of a field in a body. */
const MAX_DEPTH = 6;

/** What fills a field, by its name in the table. */
const FILLINGS = {
  'empty objects': () => list(() => '{}'),
  'different texts': () => list((index) => `"s${index}"`),
  numbers: () => list((index) => String(index)),
  'a map': () => `{${items((index) => `"f${index}":1`)}}`,
  'a map of 900': () => `{${items((index) => `"f${index}":"${'x'.repeat(4_600)}"`, 900)}}`,
  levels: () => '['.repeat(BYTES),
  'a field of numbers': () => `{"f":${list(() => '1')}}`,
  'a field of 199,000 lists': () => `{"f":[${items(() => '[1]', 199_000)}]}`,
  'a field of 240,000 texts': () => `{"f":[${items((index) => `"s${index}"`, 240_000)}]}`,
};

let database;
try {
  await buildIfStale();
  database = await makeDatabase(process.env.DATABASE_URL, 10);
  const { url: provider } = await startServer('./fake-provider.mjs');
  const gateway = await startGateway(provider, { settings: database.settings });
  const document = await (await fetch(`${gateway.url}/docs/openapi.json`)).json();
  const fillings = Object.entries(FILLINGS).map(([name, fill]) => [name, fill()]);
  const rows = [];
  for (const route of bodyRoutes(document)) {
    for (const place of placesIn(document, route.schema)) {
      for (const [filling, text] of fillings) {
        const body = Buffer.from(bodyWith(route, place, text));
        const answers = [await send(gateway, route, body)];
        // Garbage of the bodies before is collected in between, and other programs take the caches.
        while (answers.length < TRIES && answers.at(-1).cpu > MOST_CPU_MS / 2)
          answers.push(await send(gateway, route, body));
        const cpu = Math.min(...answers.map((answer) => answer.cpu));
        rows.push({ ...answers[0], cpu, name: `${route.method} ${route.path}`, place: place.join('.'), filling });
      }
    }
  }
  report(rows);
} catch (error) {
  console.error(`The benchmark failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  await stopAll();
  await database?.drop();
  process.exit();
}

async function send({ child, url, headers, adminKey }, route, body) {
  const before = (await cpuMs(child)).process;
  const response = await fetch(url + route.path, {
    method: route.method,
    headers: { ...headers, 'x-gateway-api-key': adminKey, 'content-type': 'application/json' },
    body,
  });
  const bytes = (await response.arrayBuffer()).byteLength;
  return { status: response.status, bytes, cpu: (await cpuMs(child)).process - before };
}

function report(rows) {
  const refused = rows.filter(({ status }) => status >= 400);
  const mostCpu = Math.max(...refused.map(({ cpu }) => cpu));
  const mostBytes = Math.max(...refused.map(({ bytes }) => bytes));
  const byCpu = refused.toSorted((a, b) => b.cpu - a.cpu);
  console.log(['CPU ms', 'answer', 'status', 'route', 'field', 'filled with'].join('\t'));
  for (const { cpu, bytes, status, name, place, filling } of byCpu.slice(0, SHOWN)) {
    console.log([cpu, bytes, status, name, place, filling].join('\t'));
  }
  console.log(
    `${refused.length} bodies of 4 MiB were refused; most: ${mostCpu} ms of CPU, ${mostBytes} bytes of answer`,
  );
  // Options that providers judge, and bodies that are forwarded to them.
  console.log(`${rows.length - refused.length} bodies were accepted`);
  if (process.argv.includes('--check') && (mostCpu > MOST_CPU_MS || mostBytes > MOST_BYTES)) process.exitCode = 1;
}

/** Every operation with a JSON body, one for each body. A path has the name of nothing, which is looked up after the body is judged. */
function bodyRoutes({ paths, ...document }) {
  const seen = new Set();
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content?.['application/json']?.schema;
      if (schema === undefined || path.includes('{server}') || seen.has(JSON.stringify(schema))) return [];
      seen.add(JSON.stringify(schema));
      const filled = path.replaceAll(/\{\w+\}/g, '3f2b7c1e-0000-4000-8000-000000000000');
      return { path: filled, method: method.toUpperCase(), schema: resolved(document, schema) };
    }),
  );
}

/** The paths of all lists and objects of a schema, nested ones included, and of a field that it does not know. */
function placesIn(document, schema, depth = 0) {
  if (depth === MAX_DEPTH) return [];
  const { properties = {}, items, oneOf = [], anyOf = [] } = resolved(document, schema);
  const own = Object.entries(properties).flatMap(([name, field]) => [
    ...(isCollection(document, field) ? [[name]] : []),
    ...placesIn(document, field, depth + 1).map((place) => [name, ...place]),
  ]);
  const ofItems = items === undefined ? [] : placesIn(document, items, depth + 1).map((place) => ['0', ...place]);
  const others = [...oneOf, ...anyOf].flatMap((one) => placesIn(document, one, depth + 1));
  const all = [...own, ...ofItems, ...others, ...(depth === 0 ? [['unknown']] : [])];
  return [...new Map(all.map((place) => [place.join('.'), place])).values()];
}

function isCollection(document, schema) {
  const { type, properties, items, oneOf = [], anyOf = [] } = resolved(document, schema);
  if (
    items !== undefined ||
    properties !== undefined ||
    [type].flat().some((one) => one === 'array' || one === 'object')
  ) {
    return true;
  }
  return [...oneOf, ...anyOf].some((one) => isCollection(document, one));
}

/** A body with its example beside the filled field, so that no other field is refused first. */
function bodyWith({ schema }, [name, ...rest], filling) {
  const others = Object.entries(schema.example ?? {}).filter(([other]) => other !== name);
  const value = rest.reduceRight((inner, part) => (part === '0' ? `[${inner}]` : `{"${part}":${inner}}`), filling);
  const fields = others.map(([other, example]) => `${JSON.stringify(other)}:${JSON.stringify(example)},`);
  return `{${fields.join('')}"${name}":${value}}`;
}

function resolved({ components }, schema) {
  if (schema.$ref === undefined) return schema.allOf?.length === 1 ? resolved({ components }, schema.allOf[0]) : schema;
  return resolved({ components }, components.schemas[schema.$ref.split('/').at(-1)]);
}

function list(item) {
  return `[${items(item)}]`;
}

function items(item, most = Infinity) {
  const parts = [];
  for (let size = 0; parts.length < most;) {
    const text = item(parts.length);
    size += text.length + 1;
    if (size > BYTES) break;
    parts.push(text);
  }
  return parts.join(',');
}
