// What it costs to refuse a body: 4 MiB in every list, map and other field of every body of the API description.
//   node bench/refusals.mjs           prints the most expensive ones
//   node bench/refusals.mjs --check   ends with code 1 above 300 ms of CPU, or 20 KB of answer
// How to read it: bench/README.md.
import { buildIfStale } from '../scripts/build.mjs';
import { makeDatabase } from './database.mjs';
import { post, startGateway } from './gateway.mjs';
import { openBody } from './model-bodies.mjs';
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

/** Of bodies whose fields the API description leaves open: what one field costs, others do too. */
const OPEN_FILLINGS = ['empty objects', 'different texts', 'a map', 'levels', 'a field of 240,000 texts'];

let database;
try {
  await buildIfStale();
  database = await makeDatabase(process.env.DATABASE_URL, 10);
  const { url: provider } = await startServer('./fake-provider.mjs');
  const gateway = await startGateway(provider, { settings: database.settings });
  const document = await (await fetch(`${gateway.url}/docs/openapi.json`)).json();
  const fillings = Object.entries(FILLINGS).map(([name, fill]) => [name, fill()]);
  const described = bodyRoutes(document).map((route) => ({ ...route, places: placesIn(document, route.schema) }));
  const routes = [...described, ...openRoutes(document, await makeVirtualKeys(gateway, provider))];
  const rows = [];
  for (const route of routes) {
    for (const place of route.places) {
      for (const [filling, text] of fillings.filter(([name]) => route.fillings?.includes(name) ?? true)) {
        const body = Buffer.from(bodyWith(route, place, text));
        const answers = [await send(gateway, route, body)];
        // Garbage of the bodies before is collected in between, and other programs take the caches.
        while (answers.length < TRIES && answers.at(-1).cpu > MOST_CPU_MS / 2)
          answers.push(await send(gateway, route, body));
        const cpu = Math.min(...answers.map((answer) => answer.cpu));
        const name = [route.method, route.path, route.virtualKey].filter(Boolean).join(' ');
        rows.push({ ...answers[0], cpu, name, place: place.join('.'), filling });
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
    headers: {
      ...headers,
      'x-gateway-api-key': adminKey,
      'content-type': 'application/json',
      ...(route.virtualKey && { 'x-gateway-virtual-key': route.virtualKey }),
    },
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

/**
 * Virtual keys under which a body takes another way: passed as it is, translated both ways, and under a usage limit that
 * counts what it may use.
 */
async function makeVirtualKeys({ url, adminKey }, provider) {
  const admin = { 'x-gateway-api-key': adminKey };
  const base_url = `${provider.replace('127.0.0.1', 'localhost')}/v1`;
  const keys = {
    relayed: { provider: 'openai-compatible', config: { base_url } },
    'to-chat': {
      provider: 'openai-compatible',
      config: { base_url, messages: 'translate', responses: 'translate' },
    },
    'to-messages': { provider: 'anthropic', config: { base_url } },
    limited: { provider: 'openai-compatible', config: { base_url } },
  };
  for (const [slug, fields] of Object.entries(keys))
    await post(`${url}/v1/virtual-keys`, admin, { name: slug, slug, key: 'not-a-secret', ...fields });
  const conditions = [{ key: 'virtual_key', value: 'limited' }];
  const limit = { conditions, group_by: [{ key: 'virtual_key' }], type: 'tokens', credit_limit: 500_000 };
  await post(`${url}/v1/policies/usage-limits`, admin, limit);
  return Object.keys(keys);
}

/** Every operation whose body is forwarded: those of models once under each virtual key. */
function openRoutes({ paths }, virtualKeys) {
  return Object.entries(paths).flatMap(([path, { post: operation }]) => {
    if (operation?.requestBody?.content?.['application/json']?.schema.additionalProperties !== true) return [];
    const { example, places } = openBody(path);
    const route = { method: 'POST', path: filledPath(path), schema: { example }, places, fillings: OPEN_FILLINGS };
    const isOfModel = example.model !== undefined && path !== '/v1/fine_tuning/jobs';
    return (isOfModel ? virtualKeys : virtualKeys.slice(0, 1)).map((virtualKey) => ({ ...route, virtualKey }));
  });
}

function filledPath(path) {
  return path.replaceAll(/\{\w+\}/g, '3f2b7c1e-0000-4000-8000-000000000000');
}

/** Every operation with a JSON body whose fields are described, one for each body. A path has the name of nothing, which is looked up after the body is judged. */
function bodyRoutes({ paths, ...document }) {
  const seen = new Set();
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content?.['application/json']?.schema;
      if (schema?.$ref === undefined || path.includes('{server}') || seen.has(schema.$ref)) return [];
      seen.add(schema.$ref);
      return { path: filledPath(path), method: method.toUpperCase(), schema: resolved(document, schema) };
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
