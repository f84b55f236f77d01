import { type ArgumentMetadata, Injectable, type PipeTransform, ValidationPipe } from '@nestjs/common';
import { GatewayError } from '../errors/gateway.error.js';
import { isObject } from '../json/read.js';
import { compileChecks, type Accepts } from './compiled-checks.js';
import { withoutInheritedNames } from './inherited-names.js';
import { leftOutFields } from './left-out-fields.js';
import { toValidationError } from './validation-details.js';

/**
 * Nest's ValidationPipe with the gateway's errors, and a short way for request bodies: what the compiled rules accept
 * passes as it is, everything else goes to the full validator, so that messages have one source.
 */
@Injectable()
export class GatewayValidationPipe implements PipeTransform {
  private readonly full = new ValidationPipe({
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    transform: true,
    validationError: { target: false, value: false },
    exceptionFactory: toValidationError,
  });
  private readonly compiled = new WeakMap<object, Accepts | false>();

  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    // Made by our own decorators, so there is nothing to validate.
    if (metadata.type === 'custom') return value;
    if (metadata.type !== 'body') {
      if (isObject(value)) assertNothingLeftOut(value);
      return this.full.transform(value, metadata);
    }
    // A request without a body is one without fields: what is required is then named, field by field.
    if (value === undefined) return this.full.transform({}, metadata);
    if (!isObject(value))
      throw new GatewayError('validation_failed', { message: 'The request body must be a JSON object.' });
    if (this.accepts(value, metadata.metatype)) return value;
    assertNothingLeftOut(value);
    return this.full.transform(withoutInheritedNames(value), metadata);
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

function assertNothingLeftOut(value: object): void {
  const leftOut = leftOutFields(value);
  if (leftOut.length > 0) throw toValidationError(leftOut);
}
