import { SetMetadata } from '@nestjs/common';

export const STREAMED_BODY = 'tollgate:streamed-body';

/** The route takes its body as a stream: the gateway neither reads nor bounds it. */
export const StreamedBody = (): MethodDecorator => SetMetadata(STREAMED_BODY, true);
