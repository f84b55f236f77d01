// `npm run --silent openapi`: prints the OpenAPI document of this version, without a server or a database.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.js';
import { createDocument } from '../openapi/openapi.js';
import { createProviders } from '../upstream/providers/provider-list.js';

/** Providers are only asked for the classes of their options. */
const NO_CREDENTIALS = {
  resolve: () => Promise.reject(new Error('no credentials here')),
  forget: () => false,
};

// In preview mode Nest reads the modules and makes no instances.
const app = await NestFactory.create(AppModule, { preview: true, logger: false, abortOnError: false });
const optionClasses = createProviders({ awsCredentials: NO_CREDENTIALS, googleTokens: NO_CREDENTIALS }).map(
  (provider) => provider.optionsClass,
);
process.stdout.write(`${JSON.stringify(createDocument(app, { optionClasses }), undefined, 2)}\n`);
