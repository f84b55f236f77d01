import {
  type ArgumentMetadata,
  Injectable,
  type PipeTransform,
  ValidationPipe,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { throwIfInvalid, type ErrorDetail, GatewayError } from '../errors/gateway.error.js';
import { isObject, type JsonObject } from '../json/read.js';
import { acceptsOf, BodyRules } from './body-rules.js';
import { copyForClass } from './bounded-fields.js';
import { noteGiven, withoutReadOnlyFields } from './fixed-fields.decorator.js';
import { gatherDeepObjects } from './deep-object.decorator.js';
import { ignoresUnknownFields } from './ignores-unknown-fields.decorator.js';
import { withOwnNames } from './synonyms.decorator.js';
import { toValidationError } from './validation-details.js';

const OPTIONS: ValidationPipeOptions = {
  whitelist: true,
  forbidUnknownValues: true,
  transform: true,
  validationError: { target: true, value: false },
  exceptionFactory: toValidationError,
};

/**
 * Nest's ValidationPipe with the gateway's errors. Maxima of lists and maps are checked before any other rule. A body that its DTO's predicate accepts (`@AcceptedBy`) skips
 * class-validator. Rules between fields are checked even if a field is invalid, so that one response names all broken
 * rules.
 */
@Injectable()
export class GatewayValidationPipe implements PipeTransform {
  private readonly full = new ValidationPipe({ ...OPTIONS, forbidNonWhitelisted: true });
  private readonly lenient = new ValidationPipe(OPTIONS);

  constructor(private readonly rules: BodyRules = new BodyRules()) {}

  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    // Made by our own decorators, so there is nothing to validate.
    if (metadata.type === 'custom') return value;
    if (metadata.type !== 'body') {
      const pipe = ignoresUnknownFields(metadata.metatype) ? this.lenient : this.full;
      return pipe.transform(copyForClass(metadata.metatype, gatherDeepObjects(value, metadata.metatype)), metadata);
    }
    // A missing body is treated as one without fields, so that the response names each required field.
    if (value === undefined) return this.checked({}, metadata);
    if (!isObject(value))
      throw new GatewayError('validation_failed', { message: 'The request body must be a JSON object.' });
    if (acceptsOf(metadata.metatype)?.(value) !== true) return this.checked(value, metadata);
    const problems = this.rules.problemsOf(metadata.metatype, value);
    if (problems.length > 0) throwIfInvalid(problems);
    return value;
  }

  private async checked(given: JsonObject, metadata: ArgumentMetadata): Promise<unknown> {
    const body = withOwnNames(metadata.metatype, withoutReadOnlyFields(metadata.metatype, given));
    const { made, details } = await this.full.transform(copyForClass(metadata.metatype, body), metadata).then(
      (whole: unknown) => ({ made: whole, details: [] }),
      (error: unknown) => ({ made: undefined, details: detailsOf(error) }),
    );
    const broken = new Set(details.map(({ param }) => fieldIn(body, param ?? '')));
    throwIfInvalid([...details, ...this.rules.problemsOf(metadata.metatype, body, broken)]);
    noteGiven(made, given);
    return made;
  }
}

/** The field that a path begins with. Its name may contain a dot. */
function fieldIn(body: object, path: string): string {
  return Object.hasOwn(body, path) ? path : (path.split('.', 1)[0] ?? path);
}

/** @throws any other error unchanged */
function detailsOf(error: unknown): readonly ErrorDetail[] {
  if (error instanceof GatewayError && error.details !== undefined) return error.details;
  throw error;
}
