import { applyDecorators } from '@nestjs/common';
import { IsIn } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';

export const ON_DISCONNECT = ['abort', 'drain'] as const;

export type OnDisconnect = (typeof ON_DISCONNECT)[number];

/** Validates the option for calls of models whose client disconnects. */
export const IsOnDisconnect = (): PropertyDecorator => applyDecorators(Optional(), IsIn(ON_DISCONNECT));
