import { applyDecorators } from '@nestjs/common';
import { IsIn } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';

export const ON_DISCONNECT = ['abort', 'drain'] as const;

export type OnDisconnect = (typeof ON_DISCONNECT)[number];

/** An option that says what becomes of a call of a model whose client leaves. */
export const IsOnDisconnect = (): PropertyDecorator => applyDecorators(Optional(), IsIn(ON_DISCONNECT));
