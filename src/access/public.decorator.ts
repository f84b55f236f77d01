import { SetMetadata } from '@nestjs/common';

export const PUBLIC_ROUTE = 'tollgate:public-route';

/** The route answers without a caller. `reason` says why that is right; a route without this and without a scope does not start. */
export const Public = (reason: string): MethodDecorator & ClassDecorator => SetMetadata(PUBLIC_ROUTE, reason);
