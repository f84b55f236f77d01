import { SetMetadata } from '@nestjs/common';

export const OWN_AUTHENTICATION = 'tollgate:own-authentication';

/**
 * The route finds out itself who calls and whether it may: the scope that it declares holds, its handler checks it, and that the
 * request is traceable. For callers who can be more than a key or an administrator. `reason` names what checks it.
 */
export const OwnAuthentication = (reason: string): MethodDecorator => SetMetadata(OWN_AUTHENTICATION, reason);
