import type { Prompt, PromptMessage } from '@modelcontextprotocol/sdk/types.js';
import { IMAGE, PIXEL } from './mcp-everything-tools.js';

interface EverythingPrompt {
  readonly prompt: Prompt;
  readonly messages: (args: Readonly<Record<string, string>>) => readonly PromptMessage[];
}

export const PROMPTS: readonly EverythingPrompt[] = [
  {
    prompt: { name: 'test_simple_prompt', description: 'Without arguments.' },
    messages: () => [says('This is a simple prompt for testing.')],
  },
  {
    prompt: {
      name: 'test_prompt_with_arguments',
      description: 'With two arguments.',
      arguments: ['arg1', 'arg2'].map((name) => ({ name, required: true })),
    },
    messages: ({ arg1, arg2 }) => [says(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  {
    prompt: {
      name: 'test_prompt_with_embedded_resource',
      description: 'With a resource in it.',
      arguments: [{ name: 'resourceUri', required: true }],
    },
    messages: ({ resourceUri: uri = '' }) => [
      {
        role: 'user',
        content: {
          type: 'resource',
          resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        },
      },
      says('Please process the embedded resource above.'),
    ],
  },
  {
    prompt: { name: 'test_prompt_with_image', description: 'With an image in it.' },
    messages: () => [{ role: 'user', content: IMAGE }, says('Please analyze the image above.')],
  },
];

export const RESOURCES = [
  {
    name: 'static-text',
    description: 'A text.',
    content: {
      uri: 'test://static-text',
      mimeType: 'text/plain',
      text: 'This is the content of the static text resource.',
    },
  },
  {
    name: 'static-binary',
    description: 'An image.',
    content: { uri: 'test://static-binary', mimeType: 'image/png', blob: PIXEL },
  },
  {
    name: 'watched-resource',
    description: 'May be subscribed to.',
    content: { uri: 'test://watched-resource', mimeType: 'text/plain', text: 'Nothing has happened yet.' },
  },
] as const;

function says(text: string): PromptMessage {
  return { role: 'user', content: { type: 'text', text } };
}
