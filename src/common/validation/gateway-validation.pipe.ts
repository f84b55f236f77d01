import { type ArgumentMetadata, Injectable, type PipeTransform, ValidationPipe } from '@nestjs/common';
import { throwIfInvalid, type ErrorDetail, GatewayError } from '../errors/gateway.error.js';
import { isObject } from '../json/read.js';
import { BodyRules } from './body-rules.js';
import { compileChecks, type Accepts } from './compiled-checks.js';
import { markInheritedNames } from './inherited-names.js';
import { toValidationError } from './validation-details.js';

/**
 * Nest's ValidationPipe with the gateway's errors, and a short way for request bodies: what the compiled rules accept
 * passes as it is, everything else goes to the full validator, so that messages have one source. Bodies are held against the rules
 * between their fields as well, also those with a broken field: one answer names all that is wrong.
 */
@Injectable()
export class GatewayValidationPipe implements PipeTransform {
  private readonly full = new ValidationPipe({
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    transform: true,
    validationError: { target: true, value: false },
    exceptionFactory: toValidationError,
  });
  private readonly compiled = new WeakMap<object, Accepts | false>();

  constructor(private readonly rules: BodyRules = new BodyRules()) {}

  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    // Made by our own decorators, so there is nothing to validate.
    if (metadata.type === 'custom') return value;
    if (metadata.type !== 'body') return this.full.transform(markInheritedNames(value), metadata);
    // A request without a body is one without fields: what is required is then named, field by field.
    if (value === undefined) return this.checked({}, metadata);
    if (!isObject(value))
      throw new GatewayError('validation_failed', { message: 'The request body must be a JSON object.' });
    if (!this.accepts(value, metadata.metatype)) return this.checked(value, metadata);
    throwIfInvalid(this.rules.problemsOf(metadata.metatype, value));
    return value;
  }

  private async checked(body: object, metadata: ArgumentMetadata): Promise<unknown> {
    const { made, details } = await this.full.transform(markInheritedNames(body), metadata).then(
      (whole: unknown) => ({ made: whole, details: [] }),
      (error: unknown) => ({ made: undefined, details: detailsOf(error) }),
    );
    const broken = new Set(details.map(({ param }) => fieldIn(body, param ?? '')));
    throwIfInvalid([...details, ...this.rules.problemsOf(metadata.metatype, body, broken)]);
    return made;
  }

  private accepts(value: object, metatype: ArgumentMetadata['metatype']): boolean {
    if (metatype === undefined) return false;
    let accepts = this.compiled.get(metatype);
    if (accepts === undefined) {
      accepts = compileChecks(metatype) ?? false;
      this.compiled.set(metatype, accepts);
    }
    return accepts !== false && accepts(value);
  }
}

/** The field of a path; there may be a point in its name. */
function fieldIn(body: object, path: string): string {
  return Object.hasOwn(body, path) ? path : (path.split('.', 1)[0] ?? path);
}

/** @throws whatever else it is */
function detailsOf(error: unknown): readonly ErrorDetail[] {
  if (error instanceof GatewayError && error.details !== undefined) return error.details;
  throw error;
}
