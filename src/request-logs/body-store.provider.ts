import type { FactoryProvider } from '@nestjs/common';
import { AppConfig } from '../config/environment.js';
import { AwsOwnIdentity } from '../upstream/aws/aws-own-identity.js';
import type { BodyStore } from './body-store.js';
import { FolderBodyStore } from './folder-body-store.js';
import { S3BodyStore } from './s3-body-store.js';

export const BODY_STORE = Symbol('BODY_STORE');

export const bodyStoreProvider: FactoryProvider<BodyStore | undefined> = {
  provide: BODY_STORE,
  inject: [AppConfig, AwsOwnIdentity],
  useFactory: bodyStoreOf,
};

/** The store that REQUEST_LOG_BODIES names; undefined without it. */
export function bodyStoreOf(config: AppConfig, ownIdentity: Pick<AwsOwnIdentity, 'provide'>): BodyStore | undefined {
  const { REQUEST_LOG_BODIES: place } = config;
  if (place === undefined) return undefined;
  return place.startsWith('s3:') ? new S3BodyStore(place, config, ownIdentity) : new FolderBodyStore(place);
}
