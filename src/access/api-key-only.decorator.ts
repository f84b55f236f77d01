import { SetMetadata } from '@nestjs/common';

export const API_KEY_ONLY = 'tollgate:api-key-only';

/** The route is for API keys alone: what it does is put down to one. */
export const ApiKeyOnly = (): MethodDecorator => SetMetadata(API_KEY_ONLY, true);
