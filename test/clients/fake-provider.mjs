import { cloudAnswer } from './cloud-answers.mjs';

// Answers that are as strict as those of real providers: a field that they do not have is an error.
const COHERE_FIELDS = new Set(['model', 'query', 'documents', 'top_n', 'max_tokens_per_doc', 'priority']);
const VOYAGE_FIELDS = new Set(['model', 'query', 'documents', 'top_k', 'return_documents', 'truncation']);
const BATCHES = Array.from({ length: 45 }, (_, index) => ({
  id: `batch_${index}`,
  object: 'batch',
  status: 'completed',
}));
const FILES = Array.from({ length: 145 }, (_, index) => ({ id: `file-${index}`, object: 'file' }));

/** What the scripted provider of the demo does not have: reranking, batches, files and fine-tuning. */
export function otherAnswer(method, url, body) {
  const ofCloud = cloudAnswer(url);
  if (ofCloud !== undefined) return ofCloud;
  const [status, json] = answerTo(method, url, body);
  return { status, json };
}

function answerTo(method, url, body) {
  switch (`${method} ${url.pathname}`) {
    case 'POST /v2/rerank':
      return rerank(body, COHERE_FIELDS, 'top_n', (results) => ({
        id: 'cohere-1',
        results,
        meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
      }));
    // A self-hosted server, which names no usage.
    case 'POST /self-hosted/rerank':
      return rerank(body, COHERE_FIELDS, 'top_n', (results) => ({ results }));
    case 'POST /v1/rerank':
      return rerank(body, VOYAGE_FIELDS, 'top_k', (data) => ({
        object: 'list',
        data,
        model: body.model,
        usage: { total_tokens: 12 },
      }));
    case 'GET /v1/batches':
      return [200, pageOf(BATCHES, url.searchParams)];
    case 'GET /v1/files':
      return [200, { data: pageOf(FILES, url.searchParams).data }];
    case 'POST /v1/batches':
      return [200, { ...body, id: 'batch_new', object: 'batch', status: 'validating' }];
    case 'POST /v1/files':
      return [200, { id: 'file-1', object: 'file', bytes: body.length, purpose: 'batch', filename: 'in.jsonl' }];
    case 'POST /v1/fine_tuning/jobs':
      return [200, { id: 'ftjob-1', object: 'fine_tuning.job', model: body.model, status: 'queued' }];
    default:
      return [404, { error: { message: `nothing at ${url.pathname}`, type: 'invalid_request_error' } }];
  }
}

/** The last document is the best one. */
function rerank({ documents, ...body }, fields, topName, wrap) {
  const unknown = Object.keys(body).find((name) => !fields.has(name) || body[name] === null);
  if (unknown !== undefined) return [400, { message: `unknown or null: ${unknown}` }];
  if (!documents.every((document) => typeof document === 'string'))
    return [400, { message: 'documents must be strings' }];
  const scores = documents.map((_, index) => ({ index, relevance_score: (index + 1) / (documents.length + 1) }));
  return [200, wrap(scores.reverse().slice(0, body[topName] ?? documents.length))];
}

function pageOf(all, query) {
  const start = query.has('after') ? all.findIndex(({ id }) => id === query.get('after')) + 1 : 0;
  const data = all.slice(start, start + Number(query.get('limit') ?? 20));
  return {
    object: 'list',
    data,
    has_more: start + data.length < all.length,
    first_id: data[0]?.id,
    last_id: data.at(-1)?.id,
  };
}
