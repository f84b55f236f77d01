import { applyDecorators } from '@nestjs/common';
import { IsString, Length } from 'class-validator';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';

const MAX_MODEL_LENGTH = 512;

/** Validates the option with the model behind deployments, whose names do not show it. */
export const BaseModel = (): PropertyDecorator =>
  applyDecorators(Optional(), IsString(), Length(1, MAX_MODEL_LENGTH), IsStorable());
