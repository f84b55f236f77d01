import { Transform, type TransformFnParams } from 'class-transformer';
import { originalOf } from './inherited-names.js';

/** For objects whose fields may have any name: the value goes on as it came, and not as class-transformer's copy of it. */
export function AsGiven(): PropertyDecorator {
  return Transform(({ value, obj, key }: TransformFnParams): unknown => {
    const given: unknown = Reflect.get(originalOf(obj), key);
    // Of text in a query, another decorator has made the object.
    return typeof given === 'object' ? given : value;
  });
}
