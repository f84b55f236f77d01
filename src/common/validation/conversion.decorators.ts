import { Transform, type TransformFnParams } from 'class-transformer';

const DECIMAL = /^\s*-?\d+(?:\.\d+)?\s*$/;

/** For numbers that come as text, in queries and settings. What is no decimal number stays text, which the next rule refuses. */
export const ToNumber = (): PropertyDecorator =>
  Transform(({ value }: TransformFnParams): unknown =>
    typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value,
  );

/** Items between commas. */
export const ToList = (): PropertyDecorator =>
  Transform(({ value }: TransformFnParams): unknown =>
    typeof value === 'string'
      ? value
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== '')
      : value,
  );
