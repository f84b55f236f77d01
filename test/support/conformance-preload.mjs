// The conformance suite imports fs.globSync, which Node 20 does not have, for a command that no test uses. Without this it
// does not even start there.
import * as fs from 'node:fs';
import { register } from 'node:module';

const WITH_GLOB = `export * from 'node:fs'; export function globSync() { throw new Error('not on this Node'); }`;
const HOOKS = `export const resolve = (specifier, context, next) =>
  specifier === 'fs' && context.parentURL.includes('/@modelcontextprotocol/conformance/')
    ? { url: 'data:text/javascript,${encodeURIComponent(WITH_GLOB).replaceAll("'", '%27')}', shortCircuit: true }
    : next(specifier, context);`;

if (!('globSync' in fs)) register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
