import type { Tool } from '@modelcontextprotocol/sdk/types.js';

/** One red pixel. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
export const IMAGE = { type: 'image', data: PIXEL, mimeType: 'image/png' } as const;
/** A header without a sample. */
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
export const AUDIO = { type: 'audio', data: SILENCE, mimeType: 'audio/wav' } as const;

const NO_ARGUMENTS: Tool['inputSchema'] = { type: 'object', properties: {} };

/** Clients receive these schemas as they are written here: no library rewrites them. */
export const TOOLS: readonly Tool[] = [
  ...[
    ['test_simple_text', 'Answers with a text.'],
    ['test_image_content', 'Answers with an image.'],
    ['test_audio_content', 'Answers with a sound.'],
    ['test_embedded_resource', 'Answers with a resource.'],
    ['test_multiple_content_types', 'Answers with several kinds of content.'],
    ['test_tool_with_logging', 'Logs while it runs.'],
    ['test_tool_with_progress', 'Reports its progress.'],
    ['test_error_handling', 'Fails.'],
    ['test_reconnection', 'Closes its stream before it answers.'],
    ['test_elicitation_sep1034_defaults', 'Asks for values that have defaults.'],
    ['test_elicitation_sep1330_enums', 'Asks for choices.'],
  ].map(([name = '', description]) => ({ name, description, inputSchema: NO_ARGUMENTS })),
  {
    name: 'test_sampling',
    description: 'Asks the model of the client.',
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
  },
  {
    name: 'test_elicitation',
    description: 'Asks the user.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  },
  {
    name: 'json_schema_2020_12_tool',
    description: 'Has a schema with the words of JSON Schema 2020-12.',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
      },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
  },
];
